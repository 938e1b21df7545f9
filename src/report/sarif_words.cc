#include "report/sarif_words.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "report/explain.h"
#include "report/text_cells.h"

namespace plumb {
namespace {

constexpr std::size_t kLongestName = 160;  // columns
constexpr std::size_t kLongestSentence = 1000;
constexpr std::size_t kMostHolders = 3;

// Below these a finding is a warning, or only a note.
constexpr double kSurelyConfident = 0.8;
constexpr double kFairlyConfident = 0.4;

std::string safe(std::string_view text, std::size_t most) {
  std::string out = shortened(printable(text), most);
  for (std::size_t at = 0; (at = out.find("](", at)) != std::string::npos;) out.insert(at + 1, " ");
  return out;
}

// " in 'grow' at 'server.c:51'", with what is known.
std::string place_text(const Frame& frame) {
  std::string text;
  if (!frame.function.empty()) text += " in " + sarif_quoted(frame.function);
  if (!frame.file.empty()) {
    std::string line(base_name(frame.file));
    if (frame.line) line += fmt::format(":{}", *frame.line);
    text += " at " + sarif_quoted(line);
  }
  return text;
}

std::string count_text(const Count& count) {
  return fmt::format("{} in {}", count_of(count.bytes, "byte"), count_of(count.blocks, "block"));
}

// "4,096 bytes in 1 block", or what it is when nothing was counted.
std::string subject_text(const Leak& leak) {
  const bool memory = leak.resource == "memory" || leak.resource.empty();
  const std::string resource = memory ? "" : " of resource " + sarif_quoted(leak.resource);
  if (leak.direct.blocks > 0) return count_text(leak.direct) + resource;
  return memory ? "Memory" : "A handle" + resource;
}

std::string loss_text(const Leak& leak) {
  if (!leak.loss || !leak.loss->cause) return "no reference is left";
  std::string text(phrase(*leak.loss->cause));
  if (leak.loss->holder && !leak.loss->holder->name.empty()) {
    text += fmt::format(" (it was in {})", sarif_quoted(leak.loss->holder->name));
  }
  return text;
}

std::string holders_text(const std::vector<Holder>& holders) {
  std::string text;
  for (std::size_t i = 0; i < std::min(holders.size(), kMostHolders); ++i) {
    text += (i == 0 ? " Held by " : ", ") + sarif_quoted(holders[i].name);
  }
  if (holders.size() > kMostHolders) {
    text += fmt::format(" and {}", count_of(holders.size() - kMostHolders, "other"));
  }
  return text.empty() ? text : text + ".";
}

}  // namespace

SarifLevel sarif_level(Kind kind) {
  switch (kind) {
    case Kind::lost:
    case Kind::double_free:
    case Kind::mismatched_free:
      return SarifLevel::error;
    case Kind::stale:
      return SarifLevel::warning;
    case Kind::forgotten:
      break;
  }
  return SarifLevel::note;
}

SarifLevel sarif_level(const Leak& leak) {
  SarifLevel level = sarif_level(leak.kind);
  const auto at_most = [&](SarifLevel limit) { level = std::max(level, limit); };
  if (!(leak.confidence >= kSurelyConfident)) at_most(SarifLevel::warning);
  if (!(leak.confidence >= kFairlyConfident)) at_most(SarifLevel::note);
  if (leak.when == When::oom) at_most(SarifLevel::warning);
  // The memory is used to the end, or the system takes it back a moment later.
  if (leak.when == When::main_exit || leak.when == When::global) at_most(SarifLevel::note);
  return level;
}

std::string sarif_sentence(std::string_view text) {
  std::string sentence = safe(trim(text), kLongestSentence);
  if (!sentence.empty() && !sentence.ends_with('.')) sentence += '.';
  return sentence;
}

std::string sarif_quoted(std::string_view name) {
  return fmt::format("'{}'", safe(name, kLongestName));
}

std::string sarif_summary(const Leak& leak, Engine engine) {
  std::string text = subject_text(leak);
  switch (leak.kind) {
    case Kind::lost:
      text += fmt::format(" lost: {}.", loss_text(leak));
      break;
    case Kind::stale:
      text += " stale: still referenced, but not used for long.";
      break;
    case Kind::forgotten:
      text += " forgotten: still reachable at the end, never freed.";
      break;
    case Kind::double_free:
      text += " freed twice on this path.";
      break;
    case Kind::mismatched_free:
      text += " freed in another way than it was allocated.";
      break;
  }
  text += holders_text(leak.holders);
  const Frame* allocated = user_frame(leak.allocation.stack);
  const std::string place = allocated != nullptr ? place_text(*allocated) : "";
  if (!leak.allocation.api.empty() || !place.empty()) {
    text += " Allocated";
    if (!leak.allocation.api.empty()) text += " by " + sarif_quoted(leak.allocation.api);
    text += place + ".";
  }
  if (leak.indirect.blocks > 0) {
    text += fmt::format(" Another {} can be reached from there only.", count_text(leak.indirect));
  }
  if (leak.when && *leak.when != When::ordinary) {
    text += fmt::format(" This happens {}.", phrase(*leak.when));
  }
  if (engine == Engine::check && leak.confidence >= 0 && leak.confidence <= 1) {
    text += fmt::format(" Confidence {:.0f}%.", leak.confidence * 100);
  }
  return text;
}

}  // namespace plumb
