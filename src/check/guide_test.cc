// Functions with more paths than the second stage can try: the one on which the first stage
// saw the loss decides.
#include "check/source_check.h"

namespace plumb::check {
namespace {

constexpr const char* kWaiting = R"(
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
struct item { void *socket; int fd; int events; int revents; };
int has_in(void *socket);
int has_out(void *socket);
void *thread_of(void *socket);
int descriptor_of(void *thread);
void commands_of(void *thread);
)";

TEST(Guide, OneOfManyPaths) {
  EXPECT_EQ(finders(check_source(std::string(kWaiting) + R"(
int wait_bad(struct item *items, int count, long limit) {
  struct pollfd *list = malloc(count * sizeof *list);
  int filled = 0, sockets = 0;
  void *thread = NULL;
  if (!list) abort();
  for (int i = 0; i != count; i++) {
    if (items[i].socket) {
      if (thread) {
        if (thread != thread_of(items[i].socket)) { free(list); return -1; }
      } else {
        thread = thread_of(items[i].socket);
      }
      sockets++;
      continue;
    }
    list[filled].fd = items[i].fd;
    list[filled].events = (items[i].events & 1 ? POLLIN : 0) | (items[i].events & 2 ? POLLOUT : 0);
    filled++;
  }
  if (sockets) {
    list[filled].fd = descriptor_of(thread);
    if (list[filled].fd == -1) { free(list); return -1; }
    list[filled].events = POLLIN;
    filled++;
  }
  int timeout = limit > 0 ? limit / 1000 : -1;
  int events = 0, initial = 1;
  while (!events) {
    int rc = poll(list, filled, initial ? 0 : timeout);
    if (rc == -1 && errno == EINTR) continue;
    if (rc < 0) abort();
    if (!initial && rc == 0) return 0;
    initial = 0;
    if (sockets && list[filled - 1].revents & POLLIN) commands_of(thread);
    int at = 0;
    for (int i = 0; i != count; i++) {
      if (!items[i].socket) {
        items[i].revents = (list[at].revents & POLLIN ? 1 : 0) | (list[at].revents & POLLOUT ? 2 : 0);
        if (items[i].revents) events++;
        at++;
        continue;
      }
      items[i].revents = 0;
      if ((items[i].events & 2) && has_out(items[i].socket)) items[i].revents |= 2;
      if ((items[i].events & 1) && has_in(items[i].socket)) items[i].revents |= 1;
      if (items[i].revents) events++;
    }
  }
  free(list);
  return events;
}
)")),
            Names{"wait_bad"});
}

TEST(Guide, NoneOfManyPaths) {
  EXPECT_EQ(finders(check_source(std::string(kWaiting) + R"(
int wait_ok(struct item *items, int count, long limit) {
  struct pollfd *list = malloc(count * sizeof *list);
  int filled = 0, sockets = 0;
  void *thread = NULL;
  if (!list) abort();
  for (int i = 0; i != count; i++) {
    if (items[i].socket) {
      if (thread) {
        if (thread != thread_of(items[i].socket)) { free(list); return -1; }
      } else {
        thread = thread_of(items[i].socket);
      }
      sockets++;
      continue;
    }
    list[filled].fd = items[i].fd;
    list[filled].events = (items[i].events & 1 ? POLLIN : 0) | (items[i].events & 2 ? POLLOUT : 0);
    filled++;
  }
  if (sockets) {
    list[filled].fd = descriptor_of(thread);
    if (list[filled].fd == -1) { free(list); return -1; }
    list[filled].events = POLLIN;
    filled++;
  }
  int timeout = limit > 0 ? limit / 1000 : -1;
  int events = 0, initial = 1;
  while (!events) {
    int rc = poll(list, filled, initial ? 0 : timeout);
    if (rc == -1 && errno == EINTR) continue;
    if (rc < 0) abort();
    if (!initial && rc == 0) { free(list); return 0; }
    initial = 0;
    if (sockets && list[filled - 1].revents & POLLIN) commands_of(thread);
    int at = 0;
    for (int i = 0; i != count; i++) {
      if (!items[i].socket) {
        items[i].revents = (list[at].revents & POLLIN ? 1 : 0) | (list[at].revents & POLLOUT ? 2 : 0);
        if (items[i].revents) events++;
        at++;
        continue;
      }
      items[i].revents = 0;
      if ((items[i].events & 2) && has_out(items[i].socket)) items[i].revents |= 2;
      if ((items[i].events & 1) && has_in(items[i].socket)) items[i].revents |= 1;
      if (items[i].revents) events++;
    }
  }
  free(list);
  return events;
}
)")),
            Names{});
}

// The block is there only after many decisions, and lost a round later. Where `a && b` fails
// both ways meet: the shorter of them is no path on which the other half held.
TEST(Guide, LostInTheNextRound) {
  EXPECT_EQ(finders(check_source(R"(
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
struct data { char *flags; int a, b, c, d, e; };
static size_t starts(const char *s, const char *with) {
  size_t n = strlen(with);
  return strncmp(s, with, n) ? 0 : n;
}
char *parse_bad(struct data *data, char *s) {
  size_t n;
  free(data->flags);
  data->flags = NULL;
  while (*s && *s != ')') {
    if ((n = starts(s, "deleted"))) {
      s += n;
      data->a = 1;
    } else if ((n = starts(s, "flagged"))) {
      s += n;
      data->b = 1;
    } else if ((n = starts(s, "answered"))) {
      s += n;
      data->c = 1;
    } else if ((n = starts(s, "seen"))) {
      s += n;
      data->d = 1;
    } else if ((n = starts(s, "recent"))) {
      s += n;
      data->e = 1;
    } else {
      char *word = s;
      while (*s && !isspace(*s) && *s != ')') s++;
      char end = *s;
      *s = 0;
      data->flags = strdup(word);
      *s = end;
    }
    while (*s && isspace(*s)) s++;
  }
  return *s == ')' ? s + 1 : NULL;
}
char *parse_ok(struct data *data, char *s) {
  size_t n;
  free(data->flags);
  data->flags = NULL;
  while (*s && *s != ')') {
    if ((n = starts(s, "deleted"))) {
      s += n;
      data->a = 1;
    } else if ((n = starts(s, "flagged"))) {
      s += n;
      data->b = 1;
    } else if ((n = starts(s, "answered"))) {
      s += n;
      data->c = 1;
    } else if ((n = starts(s, "seen"))) {
      s += n;
      data->d = 1;
    } else if ((n = starts(s, "recent"))) {
      s += n;
      data->e = 1;
    } else {
      char *word = s;
      while (*s && !isspace(*s) && *s != ')') s++;
      char end = *s;
      *s = 0;
      free(data->flags);
      data->flags = strdup(word);
      *s = end;
    }
    while (*s && isspace(*s)) s++;
  }
  return *s == ')' ? s + 1 : NULL;
}
)")),
            Names{"parse_bad"});
}

}  // namespace
}  // namespace plumb::check
