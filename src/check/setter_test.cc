// Members of a class that set a pointer: what becomes of the old one.
#include "check/source_check.h"

namespace plumb::check {
namespace {

// On each path of the setter something new stands where the old text was.
TEST(Setter, ThatForgetsTheOld) {
  expect_by_name(R"(
#include <stdlib.h>
#include <string.h>
struct Name {
  char* text = nullptr;
  Name() {}
  ~Name() { free(text); }
  void set(const char* t) { text = t ? strdup(t) : nullptr; }
  void replace(const char* t) { free(text); text = t ? strdup(t) : nullptr; }
  void maybe(const char* t) { if (t) { free(text); text = strdup(t); } }
  Name& operator=(const Name& o) { text = o.text ? strdup(o.text) : nullptr; return *this; }
};
void set_twice_bad(const char* a, const char* b) { Name n; n.replace(a); n.set(b); }
void replaced_ok(const char* a, const char* b) { Name n; n.replace(a); n.replace(b); }
void maybe_ok(const char* a, const char* b) { Name n; n.replace(a); n.maybe(b); }
void assigned_bad(const Name& o) { Name n; n.replace("x"); n = o; }
struct Outer {
  Name name;
  void set(const char* t) { name.set(t); }
  void replace(const char* t) { name.replace(t); }
};
void through_bad(const char* t) { Outer o; o.replace("a"); o.set(t); }
void through_ok(const char* t) { Outer o; o.replace("a"); o.replace(t); }
)",
                 "cc");
}

}  // namespace
}  // namespace plumb::check
