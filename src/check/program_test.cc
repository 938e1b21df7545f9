// Several units: which of them belong together, and what the user says of functions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/file.h"
#include "check/check.h"

namespace plumb::check {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class ProgramTest : public ::testing::Test {
 protected:
  ProgramTest() {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    const fs::path here(PLUMB_TEST_DATA);
    options_.models = {
        read_file((here / "../../../models/c.models").lexically_normal().string()).value_or(""),
        "models/c.models"};
  }
  ~ProgramTest() override { fs::remove_all(folder_); }

  void add(const std::string& name, const std::string& text) {
    ASSERT_TRUE(write_file(folder_ + "/" + name, text));
    options_.jobs.push_back({folder_, name, {name}});
  }
  void declare(const std::string& line) { options_.declared.push_back({line, "--model"}); }

  // The functions that lose something.
  std::vector<std::string> lost_in() {
    Result<CheckOutcome> outcome = check_program(options_);
    EXPECT_TRUE(outcome) << outcome.error().message();
    std::vector<std::string> out;
    notes_.clear();
    if (!outcome) return out;
    for (const Leak& leak : outcome->report.leaks) {
      out.push_back(leak.loss->stack.front().function);
    }
    for (const Note& note : outcome->report.notes) notes_[note.code] = note.text;
    return out;
  }

  const std::string folder_ = testing::TempDir() + "plumb_program_test." + std::to_string(getpid());
  CheckOptions options_;
  std::map<std::string, std::string> notes_;
};

TEST_F(ProgramTest, EachMainIsAProgram) {
  add("one.c", R"(
#include <stdlib.h>
void finish(char *p) { free(p); }
void work(int n);
static void one_bad(int n) { char *p = malloc(n); p[0] = 1; }
int main(int n, char **a) { work(n); one_bad(n); return 0; }
)");
  add("two.c", R"(
#include <stdlib.h>
void finish(char *p) { p[0] = 1; }
static void two_bad(int n) { char *p = malloc(n); finish(p); }
int main(int n, char **a) { two_bad(n); return 0; }
)");
  // Only the first program has this unit, so it means the first `finish`.
  add("work.c", R"(
#include <stdlib.h>
void finish(char *p);
void work(int n) { char *p = malloc(n); finish(p); }
)");
  EXPECT_THAT(lost_in(), UnorderedElementsAre("one_bad", "two_bad"));
}

TEST_F(ProgramTest, WhatTwoProgramsShareMayMeanEither) {
  constexpr const char* kMain = R"(
#include <stdlib.h>
void share(int n);
int main(int n, char **a) { share(n); return 0; }
)";
  add("one.c", std::string(kMain) + "void finish(char *p) { free(p); }\n");
  add("two.c", std::string(kMain) + "void finish(char *p) { p[0] = 1; }\n");
  add("share.c", R"(
#include <stdlib.h>
void finish(char *p);
void share(int n) { char *p = malloc(n); finish(p); }
void surely_bad(int n) { char *p = malloc(n); p[0] = 1; }
)");
  EXPECT_THAT(lost_in(), ElementsAre("surely_bad"));
}

// `level` of the other program is never written; that of this one is.
TEST_F(ProgramTest, GlobalsOfProgramsAreApart) {
  add("one.c", R"(
#include <stdlib.h>
int level = 0;
int main(int n, char **a) {
  char *p = malloc(8);
  if (level) { p[0] = 1; return 1; }
  free(p);
  return 0;
}
)");
  add("two.c", R"(
#include <stdlib.h>
int level = 0;
static void two_bad(void) {
  char *p = malloc(8);
  if (level) { p[0] = 1; return; }
  free(p);
}
int main(int n, char **a) { level = n; two_bad(); return 0; }
)");
  EXPECT_THAT(lost_in(), ElementsAre("two_bad"));
}

// Two folders that both have a util.c, of which a program uses its own.
TEST_F(ProgramTest, TheDefinitionInOnesOwnFolder) {
  for (const std::string name : {"one", "two"}) {
    fs::create_directories(folder_ + "/" + name);
    const std::string done = name == "one" ? "free(p);" : "p[0] = 1;";
    const std::string own = folder_ + "/" + name;
    ASSERT_TRUE(write_file(own + "/util.c",
                           "#include <stdlib.h>\nvoid finish(char *p) { " + done + " }\n"));
    ASSERT_TRUE(
        write_file(own + "/main.c",
                   "#include <stdlib.h>\nvoid finish(char *p);\nvoid " + name +
                       "(int n) { char *p = malloc(n); finish(p); }\nint main(int n, char **a) { " +
                       name + "(n); return 0; }\n"));
    for (const std::string file : {"util.c", "main.c"})
      options_.jobs.push_back({own, file, {file}});
  }
  EXPECT_THAT(lost_in(), ElementsAre("two"));
}

