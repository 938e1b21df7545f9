#include "report/text_flow.h"

#include <fmt/format.h>

#include "report/text_cells.h"

namespace plumb {

namespace {

std::string_view sgr_of(Tone tone) {
  switch (tone) {
    case Tone::plain:
      return "";
    case Tone::strong:
      return "1";
    case Tone::lost:
      return "1;31";
    case Tone::stale:
      return "1;33";
    case Tone::forgotten:
      return "1;36";
    case Tone::allocation:
      return "36";
    case Tone::use:
      return "33";
    case Tone::help:
      return "32";
    case Tone::faint:
      return "2";
  }
  return "";
}

}  // namespace

Tone tone_of(Kind kind) {
  switch (kind) {
    case Kind::lost:
      return Tone::lost;
    case Kind::stale:
      return Tone::stale;
    case Kind::forgotten:
      return Tone::forgotten;
    case Kind::double_free:
    case Kind::mismatched_free:
      return Tone::lost;
  }
  return Tone::plain;
}

std::string Page::paint(std::string_view text, Tone tone) const {
  if (!color || tone == Tone::plain || text.empty()) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", sgr_of(tone), text);
}

Paragraph& Paragraph::add(std::string_view text, Tone tone) {
  while (!text.empty()) {
    const bool blank = text[0] == ' ';
    const std::size_t end = blank ? text.find_first_not_of(' ') : text.find(' ');
    pieces_.push_back({std::string(text.substr(0, end)), tone, blank});
    text.remove_prefix(end == std::string_view::npos ? text.size() : end);
  }
  return *this;
}

Paragraph& Paragraph::glue(std::string_view text, Tone tone) {
  if (!text.empty()) pieces_.push_back({std::string(text), tone, false});
  return *this;
}

std::string Paragraph::render(const Page& page) const {
  std::string lines;
  std::string line;  // the toned text of this line so far
  std::string run;   // the end of it that has one tone, not painted yet
  Tone run_tone = Tone::plain;
  std::size_t at = first_;
  bool empty = true;
  const auto flush_run = [&] {
    line += page.paint(run, run_tone);
    run.clear();
  };
  const auto put = [&](const std::string& text, Tone tone) {
    if (tone != run_tone) flush_run();
    run_tone = tone;
    run += text;
  };
  const auto end_line = [&](std::size_t indent) {
    flush_run();
    lines += line;
    lines += '\n';
    line.assign(indent, ' ');
    at = indent;
    empty = true;
  };
  line.assign(first_, ' ');

  for (std::size_t i = 0; i < pieces_.size();) {
    // The next word: the blanks before it and all pieces up to the next blank.
    std::size_t word = i;
    std::size_t blanks = 0;
    while (word < pieces_.size() && pieces_[word].blank) blanks += pieces_[word++].text.size();
    std::size_t end = word;
    std::size_t width = 0;
    while (end < pieces_.size() && !pieces_[end].blank) width += columns(pieces_[end++].text);
    if (end == word) break;  // blanks at the end of the paragraph

    if (empty) {
      blanks = 0;
    } else if (at + blanks + width > page.width) {
      end_line(rest_);
      blanks = 0;
    }
    if (blanks > 0) {
      // A blank inside one tone keeps it; between two it is plain.
      put(std::string(blanks, ' '), run_tone == pieces_[word].tone ? run_tone : Tone::plain);
    }
    for (std::size_t k = word; k < end; ++k) put(pieces_[k].text, pieces_[k].tone);
    at += blanks + width;
    empty = false;
    i = end;
  }
  end_line(0);
  return lines;
}

}  // namespace plumb
