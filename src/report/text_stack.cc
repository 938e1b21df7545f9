#include "report/text_stack.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "report/text_cells.h"

namespace plumb {

namespace {

constexpr std::size_t kChainLength = 5;
constexpr std::size_t kLongestFile = 30;  // columns of a name behind a function

bool has_line(const Frame& frame) { return !frame.file.empty() && frame.line.value_or(0) > 0; }

bool same_function(const Frame& a, const Frame& b) {
  return !a.function.empty() && a.function == b.function && a.file == b.file;
}

}  // namespace

std::vector<const Frame*> telling_frames(const Stack& stack, const Report& report) {
  const Lead lead = lead_of(stack, report);
  if (lead.frame == nullptr) return {};
  const std::span<const Frame> all = program_frames(stack);
  const auto frames = all.subspan(static_cast<std::size_t>(lead.frame - all.data()));
  const bool lead_is_foreign = is_foreign(*lead.frame, report);
  std::vector<const Frame*> telling;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const bool called_by_own = i + 1 < frames.size() && !is_foreign(frames[i + 1], report);
    if (lead_is_foreign || called_by_own || !is_foreign(frames[i], report)) {
      telling.push_back(&frames[i]);
    }
  }
  return telling;
}

void add_chain(Paragraph& line, std::span<const Frame* const> frames, const Places& places,
               std::size_t room) {
  std::size_t shown = 0;
  for (std::size_t i = 0; i < frames.size(); ++shown) {
    line.add(" ");
    if (shown == kChainLength && frames.size() - i > 1) {
      line.glue(fmt::format("<- {} more", frames.size() - i), Tone::faint);
      return;
    }
    const Frame& frame = *frames[i];
    std::size_t next = i + 1;
    while (next < frames.size() && same_function(frame, *frames[next])) ++next;
    std::string behind = next - i > 1 ? fmt::format(" x{}", next - i) : "";
    if (i > 0 && has_line(frame)) {
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
