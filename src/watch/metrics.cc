#include "watch/metrics.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include <fmt/format.h>

#include "base/descriptor.h"
#include "base/text.h"

namespace plumb {

namespace {

constexpr int kClientSeconds = 2;
constexpr int kCheckMilliseconds = 1000;
constexpr std::size_t kMostRequest = 8192;

std::string escaped(std::string_view value) {
  std::string text;
  for (const char letter : to_utf8(value)) {
    if (letter == '\\' || letter == '"') text += '\\';
    if (letter == '\n') {
      text += "\\n";
    } else {
      text += letter;
    }
  }
  return text;
}

std::string labels_of(const Leak& leak) {
  std::string text = fmt::format("site=\"{}\"", escaped(leak.id));
  if (const Frame* frame = user_frame(leak.allocation.stack)) {
    if (!frame->function.empty()) {
      text += fmt::format(",function=\"{}\"", escaped(frame->function));
    }
    if (!frame->file.empty()) {
      text +=
          fmt::format(",place=\"{}:{}\"", escaped(base_name(frame->file)), frame->line.value_or(0));
    }
  }
  return text;
}

struct Family {
  std::string_view name;
  std::string_view help;
  std::string lines;

  void add(std::string_view labels, double value) {
    lines += labels.empty() ? fmt::format("{} {}\n", name, value)
                            : fmt::format("{}{{{}}} {}\n", name, labels, value);
  }
  std::string text() const {
    if (lines.empty()) return {};
    return fmt::format("# HELP {0} {1}\n# TYPE {0} gauge\n{2}", name, help, lines);
  }
};

// The first line of a request; empty when none came in time.
std::string read_request(int client) {
  std::string request;
  char part[1024];
  while (request.find("\r\n\r\n") == std::string::npos && request.size() < kMostRequest) {
    const ssize_t got = recv(client, part, sizeof part, 0);
    if (got <= 0) break;
    request.append(part, static_cast<std::size_t>(got));
  }
  return request.substr(0, request.find("\r\n"));
}

void answer(int client, std::string_view status, std::string_view type, std::string_view body) {
  const std::string all = fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}",
      status, type, body.size(), body);
  std::string_view rest = all;
  while (!rest.empty()) {
    const ssize_t put = send(client, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (put <= 0) return;
    rest.remove_prefix(static_cast<std::size_t>(put));
  }
}

}  // namespace

std::string metrics_text(const Report& report, std::size_t most_sites) {
  const Sample now = report.series.empty() ? Sample{} : report.series.back();
  Family heap{"plumb_heap_bytes", "Live heap memory, estimated from samples.", {}};
  Family blocks{"plumb_live_blocks", "Live heap blocks, estimated from samples.", {}};
  Family idle{"plumb_idle_bytes", "Heap memory not touched for long.", {}};
  Family cpu{"plumb_cpu_seconds", "CPU time that the program has used.", {}};
  heap.add("", static_cast<double>(now.heap_bytes));
  blocks.add("", static_cast<double>(now.live_blocks));
  idle.add("", now.stale_bytes.value_or(0));
  cpu.add("", now.time);

  Family bytes{"plumb_site_stale_bytes", "Memory of a site that is called a leak.", {}};
  Family objects{"plumb_site_stale_objects", "Blocks of a site that is called a leak.", {}};
  Family sure{"plumb_site_confidence", "How sure the verdict is, 0 to 1.", {}};
  Count rest;
  std::size_t listed = 0;
  for (const Leak& leak : report.leaks) {
    if (leak.hidden()) continue;
    if (++listed > most_sites) {
      rest += leak.total();
      continue;
    }
    const std::string labels = labels_of(leak);
    bytes.add(labels, static_cast<double>(leak.total().bytes));
    objects.add(labels, static_cast<double>(leak.total().blocks));
    sure.add(labels, leak.confidence);
  }
  if (rest.blocks != 0) {
    bytes.add("site=\"other\"", static_cast<double>(rest.bytes));
    objects.add("site=\"other\"", static_cast<double>(rest.blocks));
  }
  std::string text;
  for (const Family* family : {&heap, &blocks, &idle, &cpu, &bytes, &objects, &sure}) {
    text += family->text();
  }
  return text;
}

Result<void> serve_metrics(std::uint16_t port, const std::function<Result<std::string>()>& text,
                           const std::function<void(std::uint16_t)>& ready) {
  const Descriptor server(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  setsockopt(server.number(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(server.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      listen(server.number(), 16) != 0) {
    return fail(fmt::format("127.0.0.1:{}", port),
                fmt::format("cannot listen: {}", std::strerror(errno)), "choose another port");
  }
  socklen_t size = sizeof address;
  getsockname(server.number(), reinterpret_cast<sockaddr*>(&address), &size);
  ready(ntohs(address.sin_port));
  while (true) {
    pollfd wait{server.number(), POLLIN, 0};
    const int came = poll(&wait, 1, kCheckMilliseconds);
    // Somebody must notice that the program has ended.
    if (came == 0) {
      if (const Result<std::string> alive = text(); !alive) return std::unexpected(alive.error());
      continue;
    }
    const Descriptor client(accept4(server.number(), nullptr, nullptr, SOCK_CLOEXEC));
    if (client.number() < 0) continue;
    const timeval limit{kClientSeconds, 0};
    setsockopt(client.number(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(client.number(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    const std::string request = read_request(client.number());
    if (!request.starts_with("GET /metrics ") && !request.starts_with("GET /metrics?")) {
      answer(client.number(), "404 Not Found", "text/plain", "only /metrics is here\n");
      continue;
    }
    const Result<std::string> body = text();
    if (!body) {
      answer(client.number(), "503 Service Unavailable", "text/plain", "the program has ended\n");
      return std::unexpected(body.error());
    }
    answer(client.number(), "200 OK", "text/plain; version=0.0.4; charset=utf-8", *body);
  }
}

}  // namespace plumb
