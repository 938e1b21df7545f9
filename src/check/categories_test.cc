// What `--show-summary` says in the paper's terms: each category where it is one, and none
// where a function only looks alike.
#include <gtest/gtest.h>

#include "base/file.h"
#include "check/check.h"
#include "check/source_check.h"

namespace plumb::check {
namespace {

std::vector<std::string> categories(const std::string& function, const std::string& source) {
  const std::string path = testing::TempDir() + "/plumb_categories.c";
  EXPECT_TRUE(write_file(path, R"(#include <stdlib.h>
struct node { char *name; struct node *next; int count; };
struct node *head;
)" + source));
  CheckOptions options;
  options.jobs.push_back({"", path, {path}});
  options.models = shipped_models("c.models");
  options.show_summary = function;
  const Result<CheckOutcome> outcome = check_program(options);
  std::vector<std::string> out;
  if (!outcome || outcome->summaries.size() != 1) return out;
  for (const Category& each : outcome->summaries[0].categories) {
    out.push_back(std::string(name_of(each.kind)) + " " + each.from + " > " + each.to);
  }
  return out;
}

using Rows = std::vector<std::string>;

TEST(Categories, WhatIsAllocated) {
  EXPECT_EQ(categories("make", R"(
struct node *make(void) {
  struct node *n = malloc(sizeof *n);
  if (!n) return 0;
  n->next = 0;
  n->name = malloc(9);
  return n;
})"),
            (Rows{"Alloc2Ret line 6 > ret", "Alloc2Ret line 9 > ret->name"}));
  EXPECT_EQ(categories("fill", R"(
int fill(struct node **out) {
  struct node *n = malloc(sizeof *n);
  if (!n) return -1;
  n->name = malloc(9);
  *out = n;
  return 0;
})"),
            (Rows{"Alloc2Arg line 6 > *out", "Alloc2Arg line 8 > (*out)->name"}));
  EXPECT_EQ(categories("table", R"(
char **table(void) {
  char **all = malloc(sizeof *all);
  if (all) all[0] = malloc(9);
  return all;
})"),
            (Rows{"Alloc2Ret line 6 > ret", "Alloc2Ret line 7 > *ret"}));
  // What it frees itself, nobody gets.
  EXPECT_EQ(
      categories("try_it", "int try_it(void) { char *p = malloc(4); free(p); return p != 0; }"),
      Rows{});
}

TEST(Categories, WhatIsFreed) {
  EXPECT_EQ(categories("drop", "void drop(struct node *n) { free(n->name); free(n); }"),
            (Rows{"Arg2Free n > ", "Arg2Free n->name > "}));
  EXPECT_EQ(categories("look", "int look(struct node *n) { return n->name[0] + n->count; }"),
            Rows{});
}

TEST(Categories, WhatIsKeptAndHandedOn) {
  EXPECT_EQ(categories("push", "void push(struct node *n) { n->next = head; head = n; }"),
            (Rows{"Glob2Arg head > n->next", "Arg2Glob n > head"}));
  EXPECT_EQ(categories("link", "void link(struct node *a, struct node *b) { a->next = b; }"),
            Rows{"Arg2Arg b > a->next"});
  EXPECT_EQ(categories("name", "char *name(struct node *n) { return n->name; }"),
            Rows{"Arg2Ret n->name > ret"});
  EXPECT_EQ(categories("first", "struct node *first(void) { return head; }"),
            Rows{"Glob2Ret head > ret"});
  // Numbers that are passed on are no memory.
  EXPECT_EQ(categories("count", "int count(struct node *n, int by) { n->count = by; return by; }"),
            Rows{});
}

}  // namespace
}  // namespace plumb::check
