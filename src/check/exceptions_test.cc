// Exceptions by class: what a handler takes, what passes it, and what `throw;` throws.
#include "check/source_check.h"

namespace plumb::check {
namespace {

constexpr std::string_view kClasses = R"(
#include <new>
#include <stdexcept>
struct Failed { virtual ~Failed() {} };
struct Refused : Failed {};
struct Other {};
struct Both : Other, Failed {};
struct Hidden : Other, private Failed {};
void fails(int n) { if (n > 7) throw Failed(); }
void refuses(int n) { if (n > 7) throw Refused(); }
void both(int n) { if (n > 7) throw Both(); }
void hidden(int n) { if (n > 7) throw Hidden(); }
void either(int n) { if (n > 7) throw Failed(); if (n < 2) throw Other(); }
void library(int n) { if (n > 7) throw std::out_of_range("n"); }
void number(int n) { if (n > 7) throw n; }
)";

TEST(Exceptions, AHandlerOfTheClassOrABaseTakesIt) {
  expect_by_name(std::string(kClasses) + R"(
void same_ok(int n) {
  int* p = new int(n);
  try { fails(n); } catch (const Failed&) {}
  delete p;
}
void base_ok(int n) {
  int* p = new int(n);
  try { refuses(n); } catch (Failed&) {}
  delete p;
}
void second_base_ok(int n) {
  int* p = new int(n);
  try { both(n); } catch (Failed&) {}
  delete p;
}
void any_ok(int n) {
  int* p = new int(n);
  try { either(n); } catch (...) {}
  delete p;
}
void two_ok(int n) {
  int* p = new int(n);
  try { either(n); } catch (Failed&) {} catch (Other&) {}
  delete p;
}
void library_ok(int n) {
  int* p = new int(n);
  try { library(n); } catch (std::logic_error&) {}
  delete p;
}
void number_ok(int n) {
  int* p = new int(n);
  try { number(n); } catch (int) {}
  delete p;
}
)",
                 "cc");
}

TEST(Exceptions, AHandlerOfAnotherClassDoesNot) {
  expect_by_name(std::string(kClasses) + R"(
void derived_bad(int n) {
  int* p = new int(n);
  try { fails(n); } catch (const Refused&) {}
  delete p;
}
void private_bad(int n) {
  int* p = new int(n);
  try { hidden(n); } catch (Failed&) {}
  delete p;
}
void one_bad(int n) {
  int* p = new int(n);
  try { either(n); } catch (Failed&) {}
  delete p;
}
void library_bad(int n) {
  int* p = new int(n);
  try { library(n); } catch (std::runtime_error&) {}
  delete p;
}
void number_bad(int n) {
  int* p = new int(n);
  try { number(n); } catch (long) {}
  delete p;
}
)",
                 "cc");
}

// What xerces-c does in front of each cleanup.
TEST(Exceptions, WhatAHandlerLeavesOutIsNotLostIfItNeverArrives) {
  expect_by_name(std::string(kClasses) + R"(
struct NoMemory {};
void cleanup_ok(int n) {
  int* p = new int(n);
  try {
    fails(n);
  } catch (const NoMemory&) {
    throw;
  } catch (...) {
    delete p;
    throw;
  }
  delete p;
}
void cleanup_bad(int n) {
  int* p = new int(n);
  try {
    fails(n);
  } catch (const Failed&) {
    throw;
  } catch (...) {
    delete p;
    throw;
  }
  delete p;
}
)",
                 "cc");
}

TEST(Exceptions, AgainThrowsWhatWasCaught) {
  expect_by_name(std::string(kClasses) + R"(
void again(int n) {
  try {
    fails(n);
  } catch (...) {
    try { number(n); } catch (int) {}
    throw;
  }
}
void again_ok(int n) {
  int* p = new int(n);
  try { again(n); } catch (Failed&) {}
  delete p;
}
void again_bad(int n) {
  int* p = new int(n);
  try { again(n); } catch (Other&) {}
  delete p;
}
void other(int n) {
  try { fails(n); } catch (...) { throw Other(); }
}
void instead_ok(int n) {
  int* p = new int(n);
  try { other(n); } catch (Other&) {}
  delete p;
}
void instead_bad(int n) {
  int* p = new int(n);
  try { other(n); } catch (Failed&) {}
  delete p;
}
)",
                 "cc");
}

TEST(Exceptions, WhatTheCalleeThrowsAfterItTookTheBlock) {
  expect_by_name(std::string(kClasses) + R"(
struct Box { int* at; };
void fill(Box* box, int n) {
  box->at = new int(n);
  fails(n);
}
void fill_ok(int n) {
  Box box{nullptr};
  try { fill(&box, n); } catch (Failed&) {}
  delete box.at;
}
void fill_bad(int n) {
  Box box{nullptr};
  try { fill(&box, n); } catch (Other&) {}
  delete box.at;
}
)",
                 "cc");
}

// What a caller guarantees without saying so: that an index is in the object.
TEST(Exceptions, AnIndexIsInTheObject) {
  expect_by_name(std::string(kClasses) + R"(
struct Row {
  int* at;
  unsigned count;
  int get(unsigned i) const { if (i >= count) throw Failed(); return at[i]; }
};
void asked_ok(Row& row, unsigned i) { int* p = new int(row.get(0)); *p = row.get(i); delete p; }
void all_ok(const Row& row) {
  int* sum = new int(0);
  for (unsigned i = 0; i < row.count; ++i) *sum += row.get(i);
  delete sum;
}
void beyond_bad(Row& row) {
  int* p = new int(1);
  row.count = 2;
  *p = row.get(5);
  delete p;
}
struct Reader {
  const char* at;
  const char* end;
  char next() { if (at >= end) throw Failed(); return *at++; }
};
void read_bad(Reader& from) { int* p = new int(from.next()); *p += from.next(); delete p; }
void limit_bad(int n) { int* p = new int(1); fails(n); delete p; }
)",
                 "cc");
}

TEST(Exceptions, ATableTakesWhatItIsGiven) {
  expect_by_name(std::string(kClasses) + R"(
struct Node { int key; Node* next; };
struct Table {
  Node* first = nullptr;
  void put(Node* node, int key) {
    for (Node* each = first; each; each = each->next) if (each->key == key) throw Failed();
    node->next = first;
    first = node;
  }
  void put_if(Node* node, int allowed) {
    if (!allowed) throw Failed();
    node->next = first;
    first = node;
  }
};
void put_ok(Table& table, int n) { table.put(new Node{n, nullptr}, n); }
void put_if_bad(Table& table, int n) { table.put_if(new Node{n, nullptr}, n); }
)",
                 "cc");
}

}  // namespace
}  // namespace plumb::check
