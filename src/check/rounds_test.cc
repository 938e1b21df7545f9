// Loops that can be left in many ways: a path goes round them all the same.
#include "check/source_check.h"

namespace plumb::check {
namespace {

// The body of a loop over the topics of a packet; each step may fail and leaves the function.
constexpr const char* kLoop = R"(
struct packet { int at; int length; char *bytes; };
int read_text(struct packet *packet, char *out);
int check(const char *text);
int log_it(const char *text);
int take_out(const char *text, char *reason);
int send_codes(const char *codes, int count);
)";

std::string body(const char* before, const char* in_loop, const char* name) {
  return fmt::format(R"(
int {}(struct packet *packet, int version) {{
  char text[100];
  char reason = 0;
  char *codes = NULL;
  int count = 0;
  if (version < 3) return -1;
  {}
  while (packet->at < packet->length) {{
    if (read_text(packet, text)) {{ {} return 1; }}
    if (!text[0]) {{ {} return 2; }}
    if (check(text)) {{ {} return 3; }}
    if (log_it(text)) {{ {} return 4; }}
    if (version > 4 && text[1] == '$') {{ {} return 5; }}
    if (take_out(text, &reason)) {{ {} return 6; }}
    if (reason > 100) {{ {} return 7; }}
    {}
    codes[count % 10] = reason;
    count++;
  }}
  int out = codes ? send_codes(codes, count) : 0;
  free(codes);
  return out;
}}
)",
                     name, before, before[0] ? "free(codes);" : "", before[0] ? "free(codes);" : "",
                     before[0] ? "free(codes);" : "", before[0] ? "free(codes);" : "",
                     before[0] ? "free(codes);" : "", before[0] ? "free(codes);" : "",
                     before[0] ? "free(codes);" : "", in_loop);
}

TEST(Rounds, ALoopWithManyWaysOut) {
  constexpr double kDecided = 0.5;  // what is shown: see cmd_check.cc
  const Report report =
      check_source(std::string(kHeader) + kLoop +
                   body("", "codes = malloc(10); if (!codes) return 8;", "each_round_bad") +
                   body("codes = malloc(10); if (!codes) return 8;", "", "once_ok"));
  std::set<std::string> shown;
  for (const Leak& leak : report.leaks) {
    if (leak.confidence >= kDecided) shown.insert(leak.loss->stack.front().function);
  }
  EXPECT_EQ(shown, Names{"each_round_bad"});
  EXPECT_EQ(finders(report), Names{"each_round_bad"});
}

// The status has no value before the loop that sets it: after the loop it has the loop's.
TEST(Rounds, AStatusThatTheLoopSets) {
  expect_by_name(std::string(kHeader) + R"(
struct queue { void *slots[16]; int count; };
static int push(struct queue *queue, void *item) {
  if (queue->count >= 16) return -1;
  queue->slots[queue->count++] = item;
  return 0;
}
static int dispatch(struct queue *queue, void *item) {
  int i, status;
  for (i = 0; i < 1000; i++) {
    status = push(queue, item);
    if (status < 0) continue;
    break;
  }
  if (status < 0) return -1;
  return 0;
}
int send_bad(struct queue *queue, const char *text) {
  char *copy = strdup(text);
  if (!copy) return -1;
  if (dispatch(queue, copy) < 0) return -1;
  return 0;
}
int send_ok(struct queue *queue, const char *text) {
  char *copy = strdup(text);
  if (!copy) return -1;
  if (dispatch(queue, copy) < 0) {
    free(copy);
    return -1;
  }
  return 0;
}
)");
}

}  // namespace
}  // namespace plumb::check
