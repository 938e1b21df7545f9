#include "run/drop.h"

#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <sstream>
#include <string_view>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "base/file.h"
#include "base/paths.h"
#include "base/text.h"

namespace plumb {

namespace {

template <typename T>
bool parse_number(std::string_view text, T& value) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  return problem == std::errc() && end == text.data() + text.size();
}

// As a JSON string; what would need care is left out.
std::string in_quotes(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    const bool plain = c >= ' ' && c <= '~' && c != '"' && c != '\\';
    result += plain ? c : '?';
  }
  return result + '"';
}

std::string list_of(const std::vector<DroppedBlock>& blocks) {
  std::string list = "[";
  for (const DroppedBlock& block : blocks) {
    if (list.size() > 1) list += ',';
    list += fmt::format("{{\"address\":\"{:#x}\",\"usable\":{},\"caller\":{}}}", block.address,
                        block.size, in_quotes(block.caller));
  }
  return list + "]";
}

}  // namespace

Result<DropFrees> parse_drop_frees(const std::string& text) {
  DropFrees drop;
  const std::size_t colon = text.find(':');
  const std::string_view whole = text;
  const bool good =
      parse_number(whole.substr(0, colon), drop.percent) && drop.percent >= 1 &&
      drop.percent <= 100 &&
      (colon == std::string::npos || parse_number(whole.substr(colon + 1), drop.seed));
  if (!good) {
    return fail("--drop-frees", fmt::format("cannot read \"{}\"", text),
                "write a share from 1 to 100, and a seed if you like: --drop-frees=10:7");
  }
  return drop;
}

Result<DropList> DropList::create() {
  std::string pattern = "/tmp/plumb-drops-XXXXXX";
  if (const char* folder = std::getenv("TMPDIR"); folder != nullptr && *folder != 0) {
    pattern = fmt::format("{}/plumb-drops-XXXXXX", folder);
  }
  const int file = mkstemp(pattern.data());
  if (file < 0) return fail(pattern, "cannot make a temporary file");
  close(file);
  return DropList(std::move(pattern));
}

DropList::DropList(DropList&& other) noexcept : path_(std::exchange(other.path_, {})) {}
DropList::~DropList() {
  if (!path_.empty()) unlink(path_.c_str());
}

Result<void> DropList::prepare(const DropFrees& drop, Launch& launch) const {
  const Result<std::string> library = preload_library("libplumb_drop.so");
  if (!library) return std::unexpected(library.error());
  launch.more_preloads.push_back(*library);
  launch.more_variables.push_back(fmt::format(
      "PLUMB_DROP_FREES=hide=1:percent={}:seed={}:output={}", drop.percent, drop.seed, path_));
  return {};
}

std::vector<DroppedBlock> DropList::blocks() const {
  std::vector<DroppedBlock> blocks;
  std::istringstream lines(read_file(path_).value_or(""));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t size_at = line.find(' ');
    const std::size_t caller_at = line.find(' ', size_at + 1);
    if (!line.starts_with("0x") || size_at == std::string::npos || caller_at == std::string::npos) {
      continue;  // cut off
    }
    DroppedBlock block;
    block.address = std::strtoull(line.c_str() + 2, nullptr, 16);
    block.size = std::strtoull(line.c_str() + size_at, nullptr, 10);
    block.caller = line.substr(caller_at + 1);
    blocks.push_back(std::move(block));
  }
  return blocks;
}

void note_dropped(const DropFrees& drop, const std::vector<DroppedBlock>& blocks,
                  const Trace& trace, Report& report) {
  std::unordered_set<std::uint64_t> lost;
  std::unordered_set<std::uint64_t> kept;
  for (const TraceLost& block : trace.lost) lost.insert(block.address);
  for (const TraceLost& block : trace.kept) kept.insert(block.address);
  std::size_t lost_count = 0;
  std::size_t kept_count = 0;
  std::uint64_t bytes = 0;
  for (const DroppedBlock& block : blocks) {
    bytes += block.size;
    lost_count += lost.contains(block.address) ? 1 : 0;
    kept_count += kept.contains(block.address) ? 1 : 0;
  }
  std::string text = fmt::format(
      "{} skipped by --drop-frees={}:{} ({}): {} of those blocks are lost, {} still "
      "reachable",
      count_of(blocks.size(), "free") + (blocks.size() == 1 ? " was" : " were"), drop.percent,
      drop.seed, count_of(bytes, "byte"), lost_count, kept_count);
  const std::size_t rest = blocks.size() - lost_count - kept_count;
  if (rest != 0) text += fmt::format(", {} not known", rest);
  report.notes.push_back({"drop-frees", std::move(text), "", {{"dropped", list_of(blocks)}}});
}

}  // namespace plumb
