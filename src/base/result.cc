#include "base/result.h"

#include <fmt/format.h>

#include "base/text.h"

namespace plumb {

namespace {

// Errors quote files and names that anybody may have written: what a terminal
// could take for a command is shown, not sent.
std::string harmless(std::string_view quoted) {
  std::string text;
  for (const char c : to_utf8(quoted)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) {
      text += fmt::format("\\x{:02x}", byte);
    } else {
      text += c;
    }
  }
  return text;
}

}  // namespace

std::string Error::message() const {
  std::string text = "plumb: error: ";
  if (!where.empty()) text += harmless(where) + ": ";
  text += harmless(what);
  text += '\n';
  if (!hint.empty()) text += fmt::format("  hint: {}\n", harmless(hint));
  return text;
}

Error Error::in(std::string_view file) const {
  Error copy = *this;
  if (where.empty() || where.front() == ':') {
    copy.where = std::string(file) + where;
  } else {
    copy.where = fmt::format("{}: {}", file, where);
  }
  return copy;
}

}  // namespace plumb
