// Constructors of which nothing is known: what they do with the object that they make.
#include "check/source_check.h"

namespace plumb::check {
namespace {

TEST(Constructor, UnknownOnesDoNotKeepTheObject) {
  const Report report = check_source(R"(
#include <cstdlib>
#include <cstring>
struct Parent;
struct Unknown { Unknown(); Unknown(const char* text, int n); ~Unknown(); long x; };
struct Child { explicit Child(Parent* parent); long x; };
struct Record {
  char* name;
  Unknown unknown;
  Record() : name(strdup("a")) {}
  ~Record() { free(name); }
};
long made_bad(int n) {
  Record* record = new Record;
  if (n > 3) return record->unknown.x;
  delete record;
  return 0;
}
long made_ok(int n) {
  Record* record = new Record;
  const long out = n > 3 ? record->unknown.x : 0;
  delete record;
  return out;
}
long with_arguments_bad(const char* text) {
  Unknown* unknown = new Unknown(text, 3);
  return unknown->x;
}
long with_arguments_ok(const char* text) {
  Unknown* unknown = new Unknown(text, 3);
  const long out = unknown->x;
  delete unknown;
  return out;
}
// What comes before the member that it makes is as it was.
long before_it_ok() {
  Record record;
  return record.unknown.x;
}
// The parent has it now.
long child_ok(Parent* parent) {
  Child* child = new Child(parent);
  return child->x;
}
)",
                                     "cc");
  EXPECT_EQ(finders(report), (Names{"made_bad", "with_arguments_bad"}));
}

}  // namespace
}  // namespace plumb::check
