#include "serve/serve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace plumb {
namespace {

constexpr const char* kToken = "0123456789abcdef0123456789abcdef";
constexpr const char* kHost = "127.0.0.1:8080";

Answer ask(const std::string& request) {
  return answer_to(request, kHost, kToken, [](std::string_view path) {
    return Answer{200, "text/plain", "page " + std::string(path)};
  });
}

std::string get(const std::string& path, const std::string& headers = "Host: 127.0.0.1:8080\r\n") {
  return "GET " + path + " HTTP/1.1\r\n" + headers + "\r\n";
}

TEST(Serve, AnswersWhoKnowsTheAddress) {
  EXPECT_EQ(ask(get(std::string("/") + kToken + "/")).body, "page ");
  EXPECT_EQ(ask(get(std::string("/") + kToken + "/data?have=3")).body, "page data?have=3");
  EXPECT_EQ(ask(get(std::string("/") + kToken + "/", "host:  LOCALHOST:8080 \r\n")).status, 200);
  const std::string own =
      "Host: 127.0.0.1:8080\r\nOrigin: http://127.0.0.1:8080\r\nSec-Fetch-Site: same-origin\r\n";
  EXPECT_EQ(ask(get(std::string("/") + kToken + "/data", own)).status, 200);
}

TEST(Serve, AnswersNobodyElse) {
  EXPECT_EQ(ask(get("/")).status, 404);
  EXPECT_EQ(ask(get(std::string("/") + kToken)).status, 404);
  EXPECT_EQ(ask(get("/1123456789abcdef0123456789abcdef/")).status, 404);
  EXPECT_EQ(ask(get(std::string("//") + kToken + "/")).status, 404);
}

// Another name that was made to lead here.
TEST(Serve, RefusesOtherHosts) {
  const std::string path = std::string("/") + kToken + "/";
  for (const char* headers :
       {"Host: evil.example:8080\r\n", "Host: 127.0.0.1\r\n", "Host: 127.0.0.1:8081\r\n", "",
        "Host: 127.0.0.1:8080.evil.example\r\n",
        "Host: evil.example\r\nHost: 127.0.0.1:8080\r\n"}) {
    EXPECT_EQ(ask(get(path, headers)).status, 403) << headers;
  }
}

TEST(Serve, OnAllAddressesTakesNumbersButNoNames) {
  const auto status = [](const char* host) {
    const std::string request =
        get(std::string("/") + kToken + "/", std::string("Host: ") + host + "\r\n");
    return answer_to(request, "0.0.0.0:80", kToken, [](std::string_view) { return Answer{}; })
        .status;
  };
  EXPECT_EQ(status("192.0.2.7:80"), 200);
  EXPECT_EQ(status("192.0.2.7:81"), 403);
  EXPECT_EQ(status("evil.example:80"), 403);
}

TEST(Serve, RefusesOtherSites) {
  const std::string path = std::string("/") + kToken + "/";
  const std::string host = "Host: 127.0.0.1:8080\r\n";
  for (const char* header : {"Origin: http://evil.example\r\n", "Origin: null\r\n",
                             "Sec-Fetch-Site: cross-site\r\n", "Sec-Fetch-Site: same-site\r\n"}) {
    EXPECT_EQ(ask(get(path, host + header)).status, 403) << header;
  }
}

TEST(Serve, ChangesNothing) {
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS"}) {
    EXPECT_EQ(
        ask(std::string(method) + " /" + kToken + "/ HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n")
            .status,
        405);
  }
}

TEST(Serve, RefusesWhatIsNoRequest) {
  for (const char* text : {"", "\r\n\r\n", "GET\r\n\r\n", "GET /\r\n\r\n", "GET / HTTP/1.1\r\n",
                           "GET  HTTP/9\r\n\r\n"}) {
    EXPECT_EQ(ask(text).status, 400) << text;
  }
}

TEST(Serve, ReadsAddresses) {
  EXPECT_EQ(serve_address("")->host, "127.0.0.1");
  EXPECT_EQ(serve_address("")->port, 0);
  EXPECT_EQ(serve_address("8080")->port, 8080);
  EXPECT_EQ(serve_address("localhost:1")->host, "127.0.0.1");
  EXPECT_EQ(serve_address("0.0.0.0:99")->host, "0.0.0.0");
  for (const char* bad : {"x", "1.2.3:4", "host:80", "127.0.0.1:99999", "127.0.0.1:1x"}) {
    EXPECT_FALSE(serve_address(bad)) << bad;
  }
}

TEST(Serve, TokensDiffer) {
  EXPECT_EQ(random_token()->size(), 32U);
  EXPECT_NE(*random_token(), *random_token());
}

}  // namespace
}  // namespace plumb
