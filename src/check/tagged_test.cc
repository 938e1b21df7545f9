// Pointers with a tag in their low bits.
#include "check/source_check.h"

namespace plumb::check {
namespace {

TEST(Tagged, StillHoldsTheBlock) {
  expect_by_name(R"(
#include <stdint.h>
struct Part { int n = 0; };
struct Owner {
  uintptr_t tagged = 0;
  ~Owner() { if (tagged & 2) delete reinterpret_cast<Part*>(tagged & ~uintptr_t{3}); }
  Part* part() {
    Part* p = new Part;
    tagged = reinterpret_cast<uintptr_t>(p) | 2;
    return p;
  }
};
struct Forgetful {
  uintptr_t tagged = 0;
  Part* part() {
    Part* p = new Part;
    tagged = reinterpret_cast<uintptr_t>(p) | 2;
    return p;
  }
};
void of_another_ok(Owner& owner) { owner.part()->n = 3; }
void freed_ok() { Owner owner; owner.part()->n = 3; }
void forgotten_bad() { Forgetful owner; owner.part()->n = 3; }
)",
                 "cc");
}

}  // namespace
}  // namespace plumb::check
