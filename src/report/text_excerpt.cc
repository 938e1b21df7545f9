#include "report/text_excerpt.h"

#include <algorithm>
#include <cctype>
#include <tuple>

#include <fmt/format.h>

#include "base/text.h"
#include "report/text_cells.h"

namespace plumb {

namespace {

constexpr std::size_t kIndent = 2;
constexpr std::size_t kNumberWidth = 4;
constexpr std::uint32_t kBridged = 2;       // so many lines between marks are shown, more are "..."
constexpr std::size_t kKeptIndent = 2;      // of the source's own indentation
constexpr std::size_t kShortestCode = 16;   // columns, however narrow the page
constexpr std::size_t kLongestLine = 4000;  // bytes looked at: minified code is no help

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// What a mark underlines, in columns of the shown line.
struct Span {
  std::size_t start = 0;
  std::size_t width = 1;
  bool whole_line = false;
};

Span span_of(const Mark& mark, std::string_view raw, const Cells& cells) {
  if (mark.column && *mark.column > 0 && *mark.column <= raw.size()) {
    std::size_t end = *mark.column - 1;
    const std::size_t start = cells.column_of[end];
    while (end < raw.size() && is_word(raw[end])) ++end;
    return {start, std::max<std::size_t>(1, cells.column_of[end] - start), false};
  }
  const std::string_view code = trim(raw);
  const auto first = static_cast<std::size_t>(code.data() - raw.data());
  const std::size_t start = code.empty() ? 0 : cells.column_of[first];
  const std::size_t end = code.empty() ? 1 : cells.column_of[first + code.size()];
  return {start, std::max<std::size_t>(1, end - start), true};
}

class Excerpt {
 public:
  Excerpt(SourceCache& sources, const std::string& file, const Page& page,
          const std::vector<Mark>& marks)
      : sources_(sources), file_(file), page_(page) {
    number_width_ = std::max(kNumberWidth, fmt::format("{}", marks.back().line).size());
    const std::size_t gutter = kIndent + number_width_ + 3;
    room_ = std::max(page.width > gutter ? page.width - gutter : 0, kShortestCode);
    std::size_t common = std::string::npos;
    for (const Mark& mark : marks) {
      const std::string_view raw = text(mark.line);
      if (trim(raw).empty()) continue;
      const Cells cells = cells_of(raw);
      common = std::min(common, cells.text.find_first_not_of(' '));
    }
    dropped_ = common == std::string::npos || common <= kKeptIndent ? 0 : common - kKeptIndent;
  }

  void source_line(std::uint32_t number, const std::vector<const Mark*>& marks) {
    const std::string_view raw = text(number);
    const Cells cells = cells_of(raw);
    std::vector<Span> spans;
    for (const Mark* mark : marks) spans.push_back(span_of(*mark, raw, cells));

    const std::size_t width = cells.column_of.back();
    std::size_t first = std::min(dropped_, cells.text.find_first_not_of(' '));
    // A mark beyond the right edge moves the line to the left under it.
    if (!spans.empty() && width > first + room_ && spans[0].start >= first + room_ - room_ / 4) {
      first = std::min(spans[0].start - room_ / 2, width - room_);
    }
    const bool cut_left = first > dropped_;
    const bool cut_right = width > first + room_;
    std::string code = cut_columns(cells.text, first + (cut_left ? 1 : 0),
                                   room_ - (cut_left ? 1 : 0) - (cut_right ? 1 : 0));
    if (cut_left) code.insert(0, "…");
    if (cut_right) code += "…";
    while (code.ends_with(' ')) code.pop_back();
    row(fmt::format("{}", number), code);

    for (std::size_t i = 0; i < marks.size(); ++i) {
      const std::size_t start = spans[i].start > first ? spans[i].start - first : 0;
      mark_rows(*marks[i], spans[i], std::min(start, room_ - 1));
    }
  }

  void gap() {
    lines_ +=
        page_.paint(fmt::format("{:>{}}", "...", kIndent + number_width_), Tone::faint) + '\n';
  }

  std::string take() { return std::move(lines_); }

 private:
  std::string_view text(std::uint32_t number) {
    return sources_.line(file_, number).substr(0, kLongestLine);
  }

  void row(std::string_view number, std::string_view painted) {
    const std::string gutter = fmt::format("{:{}}{:>{}} |", "", kIndent, number, number_width_);
    lines_ += page_.paint(gutter, Tone::faint);
    if (!painted.empty()) lines_ += ' ';
    lines_ += painted;
    lines_ += '\n';
  }

  // "^~~~~~ label", or "label ^~~~~~", or on two rows: whatever fits.
  void mark_rows(const Mark& mark, const Span& span, std::size_t start) {
    const std::size_t width = std::min(span.width, room_ - start);
    const std::string line =
        span.whole_line ? std::string(width, '~') : "^" + std::string(width - 1, '~');
    const std::size_t label = columns(mark.label);
    const std::string blanks(start, ' ');
    if (start + width + 1 + label <= room_) {
      row("", blanks + page_.paint(line + " " + mark.label, mark.tone));
    } else if (label + 1 <= start) {
      row("",
          std::string(start - label - 1, ' ') + page_.paint(mark.label + " " + line, mark.tone));
    } else {
      row("", blanks + page_.paint(line, mark.tone));
      const std::string text = shortened(mark.label, room_);
      const std::size_t indent = std::min(start, room_ - columns(text));
      row("", std::string(indent, ' ') + page_.paint(text, mark.tone));
    }
  }

  SourceCache& sources_;
  const std::string& file_;
  const Page& page_;
  std::size_t number_width_ = 0;
  std::size_t room_ = 0;     // columns for code
  std::size_t dropped_ = 0;  // columns of indentation that all lines share
  std::string lines_;
};

}  // namespace

std::string write_excerpt(SourceCache& sources, const std::string& file, std::vector<Mark> marks,
                          const Page& page) {
  std::erase_if(marks, [&](const Mark& mark) {
    return trim(sources.line(file, mark.line)).empty();  // not there, or nothing to see
  });
  if (marks.empty()) return {};
  std::sort(marks.begin(), marks.end(), [](const Mark& a, const Mark& b) {
    return std::tuple(a.line, a.column.value_or(0), a.label) <
           std::tuple(b.line, b.column.value_or(0), b.label);
  });
  // Two marks on one place are one.
  for (std::size_t i = 1; i < marks.size();) {
    if (marks[i].line == marks[i - 1].line && marks[i].column == marks[i - 1].column) {
      marks[i - 1].label += ", " + marks[i].label;
      marks.erase(marks.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }

  Excerpt excerpt(sources, file, page, marks);
  std::uint32_t shown = 0;  // the last line written
  for (std::size_t i = 0; i < marks.size();) {
    const std::uint32_t line = marks[i].line;
    if (shown != 0 && line - shown > kBridged + 1) {
      excerpt.gap();
    } else if (shown != 0) {
      for (std::uint32_t k = shown + 1; k < line; ++k) excerpt.source_line(k, {});
    }
    std::vector<const Mark*> here;
    for (; i < marks.size() && marks[i].line == line; ++i) here.push_back(&marks[i]);
    excerpt.source_line(line, here);
    shown = line;
  }
  return excerpt.take();
}

}  // namespace plumb
