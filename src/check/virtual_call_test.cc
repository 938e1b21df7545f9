// Objects that are deleted through a base class.
#include "check/source_check.h"

namespace plumb::check {
namespace {

constexpr const char* kShapes = R"(
volatile int z;
struct Base { virtual ~Base() {} virtual int f() = 0; };
struct Good : Base { char* p; Good() { p = new char[3]; } ~Good() override { delete[] p; } int f() override { return 1; } };
struct Poor : Base { char* p; Poor() { p = new char[3]; } ~Poor() override {} int f() override { return 2; } };
static Base* make_good() { Base* b = new Good; if (z) z = b->f(); return b; }
static Base* make_poor() { Base* b = new Poor; if (z) z = b->f(); return b; }
static void drop(Base* b) { if (z) z = 3; delete b; }
)";

TEST(VirtualCall, TheTableOfTheObjectSaysWhatIsFreed) {
  expect_by_name(std::string(kShapes) + R"(
void good_ok() { Base* b = make_good(); drop(b); }
void poor_bad() { Base* b = make_poor(); drop(b); }
void left_bad() { Base* b = make_good(); if (z) return; drop(b); }
void either_ok(Base* b) { if (!b) b = make_good(); drop(b); }
void any_ok(int n) { Base* b = n ? make_good() : nullptr; if (z) z = 3; drop(b); }
struct Holder { Base* b; Holder() { b = make_good(); } ~Holder() { delete b; } };
void holder_ok() { Holder h; }
struct PoorHolder { Base* b; PoorHolder() { b = make_poor(); } ~PoorHolder() { delete b; } };
void holder_bad() { PoorHolder h; }
)",
                 "cc");
}

TEST(VirtualCall, OneImplementationIsTheOneThatIsCalled) {
  expect_by_name(R"(
volatile int z;
struct Solo { char* p; Solo() { p = new char[2]; } virtual ~Solo() {} };
struct SoloGood { char* p; SoloGood() { p = new char[2]; } virtual ~SoloGood() { delete[] p; } };
static void drop(Solo* s) { if (z) z = 3; delete s; }
static void drop(SoloGood* s) { if (z) z = 3; delete s; }
void destructor_bad() { Solo* s = new Solo; drop(s); }
void destructor_ok() { SoloGood* s = new SoloGood; drop(s); }
struct File { virtual ~File() {} virtual int read() = 0; };
struct Env { virtual ~Env() {} virtual File* open(int n) = 0; virtual void keep(char* p) {} };
struct DiskFile : File { int n; explicit DiskFile(int n) : n(n) {} int read() override { return n; } };
struct DiskEnv : Env { File* open(int n) override { return new DiskFile(n); } };
int opened_bad(Env* env) { File* f = env->open(3); return f->read(); }
int opened_ok(Env* env) { File* f = env->open(3); int n = f->read(); delete f; return n; }
void default_ok(Env* env) { env->keep(new char[3]); }
Env* make_env() { return new DiskEnv; }
)",
                 "cc");
}

// Of two bases, the second.
TEST(VirtualCall, ThroughAThunk) {
  expect_by_name(R"(
volatile int z;
struct Named { virtual ~Named() {} virtual void name() {} long n = 0; };
struct Task { virtual ~Task() {} virtual void run() = 0; };
struct Job : Named, Task { char* p = new char[4]; ~Job() override { delete[] p; } void run() override {} };
struct PoorJob : Named, Task { char* p = new char[4]; ~PoorJob() override {} void run() override {} };
static Task* job() { return new Job; }
static Task* poor_job() { return new PoorJob; }
static void drop(Task* t) { if (z) z = 3; delete t; }
void job_ok() { Task* t = job(); drop(t); }
void job_bad() { Task* t = job(); if (z) return; drop(t); }
void poor_job_bad() { Task* t = poor_job(); drop(t); }
)",
                 "cc");
}

// Whichever of the functions it is.
TEST(VirtualCall, WhatAllLeaveWithTheCallerStays) {
  expect_by_name(R"(
volatile int z;
struct Node { int n = 0; Node* next = nullptr; };
struct Sink {
  virtual ~Sink() {}
  virtual void put(Node* n) = 0;
  virtual int look(const Node* n, Node* other) = 0;
  virtual void change(Node* n) = 0;
  virtual Node* same(Node* n) = 0;
};
struct Keeper : Sink {
  Node* kept = nullptr;
  void put(Node* n) override { kept = n; }
  int look(const Node* n, Node* other) override { return n->n + other->n; }
  void change(Node* n) override { n->n = 3; }
  Node* same(Node* n) override { return n; }
};
struct Printer : Sink {
  void put(Node* n) override { z = n->n; }
  int look(const Node* n, Node* other) override { return n->n - other->n; }
  void change(Node* n) override { n->n = 4; n->next = n; }
  Node* same(Node* n) override { return n->next; }
};
Sink* sink() { return z ? (Sink*)new Keeper : new Printer; }
int look_bad(Sink* s) { Node* n = new Node; return s->look(n, n); }
int look_ok(Sink* s) { Node* n = new Node; int out = s->look(n, n); delete n; return out; }
void change_bad(Sink* s) { Node* n = new Node; s->change(n); }
void change_ok(Sink* s) { Node* n = new Node; s->change(n); delete n; }
void put_ok(Sink* s) { Node* n = new Node; s->put(n); }
Node* same_ok(Sink* s) { Node* n = new Node; return s->same(n); }
)",
                 "cc");
}

// What hangs on the object is the functions' own affair.
TEST(VirtualCall, AnObjectThatAllOnlyChange) {
  expect_by_name(R"(
volatile int z;
struct Node { int n = 0; };
struct Own {
  Node* n = nullptr;
  virtual void clear() = 0;
  virtual int area() = 0;
  virtual void done() = 0;
  virtual ~Own() {}
};
struct Plain : Own {
  void clear() override { delete n; n = nullptr; }
  int area() override { return 1; }
  void done() override { delete this; }
};
struct Counted : Own {
  int m = 0;
  void clear() override { delete n; n = nullptr; m = 1; }
  int area() override { return ++m; }
  void done() override { m = 2; delete this; }
};
static Own* own() { Own* o = z ? (Own*)new Plain : new Counted; return o; }
int area_bad() { Own* o = own(); return o->area(); }
int area_ok() { Own* o = own(); int n = o->area(); delete o; return n; }
void done_ok() { Own* o = own(); o->done(); }
void clear_bad() { Own* o = own(); o->clear(); }
void clear_ok() { Own* o = own(); o->n = new Node; o->clear(); delete o; }
static void clear_it(Own* o) { o->clear(); }
void cleared_ok() { Own* o = own(); o->n = new Node; clear_it(o); delete o; }
struct Default { virtual ~Default() {} virtual void take(Node* n) {} };
struct Other : Default { void take(Node* n) override {} };
void default_ok(Default* d) { d->take(new Node); }
Default* other() { return z ? new Other : new Default; }
)",
                 "cc");
}

}  // namespace
}  // namespace plumb::check
