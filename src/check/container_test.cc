// What containers of the C++ library hold: raw pointers.
#include "check/source_check.h"

namespace plumb::check {
namespace {

Names losers(const std::string& source) { return finders(check_source(source, "cc")); }

TEST(Containers, AVectorHoldsItsPointers) {
  EXPECT_EQ(losers(R"(
#include <stdlib.h>
#include <vector>
void ended_bad() { std::vector<char*> v; v.push_back((char*)malloc(4)); }
void cleared_bad() { std::vector<int*> v; v.push_back(new int(1)); v.clear(); }
void walked_bad(void (*print)(int)) {
  std::vector<int*> v;
  for (int i = 0; i < 4; i++) v.push_back(new int(i));
  for (int* each : v) print(*each);
}
void freed_ok() {
  std::vector<char*> v;
  v.push_back((char*)malloc(4));
  for (char* each : v) free(each);
}
void by_index_ok(unsigned n) {
  std::vector<int*> v;
  for (unsigned i = 0; i < n; i++) v.push_back(new int(1));
  for (unsigned i = 0; i < v.size(); i++) delete v[i];
}
void popped_ok(int n) {
  std::vector<int*> v;
  while (n--) v.push_back(new int(n));
  while (!v.empty()) { delete v.back(); v.pop_back(); }
}
void backwards_ok() {
  std::vector<int*> v{new int(1), new int(2)};
  for (auto it = v.rbegin(); it != v.rend(); ++it) delete *it;
}
std::vector<int*> returned_ok() { std::vector<int*> v; v.push_back(new int(1)); return v; }
void dropped_bad() { std::vector<int*> v = returned_ok(); }
void kept_ok(std::vector<int*>& out) { out.push_back(new int(1)); }
)"),
            (Names{"ended_bad", "cleared_bad", "walked_bad", "dropped_bad"}));
}

TEST(Containers, SharedWithWhatIsCalled) {
  EXPECT_EQ(losers(R"(
#include <vector>
void use(const std::vector<int*>& all);
static void drop(std::vector<int*>& all) { for (int* each : all) delete each; all.clear(); }
static void third(std::vector<int*> all) { delete all[2]; }
static void look(std::vector<int*> all) { if (*all[2] == 7) all[2]++; }
static void fill(std::vector<int*>& all) { all.insert(all.end(), 3, new int(1)); }
void drop_ok() { std::vector<int*> v; fill(v); drop(v); }
void third_ok() { std::vector<int*> v; fill(v); third(v); }
void look_bad() { std::vector<int*> v; fill(v); look(v); }
void unknown_ok() { std::vector<int*> v; fill(v); use(v); }
)"),
            (Names{"look_bad"}));
}

TEST(Containers, ListsAndMaps) {
  EXPECT_EQ(losers(R"(
#include <deque>
#include <list>
#include <map>
#include <string>
#include <unordered_map>
static char* taken(std::list<char*> all) { return all.back(); }
void list_bad() { std::list<char*> l; l.push_back(new char[4]); taken(l); }
void list_ok() { std::list<char*> l; l.push_back(new char[4]); delete[] taken(l); }
void list_walk_ok() {
  std::list<char*> l;
  l.push_front(new char[4]);
  for (std::list<char*>::iterator it = l.begin(); it != l.end(); ++it) delete[] *it;
}
void map_bad(int n) { std::map<int, char*> m; m[n] = new char[4]; m[n + 1] = m[n]; }
void map_ok(int n) {
  std::map<int, char*> m;
  m[n] = new char[4];
  for (auto& each : m) delete[] each.second;
}
void insert_bad() { std::map<std::string, int*> m; m.insert({"a", new int(1)}); }
void insert_ok() {
  std::map<std::string, int*> m;
  m.insert({"a", new int(1)});
  for (auto it = m.begin(); it != m.end(); it++) delete it->second;
}
void unordered_ok() {
  std::unordered_map<int, int*> m;
  m.emplace(1, new int(1));
  for (auto [key, value] : m) delete value;
}
void deque_bad() { std::deque<int*> d; d.push_back(new int(1)); }
void deque_ok() {
  std::deque<int*> d;
  d.push_back(new int(1));
  while (!d.empty()) { int* p = d.front(); d.pop_front(); delete p; }
}
)"),
            (Names{"list_bad", "map_bad", "insert_bad", "deque_bad"}));
}

TEST(Containers, WhatWasPutInIsFound) {
  expect_by_name(R"(
#include <map>
void found_ok() {
  std::map<int, int*> m;
  m[1] = new int(2);
  auto it = m.find(1);
  if (it != m.end()) { delete it->second; m.erase(it); }
}
void only_taken_out_bad() {
  std::map<int, int*> m;
  m[1] = new int(2);
  auto it = m.find(1);
  if (it != m.end()) m.erase(it);
}
void not_put_in_bad(std::map<int, int*>& m) {
  int* p = new int(2);
  auto it = m.find(1);
  if (it == m.end()) return;
  it->second = p;
}
)",
                 "cc");
}

TEST(Containers, HaveAsManyAsBefore) {
  expect_by_name(R"(
#include <vector>
bool as_many_ok(const std::vector<int*>& links) {
  if (links.empty()) return false;
  std::vector<int*> made;
  for (int i = links.size() - 1; i >= 0; --i) made.push_back(new int(*links[i]));
  bool out = *made.back() == 3;
  for (unsigned i = 0; i < links.size(); ++i) delete made[i];
  return out;
}
void emptied_bad(std::vector<int*>& links) {
  std::vector<int*> made;
  if (!links.empty()) made.push_back(new int(3));
  links.clear();
  for (unsigned i = 0; i < links.size(); ++i) delete made[i];
}
)",
                 "cc");
}

