#include "run/sites.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

#include "base/text.h"
#include "core/allocator_names.h"
#include "core/function_name.h"

namespace plumb {

namespace {

// Tools differ in how far they unwind; this far names a site well enough.
constexpr std::size_t kCompared = 4;
constexpr std::size_t kMostFrames = 64;

std::optional<std::uint32_t> number_of(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// "x.c:5:3" or "x.c:5" into the frame; false when it is something else.
bool take_place(std::string_view text, Frame& frame) {
  std::string_view rest = text;
  std::optional<std::uint32_t> numbers[2];
  for (std::optional<std::uint32_t>& number : numbers) {
    const std::size_t colon = rest.rfind(':');
    if (colon == std::string_view::npos) break;
    number = number_of(rest.substr(colon + 1));
    if (!number) break;
    rest = rest.substr(0, colon);
  }
  if (!numbers[0] || rest.empty()) return false;
  frame.file = rest;
  frame.line = numbers[1] ? numbers[1] : numbers[0];
  return true;
}

// "#1 0x4da26a in main /src/leak.c:4:7", or "... in f (/lib/x.so+0x29)".
std::optional<Frame> lsan_frame(std::string_view line) {
  if (!line.starts_with('#')) return std::nullopt;
  const std::size_t in = line.find(" in ");
  Frame frame;
  if (in == std::string_view::npos) return frame;  // no name
  std::string_view rest = line.substr(in + 4);
  if (const std::size_t module = rest.rfind(" (/"); module != std::string_view::npos) {
    frame.function = rest.substr(0, module);
    return frame;
  }
  const std::size_t blank = rest.rfind(' ');
  if (blank != std::string_view::npos && take_place(rest.substr(blank + 1), frame)) {
    rest = rest.substr(0, blank);
  }
  frame.function = rest;
  return frame;
}

// "at 0x48407B4: malloc (vg_replace_malloc.c:381)", or "... (in /tmp/x)".
std::optional<Frame> memcheck_frame(std::string_view line) {
  if (!line.starts_with("at 0x") && !line.starts_with("by 0x")) return std::nullopt;
  const std::size_t colon = line.find(": ");
  if (colon == std::string_view::npos) return std::nullopt;
  Frame frame;
  std::string_view rest = line.substr(colon + 2);
  const std::size_t open = rest.rfind(" (");
  if (open != std::string_view::npos && rest.ends_with(')')) {
    const std::string_view place = rest.substr(open + 2, rest.size() - open - 3);
    if (place.starts_with("in ") || take_place(place, frame)) rest = rest.substr(0, open);
  }
  if (rest != "???") frame.function = rest;
  return frame;
}

// "==123==    by 0x..." -> "by 0x...".
std::string_view without_mark(std::string_view line) {
  if (line.starts_with("==")) {
    const std::size_t end = line.find("==", 2);
    if (end != std::string_view::npos) line = line.substr(end + 2);
  }
  return trim(line);
}

std::string_view element(std::string_view text, std::string_view name) {
  const std::string open = fmt::format("<{}>", name);
  const std::size_t begin = text.find(open);
  if (begin == std::string_view::npos) return {};
  const std::size_t end = text.find(fmt::format("</{}>", name), begin);
  if (end == std::string_view::npos) return {};
  return text.substr(begin + open.size(), end - begin - open.size());
}

std::string plain_text(std::string_view xml) {
  std::string result(xml);
  constexpr std::pair<std::string_view, std::string_view> kEntities[] = {
      {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&apos;", "'"}, {"&amp;", "&"}};
  for (const auto& [entity, text] : kEntities) {
    for (std::size_t at = 0; (at = result.find(entity, at)) != std::string::npos; ++at) {
      result.replace(at, entity.size(), text);
    }
  }
  return result;
}

Stack xml_stack(std::string_view text) {
  Stack stack;
  constexpr std::string_view kFrame = "<frame>";
  for (std::size_t at = 0; (at = text.find(kFrame, at)) != std::string_view::npos;) {
    const std::size_t end = std::min(text.find("</frame>", at), text.size());
    const std::string_view inside = text.substr(at, end - at);
    Frame frame;
    frame.function = plain_text(element(inside, "fn"));
    frame.file = plain_text(element(inside, "file"));
    frame.line = number_of(element(inside, "line"));
    if (stack.size() < kMostFrames) stack.push_back(std::move(frame));
    at = end;
  }
  return stack;
}

std::string stem(const std::string& function) {
  return std::string(function_stem(normalised_function(function)));
}

// Each part that both know must be the same, and there must be one.
bool is_same(const Frame& left, const Frame& right) {
  const bool names = !left.function.empty() && !right.function.empty();
  if (names && stem(left.function) != stem(right.function)) return false;
  const bool lines = left.line && right.line && !left.file.empty() && !right.file.empty();
  if (lines && (*left.line != *right.line || base_name(left.file) != base_name(right.file))) {
    return false;
  }
  return names || lines;
}

Stack without_allocator(const Stack& stack) {
  const auto begin =
      std::ranges::find_if_not(stack, [](const Frame& frame) { return is_allocator_frame(frame); });
  return {begin, stack.end()};
}

}  // namespace

bool Sites::add(const Stack& stack) {
  Stack rest = without_allocator(stack);
  if (rest.size() > kCompared) rest.resize(kCompared);
  const bool known = std::ranges::any_of(
      rest, [](const Frame& frame) { return !frame.function.empty() || frame.line; });
  if (!known) return false;
  stacks_.push_back(std::move(rest));
  return true;
}

bool Sites::has(const Stack& stack) const {
  const Stack rest = without_allocator(stack);
  return std::ranges::any_of(stacks_, [&](const Stack& site) {
    const std::size_t count = std::min(site.size(), rest.size());
    return count != 0 && std::equal(site.begin(), site.begin() + static_cast<std::ptrdiff_t>(count),
                                    rest.begin(), is_same);
  });
}

Result<Sites> Sites::read(std::string_view text, std::string_view name) {
  Sites sites;
  if (text.find("<valgrindoutput>") != std::string_view::npos) {
    constexpr std::string_view kError = "<error>";
    for (std::size_t at = 0; (at = text.find(kError, at)) != std::string_view::npos;) {
      const std::size_t end = std::min(text.find("</error>", at), text.size());
      const std::string_view error = text.substr(at, end - at);
      if (element(error, "kind").starts_with("Leak_"))
        sites.add(xml_stack(element(error, "stack")));
      at = end;
    }
  } else {
    Stack stack;
    bool in_leak = false;
    const auto finish = [&] {
      if (in_leak) sites.add(stack);
      stack.clear();
      in_leak = false;
    };
    for (std::string_view line : split(text, '\n')) {
      line = without_mark(line);
      const bool lsan = line.find("leak of ") != std::string_view::npos &&
                        line.find("allocated from:") != std::string_view::npos;
      const bool memcheck = line.find(" in loss record ") != std::string_view::npos;
      if (lsan || memcheck) {
        finish();
        in_leak = true;
        continue;
      }
      std::optional<Frame> frame = lsan_frame(line);
      if (!frame) frame = memcheck_frame(line);
      if (frame && in_leak && stack.size() < kMostFrames) {
        stack.push_back(std::move(*frame));
      } else if (!frame) {
        finish();
      }
    }
    finish();
  }
  if (sites.count() == 0) {
    return fail(std::string(name), "no leak that can be recognised is in it",
                "give a JSON report of plumb's, a report of LeakSanitizer's, or memcheck's (text "
                "with --leak-check=full, or XML)");
  }
  return sites;
}

}  // namespace plumb
