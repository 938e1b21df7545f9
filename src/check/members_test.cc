// Blocks that are put where a member of what the function was given points to.
#include "check/source_check.h"

namespace plumb::check {
namespace {

constexpr const char* kMessage = R"(
#include <stdlib.h>
#include <sys/socket.h>
struct part { void *base; size_t length; };
struct message { void *name; struct part *part; };
static int receive(int fd, struct message *message, char **answer) {
  struct part *part = message->part;
  char *buffer = malloc(100);
  if (!buffer) return -1;
  part->base = buffer;
  part->length = 100;
  int length = recv(fd, buffer, 100, 0);
  if (length < 0) { free(buffer); return length; }
  *answer = buffer;
  return length;
}
static int ask(int fd, char **answer) {
  struct part part;
  struct message message = {0, &part};
  char *buffer;
  if (receive(fd, &message, &buffer) < 0) return -1;
  *answer = buffer;
  return 0;
}
)";

TEST(Members, AlsoInAVariableOfTheCaller) {
  EXPECT_EQ(finders(check_source(std::string(kMessage) + R"(
int first_bad(int fd) {
  char *answer;
  if (ask(fd, &answer) < 0) return -1;
  return answer[0];
}
int first_ok(int fd) {
  char *answer;
  if (ask(fd, &answer) < 0) return -1;
  int first = answer[0];
  free(answer);
  return first;
}
)")),
            Names{"first_bad"});
}

// What holds it there is the caller's; what it held before is lost.
TEST(Members, OverwrittenInTheSameCall) {
  EXPECT_EQ(finders(check_source(R"(
#include <stdlib.h>
#include <string.h>
struct data { char *flags; };
struct header { int number; struct data *data; };
void parse_bad(struct header *h, const char **words) {
  for (; *words; words++) h->data->flags = strdup(*words);
}
void parse_ok(struct header *h, const char **words) {
  for (; *words; words++) {
    free(h->data->flags);
    h->data->flags = strdup(*words);
  }
}
struct list { struct list *next; char *text; };
struct lists { struct list *last; };
void add_ok(struct lists *l, const char **words) {
  for (; *words; words++) {
    l->last->text = strdup(*words);
    l->last = l->last->next;
  }
}
)")),
            Names{"parse_bad"});
}

}  // namespace
}  // namespace plumb::check
