// Allocations that fail (--oom), and what the C and C++ libraries do with what they are
// given.
#include "check/check.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <map>
#include <string>

#include <fmt/format.h>

#include "base/file.h"

namespace plumb::check {
namespace {

// The functions in which something is lost, and when.
std::map<std::string, When> losers(const std::string& source, bool oom,
                                   const std::string& suffix = "c") {
  const std::filesystem::path here(PLUMB_TEST_DATA);
  const Result<std::string> models =
      read_file((here / "../../../models/c.models").lexically_normal().string());
  EXPECT_TRUE(models);
  const std::string path =
      fmt::format("{}/plumb_failed_allocation_test.{}.{}", testing::TempDir(), getpid(), suffix);
  EXPECT_TRUE(write_file(path, source));
  CheckOptions options;
  options.oom = oom;
  options.jobs.push_back({"", path, {path}});
  options.models = {models.value_or(""), "models/c.models"};
  const Result<CheckOutcome> outcome = check_program(options);
  EXPECT_TRUE(outcome) << (outcome ? "" : outcome.error().message());
  std::map<std::string, When> out;
  if (!outcome) return out;
  for (const Leak& leak : outcome->report.leaks) {
    out.emplace(leak.loss->stack.front().function, leak.when.value_or(When::ordinary));
  }
  return out;
}

using Found = std::map<std::string, When>;

constexpr const char* kPairs = R"(
#include <stdlib.h>
#include <string.h>
struct pair { char *name; char *text; };
struct pair *half_bad(const char *text) {
  struct pair *pair = malloc(sizeof *pair);
  if (!pair) return NULL;
  memset(pair, 0, sizeof *pair);
  pair->text = strdup(text);
  if (pair->text == NULL) return NULL;
  return pair;
}
struct pair *half_ok(const char *text) {
  struct pair *pair = calloc(1, sizeof *pair);
  if (!pair) return NULL;
  pair->text = strdup(text);
  if (!pair->text) { free(pair); return NULL; }
  return pair;
}
static char *copied(const char *text) {
  char *out = malloc(strlen(text) + 1);
  if (!out) abort();
  return strcpy(out, text);
}
struct pair *never_ok(const char *text) {
  struct pair *pair = calloc(1, sizeof *pair);
  if (!pair) abort();
  pair->text = copied(text);
  if (!pair->text) return NULL;
  return pair;
}
)";

TEST(FailedAllocation, IsFollowedWhenAskedFor) {
  EXPECT_EQ(losers(kPairs, true), (Found{{"half_bad", When::oom}}));
}

TEST(FailedAllocation, IsNotFollowedOtherwise) { EXPECT_EQ(losers(kPairs, false), Found{}); }

// A callee that fails because it got no memory says so by its status.
TEST(FailedAllocation, OfACallee) {
  EXPECT_EQ(losers(R"(
#include <stdlib.h>
struct node { void *item; struct node *next; };
struct list { struct node *first; };
static int push(struct list *list, void *item) {
  struct node *node = malloc(sizeof *node);
  if (!node) return 0;
  node->item = item;
  node->next = list->first;
  list->first = node;
  return 1;
}
int add_bad(struct list *list) {
  int *item = malloc(4);
  if (!item) return -1;
  if (!push(list, item)) return -1;
  return 0;
}
int add_ok(struct list *list) {
  int *item = malloc(4);
  if (!item) return -1;
  if (!push(list, item)) { free(item); return -1; }
  return 0;
})",
                   true),
            (Found{{"add_bad", When::oom}}));
}

// One allocation of a loop fails, the next does not.
TEST(FailedAllocation, IsOverWithTheNext) {
  EXPECT_EQ(losers(R"(
#include <stdlib.h>
int sum_ok(int n) {
  int *total = calloc(1, sizeof *total);
  if (!total) return -1;
  for (int i = 0; i < n; ++i) {
    int *more = malloc(sizeof *more);
    if (!more) continue;
    *more = i;
    *total += *more;
    free(more);
  }
  int out = *total;
  free(total);
  return out;
})",
                   true),
            Found{});
}

