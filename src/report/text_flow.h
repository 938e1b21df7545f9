// Paragraphs that fit the terminal: words with a tone each, wrapped at blanks.
// A word that is wider than the line stands alone on one and sticks out.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/kind.h"

namespace plumb {

// What a piece of text is, not its colour; the colours are chosen in one place.
enum class Tone { plain, strong, lost, stale, forgotten, allocation, use, help, faint };

// The tone of a kind of leak.
Tone tone_of(Kind kind);

struct Page {
  std::size_t width = 80;
  bool color = false;

  // `text` in its tone, or just `text` on a page without colours.
  std::string paint(std::string_view text, Tone tone) const;
};

class Paragraph {
 public:
  // `first` and `rest`: blanks before the first line and before the others.
  Paragraph(std::size_t first, std::size_t rest) : first_(first), rest_(rest) {}

  // Appends printable text. Blanks in it are where the line may break.
  Paragraph& add(std::string_view text, Tone tone = Tone::plain);
  // Appends text that stays on one line, with what is before and behind it.
  Paragraph& glue(std::string_view text, Tone tone = Tone::plain);

  // The lines, each with its end.
  std::string render(const Page& page) const;

 private:
  struct Piece {
    std::string text;
    Tone tone;
    bool blank;  // one or more blanks: a place to break
  };
  std::size_t first_;
  std::size_t rest_;
  std::vector<Piece> pieces_;
};

}  // namespace plumb
