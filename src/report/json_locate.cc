#include "report/json_locate.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace plumb::json {
namespace {

// Takes every event and keeps nothing but the depth.
class Watcher : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool key(string_t&) override { return true; }
  bool start_object(std::size_t) override { return enter(); }
  bool start_array(std::size_t) override { return enter(); }
  bool end_object() override { return leave(); }
  bool end_array() override { return leave(); }
  bool parse_error(std::size_t taken, const std::string&,
                   const nlohmann::detail::exception& error) override {
    // The byte taken last is the one that did not fit; the end counts as one.
    flaw = {taken == 0 ? 0 : taken - 1, short_reason(error.what())};
    return false;
  }

  Flaw flaw;
  bool too_deep = false;

 private:
  bool enter() {
    too_deep = ++depth_ > kDeepest;
    return !too_deep;
  }
  bool leave() {
    --depth_;
    return true;
  }

  // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax
  // error while parsing value - REASON; last read: 'TOKEN'; expected X" down
  // to the reason: the token can be anything and 100 MB long.
  static std::string short_reason(std::string_view message) {
    message = message.substr(0, message.find("; last read: '"));
    // Numbers that no double holds are told as "number overflow parsing 'TOKEN'".
    message = message.substr(0, message.find(" parsing '"));
    if (const std::size_t dash = message.find(" - "); dash != std::string_view::npos) {
      message.remove_prefix(dash + 3);
    } else if (const std::size_t code = message.find("] "); code != std::string_view::npos) {
      message.remove_prefix(code + 2);
    }
    return to_utf8(message);
  }

  std::size_t depth_ = 0;
};

// Where the bracket stands that is one too many. The text is JSON up to there.
std::size_t too_deep_at(std::string_view text) {
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char byte = text[at];
    if (byte == '"') {
      in_string = !in_string;
    } else if (in_string) {
      if (byte == '\\') ++at;
    } else if (byte == '[' || byte == '{') {
      if (++depth > kDeepest) return at;
    } else if (byte == ']' || byte == '}') {
      --depth;
    }
  }
  return text.size();
}

}  // namespace

std::optional<Flaw> find_flaw(std::string_view text) {
  Watcher watcher;
  if (nlohmann::json::sax_parse(text.begin(), text.end(), &watcher)) return std::nullopt;
  if (watcher.too_deep) {
    return Flaw{too_deep_at(text), fmt::format("nested more than {} levels deep", kDeepest)};
  }
  return std::move(watcher.flaw);
}

std::string line_and_column(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t last = before.rfind('\n');
  const std::size_t column =
      last == std::string_view::npos ? before.size() : before.size() - last - 1;
  return fmt::format(":{}:{}", line, column + 1);
}

}  // namespace plumb::json
