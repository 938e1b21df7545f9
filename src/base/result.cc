#include "base/result.h"

#include <fmt/format.h>

namespace plumb {

std::string Error::message() const {
  std::string text = "plumb: error: ";
  if (!where.empty()) text += where + ": ";
  text += what;
  text += '\n';
  if (!hint.empty()) text += fmt::format("  hint: {}\n", hint);
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
