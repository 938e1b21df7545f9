#include "check/one_finding.h"

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>

#include <fmt/format.h>

namespace plumb::check {

namespace {

std::string place_of(const Frame& frame) {
  return fmt::format("{}:{}:{} {}", std::filesystem::path(frame.file).lexically_normal().string(),
                     frame.line.value_or(0), frame.column.value_or(0), frame.function);
}

std::string cause_of(const Leak& leak) {
  std::string out = fmt::format("{} {} {}", static_cast<int>(leak.kind), leak.resource,
                                leak.when ? static_cast<int>(*leak.when) : -1);
  for (const Frame& frame : leak.allocation.stack) out += '\n' + place_of(frame);
  if (leak.loss) {
    out += fmt::format("\n{}", leak.loss->cause ? static_cast<int>(*leak.loss->cause) : -1);
    for (const Frame& frame : leak.loss->stack) out += '\n' + place_of(frame);
    if (leak.loss->holder) out += '\n' + leak.loss->holder->name;
  }
  for (const Holder& holder : leak.holders) out += '\n' + holder.name;
  return out;
}

}  // namespace

void keep_one_of_each(std::vector<Leak>& leaks) {
  std::map<std::string, std::size_t> first;
  std::vector<Leak> kept;
  for (Leak& leak : leaks) {
    const auto [same, is_new] = first.try_emplace(cause_of(leak), kept.size());
    if (is_new) {
      kept.push_back(std::move(leak));
    } else if (leak.confidence > kept[same->second].confidence) {
      kept[same->second] = std::move(leak);
    }
  }
  leaks = std::move(kept);
}

}  // namespace plumb::check
