#include "report/sarif_place.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "base/text.h"
#include "report/text_cells.h"

namespace plumb {
namespace {

// A stack is shown from both ends: the innermost frames say what happened, the
// outermost who asked for it.
constexpr std::size_t kInnermostFrames = 192;
constexpr std::size_t kOutermostFrames = 64;
// Readers of SARIF take integers as 32 bits.
constexpr std::uint64_t kLargestInteger = std::numeric_limits<std::int32_t>::max();

std::uint32_t code_point_column(std::string_view line, std::uint32_t byte_column) {
  if (byte_column - 1 > line.size() || !is_utf8(line)) return byte_column;
  const std::string_view before = line.substr(0, byte_column - 1);
  const auto starts_character = [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  };
  return static_cast<std::uint32_t>(std::ranges::count_if(before, starts_character)) + 1;
}

SarifJson logical_locations(const Frame& frame, std::string_view module) {
  SarifJson list = SarifJson::array();
  if (!frame.function.empty() || !frame.linkage.empty()) {
    const std::string& name = frame.function.empty() ? frame.linkage : frame.function;
    SarifJson function = {{"fullyQualifiedName", printable(name)}};
    if (!frame.linkage.empty()) function["decoratedName"] = printable(frame.linkage);
    function["kind"] = "function";
    list.push_back(std::move(function));
  }
  if (frame.file.empty() && !module.empty()) {
    list.push_back({{"name", printable(base_name(module))},
                    {"fullyQualifiedName", printable(module)},
                    {"kind", "module"}});
  }
  return list;
}

}  // namespace

SarifJson sarif_message(std::string_view text) { return {{"text", std::string(text)}}; }

SarifPlaces::SarifPlaces(const Report& report, std::string_view source_root)
    : report_(report), uris_(source_root) {}

SarifJson SarifPlaces::artifact(std::string_view path) const {
  const FileUri uri = uris_.file(path);
  SarifJson artifact = {{"uri", uri.uri}};
  if (uri.below_root) artifact["uriBaseId"] = kSarifSourceRoot;
  return artifact;
}

SarifJson SarifPlaces::directory(std::string_view path) const {
  const std::string uri = uris_.directory(path);
  return uri.empty() ? SarifJson() : SarifJson{{"uri", uri}};
}

std::string_view SarifPlaces::module_path(const Frame& frame) const {
  if (!frame.module || frame.module->index >= report_.modules.size()) return {};
  return report_.modules[frame.module->index].path;
}

bool SarifPlaces::has_file(const Frame& frame) const {
  return !frame.file.empty() || !module_path(frame).empty();
}

bool SarifPlaces::in_source_tree(const Frame& frame) const {
  return !frame.file.empty() && (!uris_.has_root() || uris_.file(frame.file).below_root);
}

SarifJson SarifPlaces::physical(const Frame& frame) {
  if (frame.file.empty()) {
    const std::string_view module = module_path(frame);
    if (module.empty()) return {};
    SarifJson place = {{"artifactLocation", artifact(module)}};
    if (frame.offset && *frame.offset <= kLargestInteger) {
      place["address"] = {{"relativeAddress", *frame.offset}, {"kind", "instruction"}};
    }
    return place;
  }
  SarifJson place = {{"artifactLocation", artifact(frame.file)}};
  const std::uint32_t line = frame.line.value_or(0);
  if (line == 0 || line > kLargestInteger) return place;
  place["region"] = {{"startLine", line}};
  const std::uint32_t column = frame.column.value_or(0);
  if (column != 0 && column < kLargestInteger) {
    place["region"]["startColumn"] = code_point_column(sources_.line(frame.file, line), column);
  }
  return place;
}

SarifJson SarifPlaces::location(const Frame& frame, std::string_view message) {
  SarifJson location = SarifJson::object();
  if (SarifJson place = physical(frame); !place.is_null()) {
    location["physicalLocation"] = std::move(place);
  }
  if (SarifJson names = logical_locations(frame, module_path(frame)); !names.empty()) {
    location["logicalLocations"] = std::move(names);
  }
  if (!message.empty()) location["message"] = sarif_message(message);
  return location;
}

SarifJson SarifPlaces::stack(const Stack& stack, std::string_view message) {
  SarifJson frames = SarifJson::array();
  std::string text(message);
  const bool elided = stack.size() > kInnermostFrames + kOutermostFrames;
  const std::size_t gap_end = stack.size() - kOutermostFrames;
  for (std::size_t i = 0; i < stack.size(); ++i) {
    if (elided && i == kInnermostFrames) {
      text += fmt::format(" After the innermost {}, {} are left out.", kInnermostFrames,
                          count_of(gap_end - i, "frame"));
      i = gap_end;
    }
    SarifJson frame = {{"location", location(stack[i])}};
    if (const std::string_view module = module_path(stack[i]); !module.empty()) {
      frame["module"] = printable(base_name(module));
    }
    frames.push_back(std::move(frame));
  }
  return {{"message", sarif_message(text)}, {"frames", std::move(frames)}};
}

}  // namespace plumb
