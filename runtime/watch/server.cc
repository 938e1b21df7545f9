#include "watch/server.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include "common/text.h"

namespace plumb::rt {

namespace {

void set_timeout(int socket, int option, long seconds, long microseconds) {
  const timeval time{seconds, microseconds};
  sys_call(SYS_setsockopt, socket, SOL_SOCKET, option, reinterpret_cast<long>(&time), sizeof time);
}

bool is_owner(int client) {
  ucred peer{};
  unsigned size = sizeof peer;
  const long result = sys_call(SYS_getsockopt, client, SOL_SOCKET, SO_PEERCRED,
                               reinterpret_cast<long>(&peer), reinterpret_cast<long>(&size));
  return result == 0 && (peer.uid == 0 || static_cast<long>(peer.uid) == sys_call(SYS_geteuid));
}

}  // namespace

void Server::listen(const char* path) {
  if (path[0] == 0) return;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  copy_text(address.sun_path, sizeof address.sun_path, path);
  const long file = sys_call(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (file < 0) return;
  // What an earlier process of this number left behind.
  sys_call(SYS_unlinkat, AT_FDCWD, reinterpret_cast<long>(path), 0);
  if (sys_call(SYS_bind, file, reinterpret_cast<long>(&address), sizeof address) != 0 ||
      sys_call(SYS_listen, file, 4) != 0) {
    sys_close(static_cast<int>(file));
    return;
  }
  socket_ = static_cast<int>(file);
  path_ = path;
}

void Server::close() {
  if (socket_ < 0) return;
  sys_call(SYS_unlinkat, AT_FDCWD, reinterpret_cast<long>(path_), 0);
  sys_close(socket_);
  socket_ = -1;
}

int Server::accept() {
  if (socket_ < 0) return -1;
  const long client = sys_call(SYS_accept4, socket_, 0, 0, SOCK_CLOEXEC);
  if (client < 0) return -1;
  const int file = static_cast<int>(client);
  set_timeout(file, SO_RCVTIMEO, 0, 200'000);
  set_timeout(file, SO_SNDTIMEO, 1, 0);
  return file;
}

bool Server::asks_for_snapshot(int client) {
  char text[16] = {};
  size_t used = 0;
  const size_t wanted = sizeof PLUMB_WATCH_REQUEST - 1;
  while (used < wanted) {
    const long got = sys_read(client, text + used, wanted - used);
    if (got <= 0) return false;
    used += static_cast<size_t>(got);
  }
  return is_owner(client) && __builtin_memcmp(text, PLUMB_WATCH_REQUEST, wanted) == 0;
}

void Server::send(int client, const char* from, size_t size) {
  while (size > 0) {
    const long put = sys_call(SYS_sendto, client, reinterpret_cast<long>(from),
                              static_cast<long>(size), MSG_NOSIGNAL);
    if (put <= 0) return;
    from += put;
    size -= static_cast<size_t>(put);
  }
}

}  // namespace plumb::rt
