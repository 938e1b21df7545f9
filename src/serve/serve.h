// The small HTTP server behind `plumb watch --serve`: it shows one page to the one
// person who was given its address.
//
// What others can reach it with, and what stands against it:
//   - other users and programs of this machine: a random token in the path, without
//     which nothing is answered;
//   - pages of other sites in the same browser, by name tricks (DNS rebinding) or
//     directly: the Host must be the address that is listened on, and requests that
//     say they come from another origin are refused;
//   - requests that change things: only GET and HEAD exist;
//   - slow or endless requests: bounded in time and length, one at a time.
// Loopback unless the user names another address.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/descriptor.h"
#include "base/result.h"

namespace plumb {

struct ServeAddress {
  std::string host = "127.0.0.1";  // numeric, IPv4
  std::uint16_t port = 0;          // 0: any that is free
};

// "", "8080", "127.0.0.1:8080", "localhost:8080", "0.0.0.0:8080".
Result<ServeAddress> serve_address(std::string_view text);

// 32 hexadecimal digits that nobody can guess.
Result<std::string> random_token();

struct Answer {
  int status = 200;
  std::string type;  // Content-Type
  std::string body;
};

// What a request gets, and what is asked of `pages` ("", "data", "data?have=3", ...)
// when it is a right one.
Answer answer_to(std::string_view request, std::string_view authority, std::string_view token,
                 const std::function<Answer(std::string_view)>& pages);

// A port that is listened on: who comes before `serve` is called waits for it.
class Listening {
 public:
  // An Error when the port cannot be had.
  static Result<Listening> at(const ServeAddress& address);

  const std::string& authority() const { return authority_; }  // "127.0.0.1:8080"
  int socket() const { return socket_->number(); }

 private:
  std::unique_ptr<Descriptor> socket_;
  std::string authority_;
};

// Answers until `goes_on` says no; it is asked at least twice a second.
void serve(const Listening& listening, const std::string& token,
           const std::function<Answer(std::string_view)>& pages,
           const std::function<bool()>& goes_on);

}  // namespace plumb
