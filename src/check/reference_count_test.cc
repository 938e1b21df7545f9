// Reference counts: what a count that is known says, and one that is not.
#include "check/source_check.h"

namespace plumb::check {
namespace {

// The count is a block of its own; who else has it is put in a table of which not all is seen.
constexpr const char* kShared = R"(
#include <map>
#include <string>
struct Counter { int n = 1; };
struct Object { int data = 0; };
struct Shared {
  Object* p;
  Counter* counter;
  explicit Shared(Object* o) : p(o), counter(o ? new Counter : nullptr) {}
  Shared(const Shared& o) : p(o.p), counter(o.counter) { if (counter) ++counter->n; }
  ~Shared() { release(); }
  Shared& operator=(const Shared& o) {
    if (&o != this) { Shared tmp(o); std::swap(p, tmp.p); std::swap(counter, tmp.counter); }
    return *this;
  }
  void release() {
    if (counter && --counter->n == 0) { delete p; p = nullptr; delete counter; counter = nullptr; }
  }
};
)";

TEST(ReferenceCount, AKnownOneSaysWhetherItIsTheLast) {
  expect_by_name(std::string(kShared) + R"(
struct Names {
  std::map<std::string, Shared> all;
  void add(Shared value, const std::string& name) { all.emplace(name, value); }
};
void kept_ok(Names& names) { names.add(Shared(new Object), "a"); }
void copied_ok() { Shared a(new Object); Shared b(a); Shared c(b); c = a; }
void once_too_many_bad() { Shared a(new Object); ++a.counter->n; }
)",
                 "cc");
}

TEST(ReferenceCount, OneThatNobodyKnowsMeansOthers) {
  expect_by_name(R"(
struct Object {
  int count = 1;
  void ref() { ++count; }
  void unref() { if (--count == 0) delete this; }
};
void look(Object* const* all, int* count);
static int z;
struct Holder {
  Object* p;
  explicit Holder(Object* o) : p(o) {}
  ~Holder() { if (p) p->unref(); }
};
// How many it has now depends on a number that nobody knows.
static void share(Object* o, int times) { for (int i = 0; i < times; ++i) o->count += z; }
void shared_ok(int times) { Holder h(new Object); share(h.p, times); }
void held_ok() { Holder h(new Object); h.p->ref(); h.p->unref(); }
void once_too_many_bad() { Object* o = new Object; o->ref(); o->unref(); }
)",
                 "cc");
}

TEST(ReferenceCount, OfTheLibrary) {
  expect_by_name(R"(
#include <map>
#include <memory>
#include <string>
struct Part { virtual ~Part() {} };
struct Wheel : Part {};
struct Hub {
  std::map<std::string, std::shared_ptr<Part>> all;
  void add(const std::string& name, const std::shared_ptr<Part>& p) { all.emplace(name, p); }
};
void registered_ok(Hub& hub) { hub.add("a", std::make_shared<Wheel>()); }
void shared_ok() { auto p = std::make_shared<Wheel>(); auto q = p; std::shared_ptr<Part> r(q); }
void released_bad() { auto p = std::make_unique<Wheel>(); p.release(); }
)",
                 "cc");
}

// A text or a number that the caller does not know says which of its members a destructor frees.
TEST(ReferenceCount, ADestructorSparesNothingByChance) {
  expect_by_name(R"(
#include <stdlib.h>
#include <string.h>
#include <string>
struct Tagged {
  std::string kind;
  char* a = nullptr;
  explicit Tagged(const char* k) : kind(k) {}
  ~Tagged() { if (kind == "text") free(a); }
};
void tagged_ok(const char* t) { Tagged* g = new Tagged("text"); g->a = strdup(t); delete g; }
struct Plain {
  std::string kind;
  char* a = nullptr;
  explicit Plain(const char* k) : kind(k) {}
  ~Plain() {}
};
void plain_bad(const char* t) { Plain* g = new Plain("text"); g->a = strdup(t); delete g; }
)",
                 "cc");
}

// The same where a macro does it, in the function that has the block.
TEST(ReferenceCount, ThatIsLoweredInPlace) {
  expect_by_name(R"(
#include <stdlib.h>
struct text { size_t length; unsigned count; char bytes[2]; };
static struct text *make(size_t n, unsigned count) {
  struct text *t = malloc(sizeof *t + n);
  if (!t) abort();
  t->length = n;
  t->count = count;
  return t;
}
#define DROP(t) if (--(t)->count == 0) free(t)
void shared_ok(unsigned many) { struct text *t = make(3, many); DROP(t); }
void other_way_ok(unsigned many) {
  struct text *t = make(3, many);
  t->count -= 1;
  if (t->count == 0) free(t);
}
static struct text none;
#define DROP_SOME(t) \
  do { \
    if (--(t)->count == 0 && (t) != &none) free(t); \
  } while (0)
void some_ok(unsigned many) { struct text *t = make(3, many); DROP_SOME(t); }
void some_twice_bad(void) { struct text *t = make(3, 2); DROP_SOME(t); }
void own_ok(void) { struct text *t = make(3, 1); DROP(t); }
void twice_bad(void) { struct text *t = make(3, 2); DROP(t); }
void looked_at_bad(unsigned many) { struct text *t = make(3, many); if (t->count == 0) free(t); }
void raised_bad(unsigned many) { struct text *t = make(3, many); if (++t->count == 0) free(t); }
)",
                 "c");
}

}  // namespace
}  // namespace plumb::check
