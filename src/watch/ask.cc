// Asks a watched process for a snapshot.
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "trace/watch_record.h"
#include "watch/places.h"
#include "watch/watch.h"

namespace plumb {

namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 30;
constexpr int kSeconds = 10;

class Socket {
 public:
  Socket() : number_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {}
  ~Socket() {
    if (number_ >= 0) close(number_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

std::unexpected<Error> not_watched(std::uint64_t pid, const std::string& why) {
  return fail(fmt::format("process {}", pid), why,
              "only a program started with `plumb watch -- PROGRAM` by the same user can be "
              "asked");
}

}  // namespace

Result<std::string> ask_for_snapshot(std::uint64_t pid) {
  const Result<std::string> folder = watch_folder();
  if (!folder) return std::unexpected(folder.error());
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = fmt::format("{}/{}.socket", *folder, pid);
  if (path.size() >= sizeof address.sun_path) return not_watched(pid, "the path is too long");
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const Socket connection;
  const timeval limit{kSeconds, 0};
  setsockopt(connection.number(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  if (connect(connection.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) !=
      0) {
    return not_watched(pid, errno == ENOENT || errno == ECONNREFUSED
                                ? "is not being watched"
                                : fmt::format("cannot be asked: {}", std::strerror(errno)));
  }
  const std::string_view request = PLUMB_WATCH_REQUEST;
  if (send(connection.number(), request.data(), request.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(request.size())) {
    return not_watched(pid, "does not answer");
  }
  std::string bytes;
  char part[65536];
  while (true) {
    const ssize_t got = recv(connection.number(), part, sizeof part, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return not_watched(pid, "does not answer");
    if (got == 0) break;
    bytes.append(part, static_cast<std::size_t>(got));
    if (bytes.size() > kMostBytes) return not_watched(pid, "answers without end");
  }
  if (bytes.empty()) return not_watched(pid, "did not answer");
  return bytes;
}

}  // namespace plumb
