// Callees that throw, with their bodies in place: what can be thrown for what is passed.
#include "check/source_check.h"

namespace plumb::check {
namespace {

// The check is of a buffer's own size, which no summary tells of.
constexpr std::string_view kBuffer = R"(
#include <stdlib.h>
struct Failed {};
struct Small {};
class Buffer {
 public:
  explicit Buffer(unsigned long n) : size_(0), text_(0) { grow(n < 32 ? 32 : n, n); }
  Buffer(unsigned long n, unsigned long least) : size_(0), text_(0) { grow(n, least); }
  ~Buffer() { free(text_); }
 private:
  void grow(unsigned long n, unsigned long least) {
    size_ = n;
    if (size_ < least) throw Failed();
    text_ = (char*)malloc(size_);
  }
  unsigned long size_;
  char* text_;
};
)";

TEST(InlinedThrow, IsNoneForWhatIsPassed) {
  expect_by_name(std::string(kBuffer) + R"(
void buffer_ok(unsigned long n) {
  char* p = (char*)malloc(8);
  Buffer b(n);
  free(p);
}
void buffer_bad(unsigned long n, unsigned long m) {
  char* p = (char*)malloc(8);
  Buffer b(n, m);
  free(p);
}
)",
                 "cc");
}

// The choice is as far from the loss as a callee may be, and one call more.
TEST(InlinedThrow, IsNoneForTheLargerOfTwo) {
  expect_by_name(R"(
#include <stdlib.h>
struct Failed {};
static unsigned long larger_of(unsigned long a, unsigned long b) { return a > b ? a : b; }
struct Room { unsigned long all; unsigned long used; };
struct Buffer {
  explicit Buffer(unsigned long n) { resize(n, 32); }
  Buffer(unsigned long n, unsigned long least) { resize(n, least); }
  void resize(unsigned long n, unsigned long least) { really_resize(n, least); }
  void really_resize(unsigned long n, unsigned long least) {
    room.all = larger_of(n, 32);
    room.used = least == 32 ? n : least;
    if (room.used > room.all) throw Failed();
  }
  Room room;
};
void larger_ok(unsigned long n) {
  char* p = (char*)malloc(8);
  Buffer b(n);
  free(p);
}
void larger_bad(unsigned long n, unsigned long least) {
  char* p = (char*)malloc(8);
  Buffer b(n, least);
  free(p);
}
)",
                 "cc");
}

// The call that throws is looked into deeper than others.
TEST(InlinedThrow, IsNoneFarBelow) {
  expect_by_name(R"(
struct Failed {};
static unsigned long larger_of(unsigned long a, unsigned long b) { return a > b ? a : b; }
struct Room {
  unsigned long all;
  unsigned long used;
  void check(unsigned long n, unsigned long least) {
    all = larger_of(n, 32);
    used = least == 32 ? n : least;
    if (used > all) throw Failed();
  }
  void third(unsigned long n, unsigned long least) { check(n, least); }
  void second(unsigned long n, unsigned long least) { third(n, least); }
  void first(unsigned long n, unsigned long least) { second(n, least); }
};
void far_ok(unsigned long n) {
  int* p = new int(2);
  Room room;
  room.first(n, 32);
  delete p;
}
void far_bad(unsigned long n, unsigned long least) {
  int* p = new int(2);
  Room room;
  room.first(n, least);
  delete p;
}
)",
                 "cc");
}

constexpr std::string_view kNodes = R"(
#include <stdlib.h>
struct Failed {};
struct Small {};
enum Kind { leaf, one, two };
struct Node { virtual ~Node() {} int kind; };
static int kinds[4];
static void need(int kind, int least) {
  int n = kind * 2;
  for (int i = 0; i < least; ++i) ++n;
  kinds[0] = n;
  if (n < 4) throw Failed();
}
static void need_deep(int kind) { need(kind, 0); kinds[1] = kind; }
static void need_cleanly(int kind) {
  Node node;
  node.kind = kind;
  need(node.kind, 0);
}
static void need_other(int kind) {
  try { need(kind, 0); } catch (const Failed&) { throw Small(); }
}
static int quietly(int kind) {
  try { need(kind, 0); } catch (...) { return 0; }
  return 1;
}
)";

TEST(InlinedThrow, GoesThroughFramesAndTheirCleanups) {
  expect_by_name(std::string(kNodes) + R"(
void deep_ok() { int* p = new int(2); need_deep(*p); delete p; }
void deep_bad() { int* p = new int(1); need_deep(*p); delete p; }
void cleanly_ok() { int* p = new int(2); need_cleanly(*p); delete p; }
void cleanly_bad() { int* p = new int(1); need_cleanly(*p); delete p; }
)",
                 "cc");
}

TEST(InlinedThrow, GoesToTheHandlerOfItsClass) {
  expect_by_name(std::string(kNodes) + R"(
void handled_ok(int kind) {
  int* p = new int(kind);
  try { need_deep(kind); } catch (const Failed&) {}
  delete p;
}
void handled_bad(int kind) {
  int* p = new int(kind);
  try { need_deep(kind); } catch (const Small&) {}
  delete p;
}
void other_ok(int kind) {
  int* p = new int(kind);
  try { need_other(kind); } catch (const Small&) {}
  delete p;
}
void other_bad(int kind) {
  int* p = new int(kind);
  try { need_other(kind); } catch (const Failed&) {}
  delete p;
}
void quiet_ok(int kind) { int* p = new int(kind); quietly(kind); delete p; }
void quiet_bad(int kind) { int* p = new int(kind); if (quietly(kind)) delete p; }
)",
                 "cc");
}

// What the landing pad chooses by: the number of the place from which it was come to.
TEST(InlinedThrow, ArrivesFromTheCallThatThrew) {
  expect_by_name(std::string(kNodes) + R"(
void again_ok(int kind) {
  int* p = 0;
  try {
    need_deep(2);
    p = new int(kind);
    need_deep(3);
  } catch (...) {
    delete p;
    return;
  }
  delete p;
}
void again_bad(int kind) {
  int* p = 0;
  try {
    need_deep(2);
    p = new int(kind);
    need_deep(kind);
  } catch (...) {
    return;
  }
  delete p;
}
)",
                 "cc");
}

}  // namespace
}  // namespace plumb::check