// What the container itself allocates is its own, also in members that are templates.
TEST(Containers, MembersThatAreTemplates) {
  expect_by_name(R"(
#include <vector>
void ranges_ok(std::vector<int*>& all) {
  std::vector<int*> some;
  some.insert(some.end(), all.begin(), all.end());
  std::vector<int*> copy(all.begin(), all.end());
  all.shrink_to_fit();
}
void range_bad() {
  int* const one[] = {new int(1)};
  std::vector<int*> some(one, one + 1);
}
)",
                 "cc");
}

// Not a finding of its own: it goes with the block that holds it.
TEST(Containers, OnTheHeap) {
  expect_by_name(R"(
#include <map>
#include <vector>
volatile int z;
static std::vector<double*>* make(int n) {
  std::vector<double*>* all = new std::vector<double*>;
  for (int i = 0; i < n; ++i) all->push_back(new double(3));
  return all;
}
static void drop_only(std::vector<double*>* all) { for (double* one : *all) z = *one; delete all; }
static void drop_all(std::vector<double*>* all) { for (double* one : *all) delete one; delete all; }
void vector_bad() { std::vector<double*>* v = make(4); drop_only(v); }
void vector_ok() { std::vector<double*>* v = make(4); drop_all(v); }
static std::map<long, double*>* make_map(int n) {
  std::map<long, double*>* all = new std::map<long, double*>;
  for (int i = 0; i < n; ++i) all->emplace(i, nullptr);
  for (auto& entry : *all) entry.second = new double(2);
  return all;
}
static void drop_map_only(std::map<long, double*>* all) { if (z) z = 2; delete all; }
static void drop_map(std::map<long, double*>* all) { for (auto& e : *all) delete e.second; delete all; }
void map_bad() { std::map<long, double*>* m = make_map(3); drop_map_only(m); }
void map_ok() { std::map<long, double*>* m = make_map(3); drop_map(m); }
struct Pool { std::vector<char*> all; };
static void close(Pool* pool) { if (z) z = 1; delete pool; }
static void close_all(Pool* pool) { for (char* each : pool->all) delete[] each; delete pool; }
void member_bad() { Pool* pool = new Pool; pool->all.push_back(new char[2]); close(pool); }
void member_ok() { Pool* pool = new Pool; pool->all.push_back(new char[2]); close_all(pool); }
)",
                 "cc");
}

