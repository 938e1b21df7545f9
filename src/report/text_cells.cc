#include "report/text_cells.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace plumb {

namespace {

constexpr std::size_t kTabStop = 8;

struct Range {
  char32_t first;
  char32_t last;
};

// Drawn over the character before them.
constexpr std::array kCombining = std::to_array<Range>({
    {0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x0610, 0x061A},   {0x064B, 0x065F},
    {0x0670, 0x0670}, {0x06D6, 0x06DC}, {0x06DF, 0x06E4}, {0x0900, 0x0902},   {0x093C, 0x093C},
    {0x0941, 0x0948}, {0x094D, 0x094D}, {0x0E31, 0x0E31}, {0x0E34, 0x0E3A},   {0x0E47, 0x0E4E},
    {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x200C, 0x200D}, {0x20D0, 0x20FF},   {0x302A, 0x302D},
    {0x3099, 0x309A}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xE0100, 0xE01EF},
});

// Two columns.
constexpr std::array kWide = std::to_array<Range>({
    {0x1100, 0x115F},   {0x231A, 0x231B},   {0x2329, 0x232A},   {0x23E9, 0x23EC},
    {0x25FD, 0x25FE},   {0x2614, 0x2615},   {0x2648, 0x2653},   {0x267F, 0x267F},
    {0x2693, 0x2693},   {0x26A1, 0x26A1},   {0x26AA, 0x26AB},   {0x26BD, 0x26BE},
    {0x26C4, 0x26C5},   {0x26CE, 0x26CE},   {0x26D4, 0x26D4},   {0x26EA, 0x26EA},
    {0x26F2, 0x26F3},   {0x26F5, 0x26F5},   {0x26FA, 0x26FA},   {0x26FD, 0x26FD},
    {0x2705, 0x2705},   {0x270A, 0x270B},   {0x2728, 0x2728},   {0x274C, 0x274C},
    {0x274E, 0x274E},   {0x2753, 0x2755},   {0x2757, 0x2757},   {0x2795, 0x2797},
    {0x27B0, 0x27B0},   {0x27BF, 0x27BF},   {0x2B1B, 0x2B1C},   {0x2B50, 0x2B50},
    {0x2B55, 0x2B55},   {0x2E80, 0x303E},   {0x3041, 0x4DBF},   {0x4E00, 0xA4CF},
    {0xA960, 0xA97F},   {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},
    {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},   {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF},
    {0x1F900, 0x1F9FF}, {0x1FA70, 0x1FAFF}, {0x20000, 0x3FFFD},
});

// Controls, and characters that change how others are drawn without being
// seen: they could make a report show something else than it says.
constexpr std::array kUnsafe = std::to_array<Range>({
    {0x0000, 0x001F},
    {0x007F, 0x009F},
    {0x00AD, 0x00AD},
    {0x061C, 0x061C},
    {0x180E, 0x180E},
    {0x200B, 0x200B},
    {0x200E, 0x200F},
    {0x2028, 0x202E},
    {0x2060, 0x206F},
    {0xFEFF, 0xFEFF},
    {0xFFF9, 0xFFFB},
    {0xE0000, 0xE007F},
});

template <std::size_t N>
bool within(const std::array<Range, N>& table, char32_t code) {
  const auto after =
      std::upper_bound(table.begin(), table.end(), code,
                       [](char32_t c, const Range& range) { return c < range.first; });
  return after != table.begin() && code <= std::prev(after)->last;
}

struct Character {
  std::optional<char32_t> code;  // none: a byte that is no UTF-8
  std::size_t bytes = 1;
};

Character first_character(std::string_view bytes) {
  const auto lead = static_cast<unsigned char>(bytes[0]);
  if (lead < 0x80) return {lead, 1};
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (!is_utf8(bytes.substr(0, length))) return {};
  char32_t code = lead & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    code = (code << 6) | (static_cast<unsigned char>(bytes[i]) & 0x3FU);
  }
  return {code, length};
}

// How many bytes at the start are plain printable ASCII: nearly all text is,
// and such a character is one byte and one column.
std::size_t plain_prefix(std::string_view text) {
  const auto end =
      std::find_if(text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; });
  return static_cast<std::size_t>(end - text.begin());
}

std::size_t width_of(char32_t code) {
  if (code < 0x300) return 1;
  if (within(kCombining, code)) return 0;
  return within(kWide, code) ? 2 : 1;
}

// What is printed for one character of the raw text.
std::string shown(const Character& character, std::string_view raw) {
  if (!character.code) return fmt::format("\\x{:02x}", static_cast<unsigned char>(raw[0]));
  const auto code = static_cast<std::uint32_t>(*character.code);
  if (!within(kUnsafe, *character.code)) return std::string(raw.substr(0, character.bytes));
  return code < 0x80 ? fmt::format("\\x{:02x}", code) : fmt::format("\\u{{{:x}}}", code);
}

}  // namespace

std::string printable(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  while (true) {
    const std::size_t plain = plain_prefix(bytes);
    text += bytes.substr(0, plain);
    bytes.remove_prefix(plain);
    if (bytes.empty()) return text;
    const Character character = first_character(bytes);
    text += shown(character, bytes);
    bytes.remove_prefix(character.bytes);
  }
}

std::size_t columns(std::string_view text) {
  std::size_t sum = 0;
  while (true) {
    const std::size_t plain = plain_prefix(text);
    sum += plain;
    text.remove_prefix(plain);
    if (text.empty()) return sum;
    const Character character = first_character(text);
    sum += character.code ? width_of(*character.code) : 1;
    text.remove_prefix(character.bytes);
  }
}

std::string cut_columns(std::string_view text, std::size_t first, std::size_t count) {
  std::string part;
  std::size_t at = 0;
  while (!text.empty()) {
    const Character character = first_character(text);
    const std::size_t width = character.code ? width_of(*character.code) : 1;
    if (at + width > first + count) break;
    if (at >= first) {
      part += text.substr(0, character.bytes);
    } else if (at + width > first) {
      part += ' ';  // the second half of a wide character
    }
    at += width;
    text.remove_prefix(character.bytes);
  }
  return part;
}

std::string shortened(std::string_view text, std::size_t most) {
  const std::size_t width = columns(text);
  if (width <= most) return std::string(text);
  if (most == 0) return {};
  const std::size_t room = most - 1;
  const std::size_t head = room * 2 / 5;
  const std::size_t tail = room - head;
  std::string end = cut_columns(text, width - tail, tail);
  return cut_columns(text, 0, head) + "…" + end;
}

Cells cells_of(std::string_view raw_line) {
  Cells cells;
  cells.text.reserve(raw_line.size());
  cells.column_of.reserve(raw_line.size() + 1);
  std::size_t column = 0;
  while (!raw_line.empty()) {
    const Character character = first_character(raw_line);
    cells.column_of.insert(cells.column_of.end(), character.bytes, column);
    if (raw_line[0] == '\t') {
      const std::size_t blanks = kTabStop - column % kTabStop;
      cells.text.append(blanks, ' ');
      column += blanks;
    } else if (plain_prefix(raw_line.substr(0, 1)) == 1) {
      cells.text += raw_line[0];
      ++column;
    } else {
      const std::string text = shown(character, raw_line);
      column += columns(text);
      cells.text += text;
    }
    raw_line.remove_prefix(character.bytes);
  }
  cells.column_of.push_back(column);
  return cells;
}

}  // namespace plumb
