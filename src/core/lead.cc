#include "core/lead.h"

#include <algorithm>
#include <string_view>

#include "core/allocator_names.h"

namespace plumb {

namespace {

bool is_library_header(std::string_view file) {
  return file.starts_with("/usr/include/") || file.starts_with("/usr/local/include/") ||
         file.starts_with("/usr/lib/") || file.find("/include/c++/") != std::string_view::npos;
}

bool is_system_library(const Frame& frame, const Report& report) {
  if (!frame.module || frame.module->index >= report.modules.size()) return false;
  std::string_view path = report.modules[frame.module->index].path;
  if (path.starts_with("/usr/")) path.remove_prefix(4);
  return path.starts_with("/lib/") || path.starts_with("/lib64/") || path.starts_with("/lib32/");
}

bool has_line(const Frame& frame) { return !frame.file.empty() && frame.line.value_or(0) > 0; }

}  // namespace

bool is_foreign(const Frame& frame, const Report& report) {
  return is_library_header(frame.file) || is_system_library(frame, report);
}

std::span<const Frame> program_frames(const Stack& stack) {
  const Frame* user = user_frame(stack);
  if (user == nullptr) return {};
  const std::span<const Frame> frames =
      std::span(stack).subspan(static_cast<std::size_t>(user - stack.data()));
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const std::string& name = frames[i].function;
    if (name == "main" || name.starts_with("main(")) return frames.first(i + 1);
    if (i > 0 && is_start_up_function(name)) return frames.first(i);
  }
  return frames;
}

Lead lead_of(const Stack& stack, const Report& report) {
  const std::span<const Frame> frames = program_frames(stack);
  if (frames.empty()) return {};
  const auto own = [&](const Frame& frame) { return !is_foreign(frame, report); };
  const auto own_source = [&](const Frame& frame) { return own(frame) && has_line(frame); };
  auto at = std::ranges::find_if(frames, own_source);
  if (at == frames.end()) at = std::ranges::find_if(frames, own);
  if (at == frames.end()) at = frames.begin();
  return {&*at, at == frames.begin() ? nullptr : &*std::prev(at)};
}

const Frame* primary_frame(const Leak& leak, const Report& report) {
  if (leak.loss && !leak.loss->stack.empty()) return lead_of(leak.loss->stack, report).frame;
  if (!leak.path.empty()) return &leak.path.back().location;
  return lead_of(leak.allocation.stack, report).frame;
}

}  // namespace plumb
