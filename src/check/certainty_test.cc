// The confidence of a finding: what its path takes for granted.
#include "check/source_check.h"

namespace plumb::check {
namespace {

constexpr double kShown = 0.5;  // see cmd_check.cc

double confidence_in(const Report& report, std::string_view function) {
  for (const Leak& leak : report.leaks) {
    if (leak.loss && leak.loss->stack.front().function == function) return leak.confidence;
  }
  return 0;
}

// Whether the name is freed is asked of a field that unknown code has written over since.
TEST(Certainty, UnknownMemory) {
  const Report report = check_source(std::string(kHeader) + R"(
struct parser { const char *at; int depth, closed; };
void advance(struct parser *parser);
int finish_doubtful(struct parser *parser) {
  char *name = strdup("name");
  if (!name) return -1;
  advance(parser);
  if (parser->closed) return 1;
  free(name);
  return 0;
}
int finish_bad(struct parser *parser) {
  char *name = strdup("name");
  if (!name) return -1;
  if (parser->closed) return 1;
  free(name);
  return 0;
}
int finish_ok(struct parser *parser) {
  char *name = strdup("name");
  if (!name) return -1;
  advance(parser);
  if (parser->closed) puts("closed");
  free(name);
  return 0;
}
)");
  EXPECT_EQ(finders(report), (Names{"finish_doubtful", "finish_bad"}));
  EXPECT_LT(confidence_in(report, "finish_doubtful"), kShown);
  EXPECT_EQ(confidence_in(report, "finish_bad"), 0.8);
}

// A status that came when the block was there says what it says.
TEST(Certainty, AStatus) {
  const Report report = check_source(std::string(kHeader) + R"(
struct parser { const char *at; int depth, closed; };
int advance(struct parser *parser);
int status_bad(struct parser *parser) {
  char *name = strdup("name");
  if (!name) return -1;
  if (advance(parser) != 0) return 1;
  free(name);
  return 0;
}
)");
  EXPECT_EQ(confidence_in(report, "status_bad"), 0.8);
}

// A result that nobody takes is lost, whatever the callee's reasons.
TEST(Certainty, NobodyTakesIt) {
  const Report report = check_source(std::string(kHeader) + R"(
struct parser { const char *at; int depth, closed; };
void advance(struct parser *parser);
static char *name_of(struct parser *parser) {
  advance(parser);
  if (parser->closed) return NULL;
  return strdup(parser->at);
}
void drop_bad(struct parser *parser) { name_of(parser); }
)");
  EXPECT_GE(confidence_in(report, "drop_bad"), kShown);
}

// Made four functions below when it is made at all, and held by a member.
TEST(Certainty, MadeFarBelow) {
  const Report report = check_source(std::string(kHeader) + R"(
struct cell { int tag; char *text; };
static char *text_new(int n) { char *p = malloc(n); if (!p) abort(); return p; }
static void text_copy(struct cell *to, const struct cell *from) {
  to->text = text_new(9);
  strcpy(to->text, "text");
}
static void cell_copy(struct cell *to, const struct cell *from) {
  to->tag = from->tag;
  to->text = NULL;
  if (from->tag == 3) text_copy(to, from);
}
int tag_of(struct cell *cell);
int member_bad(const struct cell *from) {
  struct cell copy;
  cell_copy(&copy, from);
  return copy.tag;
}
int near_bad(const struct cell *from) {
  struct cell copy;
  copy.text = text_new(3);
  return from->tag;
}
int member_ok(const struct cell *from) {
  struct cell copy;
  cell_copy(&copy, from);
  free(copy.text);
  return copy.tag;
}
)");
  EXPECT_EQ(finders(report), (Names{"member_bad", "near_bad"}));
  EXPECT_EQ(confidence_in(report, "member_bad"), kShown);
  EXPECT_EQ(confidence_in(report, "near_bad"), 0.8);
}

// The callee forgets the block for one of two reasons, and one of them is there.
TEST(Certainty, OneWayHolds) {
  const Report report = check_source(std::string(kHeader) + R"(
struct value { unsigned type : 8; unsigned owned : 1; char *text; };
static void value_init(struct value *value) {
  value->type = 4;
  value->owned = 1;
  value->text = malloc(9);
}
static void value_clear(struct value *value) {
  switch (value->type) {
    case 4:
      if (value->owned) free(value->text);
      break;
    default:
      break;
  }
}
void forget_bad(void) {
  struct value value;
  value_init(&value);
  if (!value.text) return;
  puts(value.text);
  value.type = 1;
  value_clear(&value);
}
void forget_ok(void) {
  struct value value;
  value_init(&value);
  if (!value.text) return;
  puts(value.text);
  value_clear(&value);
}
)");
  EXPECT_EQ(finders(report), (Names{"forget_bad"}));
  EXPECT_EQ(confidence_in(report, "forget_bad"), 0.8);
}

}  // namespace
}  // namespace plumb::check
