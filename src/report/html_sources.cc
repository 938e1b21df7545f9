#include "report/html_sources.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "base/source.h"
#include "base/text.h"
#include "report/json_string.h"
#include "report/text_place.h"
#include "report/text_stack.h"

namespace plumb {

namespace {

constexpr std::uint32_t kAround = 10;          // lines around a place
constexpr std::uint32_t kAroundFrame = 3;      // around other frames
constexpr std::uint32_t kNearHead = 40;        // a function's head so near is shown
constexpr std::uint32_t kLongestWindow = 120;  // lines between two places of a window
constexpr std::size_t kLongestLine = 400;
constexpr std::size_t kMostText = std::size_t{24} << 20;
constexpr std::uint32_t kLastLine = std::numeric_limits<std::uint32_t>::max();

constexpr std::array<std::string_view, 25> kEndings = {
    ".c",   ".h",   ".cc", ".cpp", ".cxx", ".c++", ".C",   ".hh",  ".hpp",
    ".hxx", ".h++", ".H",  ".inc", ".ipp", ".inl", ".tcc", ".tpp", ".def",
    ".y",   ".l",   ".yy", ".ll",  ".S",   ".s",   ".rs"};

// The headers of the C++ library have no ending.
bool named_as_source(std::string_view file) {
  const std::string_view name = base_name(file);
  if (name.find('.') == std::string_view::npos) {
    return file.find("/include/c++/") != std::string_view::npos;
  }
  return std::ranges::any_of(kEndings, [&](std::string_view end) { return name.ends_with(end); });
}

class Gatherer {
 public:
  Gatherer(const Report& report, HtmlSources which)
      : report_(report), which_(which), places_(report, cache_, {}, true) {}

  void add(const Leak& leak) {
    add_stack(leak.allocation.stack);
    if (leak.last_use) add_stack(leak.last_use->stack);
    if (leak.loss) add_stack(leak.loss->stack);
    for (const SiblingFree& sibling : leak.frees) add_stack(sibling.stack);
    const Frame* before = nullptr;
    for (const Frame& point : leak.window) {
      add_place(point);
      if (before != nullptr) add_between(*before, point);
      before = &point;
    }
    for (const Step& step : leak.path) add_place(step.location);
    if (leak.fix && leak.fix->place) add_place(*leak.fix->place);
  }

  std::string json(bool& cut);

 private:
  struct Range {
    std::uint32_t first, last;
  };

  void add_stack(const Stack& stack) {
    if (const Lead lead = lead_of(stack, report_); lead.frame != nullptr) add_place(*lead.frame);
    for (const Frame& frame : program_frames(stack)) add_around(frame, kAroundFrame);
  }
  void add_place(const Frame& frame) {
    add_around(frame, kAround);
    if (!frame.line || !frame.function_line || *frame.function_line >= *frame.line) return;
    if (*frame.line - *frame.function_line > kNearHead) return;
    add_range(frame.file, {*frame.function_line, *frame.line});
  }
  void add_between(const Frame& a, const Frame& b) {
    if (a.file != b.file || !a.line || !b.line) return;
    const auto [first, last] = std::minmax(*a.line, *b.line);
    if (last - first <= kLongestWindow) add_range(a.file, {first, last});
  }
  void add_around(const Frame& frame, std::uint32_t lines) {
    if (!frame.line || *frame.line == 0) return;
    const std::uint32_t line = *frame.line;
    add_range(frame.file, {line > lines ? line - lines : 1,
                           line < kLastLine - lines ? line + lines : kLastLine});
  }
  void add_range(const std::string& file, Range range) {
    if (file.empty() || !named_as_source(file)) return;
    const auto [at, fresh] = wanted_.try_emplace(file);
    if (fresh) order_.push_back(&at->first);
    at->second.push_back(which_ == HtmlSources::whole ? Range{1, kLastLine} : range);
  }
  void write_range(std::string& out, const std::string& path, const Range& range);

  const Report& report_;
  HtmlSources which_;
  SourceCache cache_;
  Places places_;
  std::map<std::string, std::vector<Range>> wanted_;
  std::vector<const std::string*> order_;  // files as the leaks name them first
  std::size_t room_ = kMostText;
};

void Gatherer::write_range(std::string& out, const std::string& path, const Range& range) {
  std::string text;
  std::uint32_t line = range.first;
  for (; line <= range.last && cache_.has_line(path, line); ++line) {
    std::string_view words = cache_.line(path, line);
    if (words.size() > kLongestLine) words = words.substr(0, kLongestLine);
    if (words.size() + 1 > room_) break;
    room_ -= words.size() + 1;
    if (line > range.first) text += '\n';
    text += words;
  }
  if (line == range.first) return;
  if (out.back() == ']') out += ',';
  out += fmt::format("[{},", range.first);
  json::append_string(out, text);
  out += ']';
}

std::string Gatherer::json(bool& cut) {
  std::string out = "{";
  for (const std::string* file : order_) {
    if (room_ < kLongestLine) {
      cut = true;
      break;
    }
    const std::string path = places_.readable(*file);
    if (path.empty()) continue;
    std::vector<Range>& ranges = wanted_[*file];
    std::ranges::sort(ranges, {}, &Range::first);
    if (out.size() > 1) out += ",\n";
    json::append_string(out, *file);
    out += ":[";
    Range run = ranges.front();
    for (const Range& range : ranges) {
      // Runs that touch are one: no gap of nothing is shown.
      if (range.first > run.last && range.first - run.last > 1) {
        write_range(out, path, run);
        run = range;
      }
      run.last = std::max(run.last, range.last);
    }
    write_range(out, path, run);
    out += ']';
  }
  return out + '}';
}

}  // namespace

std::string html_sources(const Report& report, HtmlSources which, bool& cut) {
  if (which == HtmlSources::none) return "{}";
  Gatherer gatherer(report, which);
  for (const Leak& leak : report.leaks) gatherer.add(leak);
  return gatherer.json(cut);
}

}  // namespace plumb
