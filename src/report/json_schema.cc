#include "report/json_schema.h"

#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "core/report.h"
#include "report/json_string.h"

namespace plumb::json {
namespace {

std::optional<int> digits(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

}  // namespace

Result<int> schema_minor(std::string_view name) {
  const auto other = [&] { return not_a_report(fmt::format("\"schema\" is {}", in_quotes(name))); };
  const std::size_t slash = name.find('/');
  if (slash == std::string_view::npos || name.substr(0, slash) != kSchemaName) return other();
  const std::string_view version = name.substr(slash + 1);
  const std::size_t dot = version.find('.');
  const std::optional<int> major = digits(version.substr(0, dot));
  const std::optional<int> minor =
      dot == std::string_view::npos ? 0 : digits(version.substr(dot + 1));
  if (!major || !minor) return other();
  if (*major != kSchemaMajor) {
    return fail("schema", fmt::format("format {}, this build reads {}", *major, kSchemaMajor),
                "use the plumb that wrote it, or a newer one");
  }
  return *minor;
}

std::unexpected<Error> not_a_report(std::string_view why) {
  return fail("", fmt::format("not a plumb report: {}", why),
              "plumb reads what it wrote with --format=json");
}

}  // namespace plumb::json