TEST_F(ProgramTest, KeptResultsOfTwoProgramsAreApart) {
  options_.cache = folder_ + "/cache";
  add("one.c", "#include <stdlib.h>\nint main(void) { malloc(1); return 0; }\n");
  add("two.c", "#include <stdlib.h>\nint main(void) { return 0; }\n");
  EXPECT_THAT(lost_in(), ElementsAre("main"));
  EXPECT_THAT(lost_in(), ElementsAre("main"));
}

constexpr const char* kPool = R"(
#include <stdlib.h>
struct pool { char *next; };
void *take(struct pool *p, int n);
void give(struct pool *p, void *b);
void ok(struct pool *p) { char *b = take(p, 8); give(p, b); }
void bad(struct pool *p) { char *b = take(p, 8); b[0] = 1; }
)";

TEST_F(ProgramTest, TheUserDeclaresAllocators) {
  add("use.c", kPool);
  EXPECT_THAT(lost_in(), IsEmpty());
  declare("take alloc");
  declare("give free:1");
  EXPECT_THAT(lost_in(), ElementsAre("bad"));
}

TEST_F(ProgramTest, WhatIsDeclaredCountsMoreThanTheBody) {
  add("use.c", kPool);
  add("pool.c", R"(
struct pool { char *next; };
void *take(struct pool *p, int n) { void *b = p->next; p->next += n; return b; }
void give(struct pool *p, void *b) {}
)");
  EXPECT_THAT(lost_in(), IsEmpty());
  declare("take alloc");
  declare("give free:1");
  EXPECT_THAT(lost_in(), ElementsAre("bad"));
}

TEST_F(ProgramTest, DeclaredByTheNameInTheSource) {
  add("use.cc", R"(
namespace ns {
struct Pool { void* take(int n); void give(void* b); };
}
void ok(ns::Pool& p) { p.give(p.take(8)); }
void bad(ns::Pool& p) { char* b = static_cast<char*>(p.take(8)); b[0] = 1; }
)");
  EXPECT_THAT(lost_in(), IsEmpty());
  declare("ns::Pool::take alloc");
  declare("ns::Pool::give free:1");
  EXPECT_THAT(lost_in(), ElementsAre("bad(ns::Pool&)"));
}

TEST_F(ProgramTest, AMistakeInADeclarationIsNamed) {
  add("use.c", kPool);
  for (const std::string line : {"take gives", "give free", "take"}) {
    options_.declared = {{line, "--model"}};
    const Result<CheckOutcome> outcome = check_program(options_);
    ASSERT_FALSE(outcome) << line;
    EXPECT_EQ(outcome.error().where, "--model:1");
  }
}

TEST_F(ProgramTest, TheAttributeMallocIsHeeded) {
  add("use.c", R"(
struct pool;
char *text_of(const char *s) __attribute__((malloc));
char *in_pool(struct pool *p, int n) __attribute__((malloc));
void text_free(char *s);
void ok(const char *s) { text_free(text_of(s)); }
char *given(const char *s) { return text_of(s); }
void bad(const char *s) { char *t = text_of(s); t[0] = 1; }
void pool_ok(struct pool *p) { char *t = in_pool(p, 8); t[0] = 1; }
)");
  EXPECT_THAT(lost_in(), ElementsAre("bad"));
}

TEST_F(ProgramTest, TheFunctionsThatCostMostAreNamed) {
  add("use.c", R"(
#include <stdlib.h>
void keep(char *p);
void look(const char *p);
void other(char *p);
void one(void) { char *p = malloc(8); keep(p); }
void two(void) { char *p = malloc(8); for (int i = 0; i < 9; ++i) keep(p); }
void three(void) { char *p = malloc(8); look(p); other(p); }
)");
  EXPECT_THAT(lost_in(), IsEmpty());
  EXPECT_THAT(notes_["unknown-functions"], HasSubstr("3 blocks"));
  EXPECT_THAT(notes_["unknown-functions"], HasSubstr(": keep (2), other (1)"));
  declare("keep keeps:0");
  declare("other free:0");
  EXPECT_THAT(lost_in(), IsEmpty());
  EXPECT_FALSE(notes_.contains("unknown-functions"));
}

