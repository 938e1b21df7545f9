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

// What a callee may put in its place on one of its paths is not in its place on all.
TEST(Tagged, PerhapsReplacedIsNotLost) {
  expect_by_name(R"(
#include <stdint.h>
struct Part { int n = 0; };
struct Owner {
  uintptr_t tagged = 0;
  Part* part() {
    if (tagged & 1) return reinterpret_cast<Part*>(tagged - 1);
    Part* p = new Part;
    tagged = reinterpret_cast<uintptr_t>(p) | 1;
    return p;
  }
};
int next(const char** at);
static void parse_field(Owner* owner, int tag, const char** at) {
  int n = next(at);
  while (n-- > tag) owner->part()->n = next(at);
}
static void drop(Owner* owner) { owner->tagged = 0; }
void parse_ok(Owner& owner, const char** at) {
  while (int tag = next(at)) {
    if (tag > 8000) {
      parse_field(&owner, tag, at);
      continue;
    }
    owner.part()->n = tag;
  }
}
void parse_bad(Owner& owner, const char** at) {
  owner.tagged = 0;
  owner.part()->n = next(at);
  drop(&owner);
}
)",
                 "cc");
}

}  // namespace
}  // namespace plumb::check
