// Lists of addresses, which the library allocates, and which it may not have to give.
#include "check/source_check.h"

namespace plumb::check {
namespace {

TEST(Addresses, AreGivenBackWhenThereAreSome) {
  expect_by_name(std::string(kHeader) + R"(
#include <netdb.h>
#include <sys/socket.h>
int first_bad(const char *host) {
  struct addrinfo *list, *each;
  if (getaddrinfo(host, "80", NULL, &list) != 0) return -1;
  for (each = list; each; each = each->ai_next)
    if (each->ai_family == AF_INET) return each->ai_socktype;
  freeaddrinfo(list);
  return -1;
}
int first_ok(const char *host) {
  struct addrinfo *list, *each;
  int found = -1;
  if (getaddrinfo(host, "80", NULL, &list) != 0) return -1;
  for (each = list; each; each = each->ai_next)
    if (each->ai_family == AF_INET) found = each->ai_socktype;
  freeaddrinfo(list);
  return found;
}
int other_bad(const char *host) {
  struct addrinfo *list;
  char *copy = strdup(host);
  if (getaddrinfo(copy, "80", NULL, &list) != 0) return -1;
  freeaddrinfo(list);
  free(copy);
  return 0;
}
)");
}

}  // namespace
}  // namespace plumb::check