constexpr const char* kResources = R"(
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
void own_close(int fd);
int file_ok(const char *name) {
  FILE *f = fopen(name, "r");
  if (!f) return -1;
  int c = getc(f);
  fclose(f);
  return c;
}
int file_bad(const char *name) {
  FILE *f = fopen(name, "r");
  if (!f) return -1;
  int c = getc(f);
  if (c < 0) return -1;
  fclose(f);
  return c;
}
static int open_it(const char *name) {
  int fd = open(name, O_RDONLY);
  if (fd == -1) return -1;
  return fd;
}
int fd_ok(const char *name, char *out) {
  int fd = open_it(name);
  if (fd < 0) return -1;
  long n = read(fd, out, 10);
  close(fd);
  return n < 0 ? -1 : 0;
}
int fd_bad(const char *name, char *out) {
  int fd = open_it(name);
  if (fd < 0) return -1;
  if (read(fd, out, 10) < 0) return -1;
  close(fd);
  return 0;
}
int fd_given(const char *name) { int fd = open_it(name); return fd; }
void fd_elsewhere(const char *name) { int fd = open_it(name); if (fd >= 0) own_close(fd); }
struct conn { int fd; };
int fd_kept(struct conn *c, const char *name) { c->fd = open_it(name); return c->fd < 0; }
FILE *fd_in_file(const char *name) {
  int fd = open_it(name);
  if (fd < 0) return 0;
  FILE *f = fdopen(fd, "r");
  if (!f) close(fd);
  return f;
}
int dir_bad(const char *name) {
  DIR *d = opendir(name);
  if (!d) return -1;
  struct dirent *e = readdir(d);
  if (!e) return 0;
  closedir(d);
  return 1;
}
int map_bad(int fd) {
  char *p = mmap(0, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
  if (p == MAP_FAILED) return -1;
  if (p[0] == 'x') return 0;
  munmap(p, 4096);
  return 1;
}
int map_ok(int fd) {
  char *p = mmap(0, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
  if (p == MAP_FAILED) return -1;
  int c = p[0];
  munmap(p, 4096);
  return c;
}
)";

TEST_F(ProgramTest, OtherResourcesWhenAskedFor) {
  add("use.c", kResources);
  const fs::path here(PLUMB_TEST_DATA);
  options_.resources = {
      read_file((here / "../../../models/resources.models").lexically_normal().string())
          .value_or(""),
      "models/resources.models"};
  EXPECT_THAT(lost_in(), IsEmpty());
  options_.also = {"file", "directory"};
  EXPECT_THAT(lost_in(), UnorderedElementsAre("file_bad", "dir_bad"));
  options_.also = {"descriptor"};
  EXPECT_THAT(lost_in(), UnorderedElementsAre("fd_bad"));
  options_.also = {"mapping"};
  EXPECT_THAT(lost_in(), UnorderedElementsAre("map_bad"));
}

// What a system call returns is -1 or a descriptor: callers may ask for either.
TEST_F(ProgramTest, NotMinusOneIsNotNegative) {
  add("use.c", R"(
#include <fcntl.h>
#include <stdlib.h>
static int device(char **name) {
  int fd = open("/dev/x", O_RDWR);
  if (fd == -1) return -1;
  *name = malloc(8);
  return fd;
}
int ok(void) {
  char *name;
  int fd = device(&name);
  if (fd < 0) return -1;
  free(name);
  return fd;
}
int bad(void) {
  char *name;
  int fd = device(&name);
  if (fd > 0) return -1;
  free(name);
  return fd;
}
)");
  EXPECT_THAT(lost_in(), ElementsAre("bad"));
}

TEST_F(ProgramTest, AResourceOfTheUsersOwn) {
  add("use.c", R"(
struct db;
int db_open(const char *name, struct db **out);
void db_close(struct db *d);
int ok(const char *n) { struct db *d; if (db_open(n, &d)) return 1; db_close(d); return 0; }
int bad(const char *n) { struct db *d; if (db_open(n, &d)) return 1; return 0; }
)");
  EXPECT_THAT(lost_in(), IsEmpty());
  declare("db_open alloc-to:1:database result-zero");
  declare("db_close free:0:database");
  EXPECT_THAT(lost_in(), ElementsAre("bad"));
}

// The same source for a static and for a shared library, with another definition.
TEST_F(ProgramTest, OneSourceCompiledTwiceIsToldOnce) {
  const std::string text = R"(
#include <stdlib.h>
static void twice_bad(int n) { char *p = malloc(n); p[0] = 1; }
void go(int n) { twice_bad(n); }
#ifdef LOUD
void loud(int n) { twice_bad(n + 1); }
#endif
)";
  add("twin.c", text);
  options_.jobs.push_back({folder_, "twin.c", {"-DSHARED", "twin.c"}});
  EXPECT_THAT(lost_in(), ElementsAre("twice_bad"));
  // Another unit, and the same finding.
  options_.jobs.push_back({folder_, "twin.c", {"-DLOUD", "twin.c"}});
  EXPECT_THAT(lost_in(), ElementsAre("twice_bad"));
}

// What stands in a header is in each unit that reads it.
TEST_F(ProgramTest, AStaticFunctionOfAHeaderIsToldOnce) {
  ASSERT_TRUE(write_file(folder_ + "/both.h", R"(
#include <stdlib.h>
static void header_bad(int n) { char *p = malloc(n); p[0] = 1; }
)"));
  add("a.c", "#include \"both.h\"\nvoid a(int n) { header_bad(n); }\n");
  add("b.c", "#include \"both.h\"\nvoid b(int n) { header_bad(n + 1); }\n");
  EXPECT_THAT(lost_in(), ElementsAre("header_bad"));
}

}  // namespace
}  // namespace plumb::check
