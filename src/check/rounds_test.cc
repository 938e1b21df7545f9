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

// The first block of a loop is kept; what becomes of the next ones is another question.
TEST(Rounds, KeptOnceAndLostInLaterRounds) {
  expect_by_name(kHeader + std::string(R"(
int more(void);
static char *joined(const char *a, const char *b) {
  char *out = malloc(strlen(a) + strlen(b) + 1);
  if (!out) abort();
  strcpy(out, a);
  strcat(out, b);
  return out;
}
char *parts_bad(void) {
  char *all = NULL;
  while (more()) {
    char *part = strdup("part");
    if (!part) abort();
    if (!all) {
      all = part;
    } else {
      char *longer = joined(all, part);
      free(all);
      all = longer;
    }
  }
  return all;
}
char *parts_ok(void) {
  char *all = NULL;
  while (more()) {
    char *part = strdup("part");
    if (!part) abort();
    if (!all) {
      all = part;
    } else {
      char *longer = joined(all, part);
      free(all);
      free(part);
      all = longer;
    }
  }
  return all;
}
char *first_bad(void) {
  char *first = NULL;
  while (more()) {
    char *text = strdup("text");
    if (!first) first = text;
  }
  return first;
}
char *first_ok(void) {
  char *first = NULL;
  while (more()) {
    char *text = strdup("text");
    if (!first) first = text;
    else free(text);
  }
  return first;
}
struct node { struct node *next, *before; };
struct node *list_ok(void) {
  struct node *head = NULL, *tail = NULL;
  while (more()) {
    struct node *made = calloc(1, sizeof *made);
    if (!made) abort();
    if (!head) head = made;
    else tail->next = made;
    tail = made;
  }
  return head;
}
char **array_ok(void) {
  char **all = NULL;
  int count = 0;
  while (more()) {
    char *text = strdup("text");
    char **grown = realloc(all, (count + 2) * sizeof *all);
    if (!grown || !text) abort();
    all = grown;
    all[count++] = text;
    all[count] = NULL;
  }
  return all;
}
char *last_ok(void) {
  char *last = NULL;
  while (more()) {
    char *text = strdup("text");
    free(last);
    last = text;
  }
  return last;
}
)"));
}

// The number by which an element is read is not the one by which it was written, though it is
// the same.
TEST(Rounds, ElementsThatAreFreedFromBehind) {
  expect_by_name(std::string(kHeader) + R"(
static char **room(int n) {
  char **all = malloc(n * sizeof *all);
  if (!all) abort();
  return all;
}
char **counted_ok(int n) {
  char **all = room(n);
  for (int i = 0; i < n; i++) all[i] = malloc(3);
  if (getchar() > 10) {
    while (n--) free(all[n]);
    free(all);
    return 0;
  }
  return all;
}
char **stepped_ok(int n) {
  char **all = room(n);
  for (int i = 0; i < n; i++) all[i] = malloc(3);
  if (getchar() > 10) {
    for (int j = n - 1; j >= 0; j--) free(all[j]);
    free(all);
    return 0;
  }
  return all;
}
char **made_so_far_ok(int n) {
  char **all = room(n);
  for (int i = 0; i < n; i++) {
    all[i] = malloc(3);
    if (getchar() > 10) {
      while (--i >= 0) free(all[i + 1]);
      free(all[0]);
      free(all);
      return 0;
    }
  }
  return all;
}
char **kept_bad(int n) {
  char **all = room(n);
  for (int i = 0; i < n; i++) all[i] = malloc(3);
  if (getchar() > 10) {
    free(all);
    return 0;
  }
  return all;
}
char **but_the_first_bad(int n) {
  char **all = room(n);
  for (int i = 0; i < n; i++) all[i] = malloc(3);
  if (getchar() > 10) {
    for (int j = 1; j < n; j++) free(all[j]);
    free(all);
    return 0;
  }
  return all;
}
)");
}

}  // namespace
}  // namespace plumb::check
