#include "watch/metrics.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plumb {
namespace {

using testing::HasSubstr;

Report three_sites() {
  Report report;
  report.series.push_back({12.5, 4096, 7, 100, {}});
  for (int i = 0; i < 3; ++i) {
    Leak leak;
    leak.kind = Kind::stale;
    leak.id = fmt::format("000000000000000{}", i);
    leak.confidence = 0.5;
    leak.direct.blocks = 10;
    leak.direct.bytes = 1000;
    Frame frame;
    frame.function = "f\"\\\n";
    frame.file = "/src/a.c";
    frame.line = 7;
    leak.allocation.stack.push_back(frame);
    report.leaks.push_back(leak);
  }
  return report;
}

TEST(Metrics, AreExposition) {
  const std::string text = metrics_text(three_sites(), 2);
  EXPECT_THAT(text, HasSubstr("# TYPE plumb_heap_bytes gauge\nplumb_heap_bytes 4096\n"));
  EXPECT_THAT(text, HasSubstr("plumb_site_stale_bytes{site=\"0000000000000001\","
                              "function=\"f\\\"\\\\\\n\",place=\"a.c:7\"} 1000\n"));
  EXPECT_THAT(text, HasSubstr("plumb_site_stale_bytes{site=\"other\"} 1000\n"));
  EXPECT_EQ(text.find("0000000000000002"), std::string::npos);
  EXPECT_EQ(text.back(), '\n');
}

std::string get(std::uint16_t port, const std::string& request) {
  const int client = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  send(client, request.data(), request.size(), MSG_NOSIGNAL);
  std::string answer;
  char part[4096];
  for (ssize_t got = 0; (got = recv(client, part, sizeof part, 0)) > 0;) {
    answer.append(part, static_cast<std::size_t>(got));
  }
  close(client);
  return answer;
}

TEST(Metrics, AreServedOnLoopbackUntilTheEnd) {
  std::atomic<int> port = 0;
  std::atomic<bool> ended = false;
  std::thread server([&] {
    const Result<void> result = serve_metrics(
        0,
        [&]() -> Result<std::string> {
          if (ended) return fail({}, "gone");
          return metrics_text(three_sites());
        },
        [&](std::uint16_t number) { port = number; });
    EXPECT_FALSE(result);
  });
  while (port == 0) std::this_thread::yield();
  const auto number = static_cast<std::uint16_t>(port);
  EXPECT_THAT(get(number, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"),
              testing::AllOf(HasSubstr("200 OK"), HasSubstr("version=0.0.4"),
                             HasSubstr("plumb_heap_bytes 4096")));
  EXPECT_THAT(get(number, "GET /etc/passwd HTTP/1.1\r\n\r\n"), HasSubstr("404"));
  EXPECT_THAT(get(number, std::string(20000, 'x')), testing::Not(HasSubstr("200 OK")));
  ended = true;
  EXPECT_THAT(get(number, "GET /metrics HTTP/1.1\r\n\r\n"), HasSubstr("503"));
  server.join();
}

}  // namespace
}  // namespace plumb