TEST(Indirect, IsSaidWithTheBlockThatHoldsIt) {
  const Report report = check_source(R"(
#include <stdlib.h>
struct pair { char *x; char *y; };
static struct pair *both(char *x, char *y) {
  struct pair *p = malloc(sizeof *p);
  p->x = x;
  p->y = y;
  return p;
}
void lose(void) {
  char *x = malloc(4);
  char *y = malloc(4);
  struct pair *p = both(x, y);
  free(y);
  p->y = NULL;
}
)");
  ASSERT_EQ(report.leaks.size(), 1u);
  EXPECT_EQ(report.leaks[0].allocation.stack.front().line, 5u);
  EXPECT_EQ(report.leaks[0].indirect.blocks, 0u);  // static findings count no blocks
  ASSERT_GE(report.leaks[0].path.size(), 2u);
  const Step& held = report.leaks[0].path[report.leaks[0].path.size() - 2];
  EXPECT_EQ(held.event, "holds");
  EXPECT_EQ(held.location.line, 11u);
}

TEST(Containers, MembersOfClasses) {
  EXPECT_EQ(losers(R"(
#include <memory>
#include <string>
#include <vector>
struct Owner {
  std::vector<int*> all;
  void add(int* p) { all.push_back(p); }
  ~Owner() { for (int* each : all) delete each; }
};
struct Careless {
  std::vector<int*> all;
  void add(int* p) { all.push_back(p); }
};
void owner_ok() { Owner o; o.add(new int(1)); }
void careless_bad() { Careless c; c.add(new int(1)); }
void owned_ok() { auto o = std::make_unique<Owner>(); o->add(new int(1)); }
void values_ok() { std::vector<std::string> v; v.push_back("long enough not to be inside"); }
void smart_ok() { std::vector<std::unique_ptr<int>> v; v.push_back(std::make_unique<int>(1)); }
)"),
            (Names{"careless_bad"}));
}

// What a container does to its texts and pairs leaves the object alone that it is a part of.
TEST(Containers, DoNotKeepWhatTheyArePartOf) {
  expect_by_name(R"(
#include <map>
#include <memory>
#include <string>
#include <vector>
struct Words {
  std::vector<std::string> all;
  void add() { all.push_back("word"); }
  void add(const std::string& word) { all.push_back(word); }
};
struct Table {
  std::map<std::string, std::string> all;
  Table() { all.clear(); }
};
struct Owner {
  std::vector<std::unique_ptr<Words>> all;
  void add() { all.push_back(std::make_unique<Words>()); }
};
struct Listed {
  std::vector<Listed*>* in;
  std::vector<std::string> names;
  explicit Listed(std::vector<Listed*>* list) : in(list) { list->push_back(this); names.push_back("a"); }
};
int words_bad(int n) {
  Words* words = new Words;
  words->add();
  if (n > 3) return -1;
  delete words;
  return 0;
}
int words_ok(int n) {
  Words* words = new Words;
  words->add();
  delete words;
  return n;
}
int table_bad(int n) {
  Table* table = new Table;
  if (n > 3) return -1;
  delete table;
  return 0;
}
int owner_ok(int n) {
  Owner owner;
  owner.add();
  owner.add();
  return n;
}
void listed_ok(std::vector<Listed*>* list) { new Listed(list); }
)",
                 "cc");
}

// A table of buckets, the first of which is in the object itself, and nodes that lead back.
TEST(Containers, WhatTheyHaveLeadsBackToThem) {
  expect_by_name(R"(
#include <string>
#include <unordered_map>
struct Node { int n = 0; };
struct Counts {
  std::unordered_map<std::string, int> all;
  int& at(const char* word) { return all[word]; }
};
static int count(Counts& counts) { return ++counts.all["a"]; }
void here_bad() { Counts* c = new Counts; c->all["a"] = 1; }
void here_ok() { Counts* c = new Counts; c->all["a"] = 1; delete c; }
void member_bad() { Counts* c = new Counts; c->at("b") = 2; }
void member_ok() { Counts* c = new Counts; c->at("b") = 2; delete c; }
void given_bad() { Counts* c = new Counts; count(*c); }
void given_ok() { Counts* c = new Counts; count(*c); delete c; }
struct Names {
  std::unordered_map<int, Node*> all;
  void add(int n, Node* node) { all[n] = node; }
};
Names names;
void global_ok() { names.add(1, new Node); }
struct Entry { std::string name; Node* node; };
struct Entries { std::unordered_map<int, Entry> all; };
void entry_ok(Entries& e) { e.all[1].node = new Node; }
std::unordered_map<int, Counts*> known;
void known_ok() { Counts* c = new Counts; c->at("c") = 3; known[2] = c; }
)",
                 "cc");
}

}  // namespace
}  // namespace plumb::check