// What a block held, the larger one holds, also what is no block of ours.
TEST(Library, ReallocMovesAll) {
  EXPECT_EQ(losers(R"(
#include <stdlib.h>
#include <string.h>
char *found(const char *name);
int more(void);
void vector_ok(const char *name) {
  char **argv = calloc(4, sizeof *argv);
  if (!argv) return;
  argv[0] = found(name);
  if (!argv[0]) goto out;
  argv[1] = strdup(name);
  if (more()) {
    char **grown = realloc(argv, 8 * sizeof *argv);
    if (!grown) goto out;
    argv = grown;
    argv[2] = NULL;
  }
out:
  for (int i = 0; argv[i]; i++) free(argv[i]);
  free(argv);
}
void vector_bad(const char *name) {
  char **argv = calloc(4, sizeof *argv);
  if (!argv) return;
  argv[0] = strdup(name);
  argv[1] = strdup(name);
  if (more()) {
    char **grown = realloc(argv, 8 * sizeof *argv);
    if (!grown) goto out;
    argv = grown;
  }
out:
  free(argv[1]);
  free(argv);
})",
                   false),
            (Found{{"vector_bad", When::ordinary}}));
}

// A message is written into a member: the others stay.
TEST(Library, WritesIntoAMember) {
  EXPECT_EQ(losers(R"(
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct file { char *name; char message[40]; char *text; };
static int fail(struct file *file, int n) {
  snprintf(file->message, sizeof file->message, "error %d", n);
  return -1;
}
int open_ok(struct file *file, const char *name, int n) {
  file->name = strdup(name);
  file->text = strdup(name);
  if (n > 3) strcpy(file->message, "too many");
  return n < 0 ? fail(file, n) : 0;
}
int open_bad(const char *name, int n) {
  struct file file;
  memset(&file, 0, sizeof file);
  file.name = strdup(name);
  file.text = strdup(name);
  if (n > 3) strcpy(file.message, "too many");
  free(file.text);
  return 0;
})",
                   false),
            (Found{{"open_bad", When::ordinary}}));
}

// What is closed is given to a callback before: what it holds is freed, or the callback
// has seen to it.
TEST(Library, FreedAfterACallback) {
  EXPECT_EQ(losers(R"(
#include <stdlib.h>
#include <string.h>
struct file { void (*closing)(void *); char *name; char *text; };
static struct file *file_close(struct file *file) {
  if (file->closing) file->closing(file);
  if (file->name) free(file->name);
  free(file);
  return NULL;
}
void closed_ok(const char *name) {
  struct file *file = calloc(1, sizeof *file);
  file->name = strdup(name);
  file_close(file);
}
void closed_bad(const char *name) {
  struct file *file = calloc(1, sizeof *file);
  file->text = strdup(name);
  file_close(file);
})",
                   false),
            (Found{{"closed_bad", When::ordinary}}));
}

TEST(Library, LooksAtWhatItIsGiven) {
  EXPECT_EQ(losers(R"(
#include <malloc.h>
#include <stdlib.h>
#include <sys/socket.h>
struct ends { int of[2]; };
int connect_bad(void) {
  struct ends *ends = malloc(sizeof *ends);
  if (!ends || malloc_usable_size(ends) < 8) return 0;
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends->of) < 0) return -1;
  free(ends);
  return 0;
}
int connect_ok(void) {
  struct ends *ends = malloc(sizeof *ends);
  if (!ends) return -1;
  int status = socketpair(AF_UNIX, SOCK_STREAM, 0, ends->of);
  free(ends);
  return status;
})",
                   false),
            (Found{{"connect_bad", When::ordinary}}));
}

// What scanf reads is not what was there before.
TEST(Library, ScansIntoWhatItIsGiven) {
  EXPECT_EQ(losers(R"(
#include <stdio.h>
#include <stdlib.h>
void scan_ok(const char *text) {
  int count = 0;
  char *block = NULL;
  sscanf(text, "%d", &count);
  if (count > 0) block = malloc(8);
  if (count != 0) free(block);
}
void scan_bad(const char *text) {
  int count = 0;
  char *block = malloc(8);
  sscanf(text, "%d", &count);
  if (count > 3) return;
  free(block);
})",
                   false),
            (Found{{"scan_bad", When::ordinary}}));
}

TEST(Library, StreamsAndStringsCopy) {
  EXPECT_EQ(losers(R"(
#include <fstream>
#include <iostream>
#include <string>
void read_bad(const char *path) {
  std::ifstream file(path);
  char *text = new char[100];
  file.read(text, 100);
  std::cout << text;
}
void read_ok(const char *path) {
  std::ifstream file(path);
  char *text = new char[100];
  file.read(text, 100);
  std::string copy(text, 100);
  delete[] text;
})",
                   false, "cc")
                .count("read_bad(char const*)"),
            1u);
}

}  // namespace
}  // namespace plumb::check
