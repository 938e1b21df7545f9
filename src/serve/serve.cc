#include "serve/serve.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "base/descriptor.h"

namespace plumb {

namespace {

constexpr std::size_t kMostRequest = 8192;
constexpr int kWaitMilliseconds = 500;
constexpr auto kClientTime = std::chrono::seconds(2);

// Takes as long for a wrong token as for the right one.
bool same_secret(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  }
  return difference == 0;
}

bool same_word(std::string_view a, std::string_view b) {
  return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// The value of a header; nothing when it is not there, and nothing either when it is
// there twice, since two readers might then take different ones.
std::optional<std::string_view> header(std::string_view lines, std::string_view name) {
  std::optional<std::string_view> found;
  while (!lines.empty()) {
    const std::size_t end = lines.find("\r\n");
    const std::string_view line = lines.substr(0, end);
    const std::size_t colon = line.find(':');
    if (colon != line.npos && same_word(line.substr(0, colon), name)) {
      if (found) return std::nullopt;
      found = trimmed(line.substr(colon + 1));
    }
    lines.remove_prefix(end == lines.npos ? lines.size() : end + 2);
  }
  return found;
}

// The names by which a browser may know the address that we listen on. On all of
// the machine's addresses, any number will do: only names can be made to lead here.
bool is_our_host(std::string_view host, std::string_view authority) {
  if (same_word(host, authority)) return true;
  const std::string_view port = authority.substr(authority.rfind(':'));
  if (!host.ends_with(port)) return false;
  host.remove_suffix(port.size());
  in_addr parsed{};
  if (authority.starts_with("0.0.0.0:")) {
    return inet_pton(AF_INET, std::string(host).c_str(), &parsed) == 1;
  }
  return authority.starts_with("127.0.0.1:") && same_word(host, "localhost");
}

Answer refused(int status, std::string_view why) {
  return {status, "text/plain; charset=utf-8", fmt::format("{}\n", why)};
}

const char* reason(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 204:
      return "No Content";
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    default:
      return "Error";
  }
}

// As far as the empty line; what came when the time is over.
std::string read_request(int client) {
  std::string request;
  char part[2048];
  const auto end = std::chrono::steady_clock::now() + kClientTime;
  while (request.find("\r\n\r\n") == std::string::npos && request.size() < kMostRequest &&
         std::chrono::steady_clock::now() < end) {
    const ssize_t got = recv(client, part, sizeof part, 0);
    if (got <= 0) break;
    request.append(part, static_cast<std::size_t>(got));
  }
  return request;
}

void send_answer(int client, const Answer& answer, bool with_body) {
  std::string all = fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n"
      "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\n"
      "Referrer-Policy: no-referrer\r\nCross-Origin-Resource-Policy: same-origin\r\n"
      "Cross-Origin-Opener-Policy: same-origin\r\n\r\n",
      answer.status, reason(answer.status), answer.type, answer.body.size());
  if (with_body) all += answer.body;
  std::string_view rest = all;
  while (!rest.empty()) {
    const ssize_t put = send(client, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (put <= 0) return;
    rest.remove_prefix(static_cast<std::size_t>(put));
  }
}

}  // namespace

Result<ServeAddress> serve_address(std::string_view text) {
  ServeAddress address;
  const std::size_t colon = text.rfind(':');
  std::string_view port = text;
  if (colon != text.npos) {
    address.host = std::string(text.substr(0, colon));
    port = text.substr(colon + 1);
  }
  if (address.host == "localhost" || address.host.empty()) address.host = "127.0.0.1";
  in_addr parsed{};
  const bool good_host = inet_pton(AF_INET, address.host.c_str(), &parsed) == 1;
  const auto [end, problem] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  const bool good_port =
      port.empty() || (problem == std::errc() && end == port.data() + port.size());
  if (!good_host || !good_port) {
    return fail({}, fmt::format("--serve: '{}' is no ADDR:PORT", text),
                "write --serve, --serve=8080 or --serve=127.0.0.1:8080");
  }
  return address;
}

Result<std::string> random_token() {
  unsigned char bytes[16];
  if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes) {
    return fail({}, "the system gives no random numbers");
  }
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

Answer answer_to(std::string_view request, std::string_view authority, std::string_view token,
                 const std::function<Answer(std::string_view)>& pages) {
  const std::size_t end = request.find("\r\n");
  if (end == request.npos || request.find("\r\n\r\n") == request.npos) {
    return refused(400, "this is no request");
  }
  const std::string_view line = request.substr(0, end);
  const std::string_view lines = request.substr(end + 2);
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == line.npos || last == first || !line.substr(last + 1).starts_with("HTTP/1.")) {
    return refused(400, "this is no request");
  }
  const std::string_view method = line.substr(0, first);
  const std::string_view path = line.substr(first + 1, last - first - 1);
  const std::optional<std::string_view> host = header(lines, "Host");
  if (!host || !is_our_host(*host, authority)) return refused(403, "this is another host's page");
  const std::optional<std::string_view> origin = header(lines, "Origin");
  if (origin && !(origin->starts_with("http://") && is_our_host(origin->substr(7), authority))) {
    return refused(403, "another site asks");
  }
  const std::optional<std::string_view> site = header(lines, "Sec-Fetch-Site");
  if (site && *site != "same-origin" && *site != "none") return refused(403, "another site asks");
  if (method != "GET" && method != "HEAD") return refused(405, "nothing can be changed here");
  if (path.size() < token.size() + 2 || path.front() != '/' ||
      !same_secret(path.substr(1, token.size()), token) || path[token.size() + 1] != '/') {
    return refused(404, "nothing is here: use the address that plumb printed");
  }
  return pages(path.substr(token.size() + 2));
}

Result<Listening> Listening::at(const ServeAddress& address) {
  Listening listening;
  listening.socket_ =
      std::make_unique<Descriptor>(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int number = listening.socket();
  const int on = 1;
  setsockopt(number, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(address.port);
  inet_pton(AF_INET, address.host.c_str(), &at.sin_addr);
  if (bind(number, reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0 ||
      listen(number, 16) != 0) {
    return fail(fmt::format("{}:{}", address.host, address.port),
                fmt::format("cannot listen: {}", std::strerror(errno)), "choose another port");
  }
  socklen_t size = sizeof at;
  getsockname(number, reinterpret_cast<sockaddr*>(&at), &size);
  listening.authority_ = fmt::format("{}:{}", address.host, ntohs(at.sin_port));
  return listening;
}

void serve(const Listening& listening, const std::string& token,
           const std::function<Answer(std::string_view)>& pages,
           const std::function<bool()>& goes_on) {
  while (goes_on()) {
    pollfd wait{listening.socket(), POLLIN, 0};
    if (poll(&wait, 1, kWaitMilliseconds) <= 0) continue;
    const Descriptor client(accept4(listening.socket(), nullptr, nullptr, SOCK_CLOEXEC));
    if (client.number() < 0) continue;
    const timeval limit{std::chrono::seconds(kClientTime).count(), 0};
    setsockopt(client.number(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(client.number(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    const std::string request = read_request(client.number());
    if (request.empty()) continue;
    const Answer answer = answer_to(request, listening.authority(), token, pages);
    send_answer(client.number(), answer, !request.starts_with("HEAD "));
  }
}

}  // namespace plumb
