#include "report/text_stack.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "core/allocator_names.h"
#include "core/leak.h"
#include "report/text_cells.h"

namespace plumb {

namespace {

constexpr std::size_t kChainLength = 5;
constexpr std::size_t kLongestFile = 30;  // columns of a name behind a function

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

bool is_own_source(const Frame& frame, const Report& report) {
  return !frame.file.empty() && frame.line.value_or(0) > 0 && !is_library_header(frame.file) &&
         !is_system_library(frame, report);
}

bool same_function(const Frame& a, const Frame& b) {
  return !a.function.empty() && a.function == b.function && a.file == b.file;
}

// From `first` to main, or to the outermost frame that is the program's own.
std::span<const Frame> outwards(const Stack& stack, const Frame* first) {
  const std::span<const Frame> frames =
      std::span(stack).subspan(static_cast<std::size_t>(first - stack.data()));
  const auto main = std::find_if(frames.begin(), frames.end(), [](const Frame& frame) {
    return frame.function == "main" || frame.function.starts_with("main(");
  });
  if (main != frames.end()) {
    return frames.first(static_cast<std::size_t>(main - frames.begin()) + 1);
  }
  std::size_t last = frames.size();
  while (last > 1 && is_start_up_function(frames[last - 1].function)) --last;
  return frames.first(last);
}

}  // namespace

Lead lead_of(const Stack& stack, const Report& report) {
  const Frame* user = user_frame(stack);
  if (user == nullptr) return {};
  const auto index = static_cast<std::size_t>(user - stack.data());
  for (std::size_t i = index; i < stack.size(); ++i) {
    if (is_own_source(stack[i], report)) return {&stack[i], i > index ? &stack[i - 1] : nullptr, i};
  }
  return {user, nullptr, index};
}

std::span<const Frame> program_frames(const Stack& stack) {
  const Frame* user = user_frame(stack);
  return user == nullptr ? std::span<const Frame>() : outwards(stack, user);
}

std::span<const Frame> telling_frames(const Stack& stack, const Report& report) {
  const Lead lead = lead_of(stack, report);
  return lead.frame == nullptr ? std::span<const Frame>() : outwards(stack, lead.frame);
}

void add_chain(Paragraph& line, std::span<const Frame> frames, const Places& places,
               std::size_t room) {
  std::size_t shown = 0;
  for (std::size_t i = 0; i < frames.size(); ++shown) {
    line.add(" ");
    if (shown == kChainLength && frames.size() - i > 1) {
      line.glue(fmt::format("<- {} more", frames.size() - i), Tone::faint);
      return;
    }
    const Frame& frame = frames[i];
    std::size_t next = i + 1;
    while (next < frames.size() && same_function(frame, frames[next])) ++next;
    std::string behind = next - i > 1 ? fmt::format(" x{}", next - i) : "";
    if (i > 0 && !frame.file.empty() && frame.line.value_or(0) > 0) {
      const std::string file = shortened(printable(base_name(frame.file)), kLongestFile);
      behind += fmt::format(" ({}:{})", file, *frame.line);
    }
    const std::string name = shortened(places.function(frame), room > 3 ? room - 3 : 1);
    line.glue(i == 0 ? "in " : "<- ", i == 0 ? Tone::plain : Tone::faint);
    line.glue(name, i == 0 ? Tone::strong : Tone::plain);
    if (3 + columns(name) + columns(behind) <= room) {
      line.glue(behind, Tone::faint);
    } else {
      line.add(behind, Tone::faint);
    }
    i = next;
  }
}

std::string write_frames(const Stack& stack, const Places& places, const Page& page,
                         std::size_t indent) {
  std::string text;
  for (const Frame& frame : stack) {
    Paragraph line(indent, indent + 4);
    const std::string where = places.column(frame);
    const std::string function = places.function(frame);
    line.add(where);
    if (function != where) line.add(" in ").add(function, Tone::strong);
    const std::string address = places.address(frame);
    if (!address.empty() && address != where && address != function) {
      line.add(" (" + address + ")", Tone::faint);
    }
    if (frame.inlined) line.add(" (inlined)", Tone::faint);
    text += line.render(page);
  }
  return text;
}

}  // namespace plumb
