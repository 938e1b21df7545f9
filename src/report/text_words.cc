#include "report/text_words.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "report/text_cells.h"

namespace plumb {

namespace {

constexpr std::size_t kLongestHolder = 60;

// What happened to the last reference: told of a run, and of what a path does.
struct Deed {
  std::string_view past;
  std::string_view present;
};

Deed deed_of(std::optional<Cause> cause) {
  if (!cause) return {"lost", "is lost"};
  switch (*cause) {
    case Cause::overwritten:
      return {"overwritten", "is overwritten"};
    case Cause::scope_end:
      return {"went out of scope", "goes out of scope"};
    case Cause::holder_freed:
      return {"freed with its holder", "is freed with its holder"};
    case Cause::holder_lost:
      return {"lost with its holder", "is lost with its holder"};
    case Cause::unmapped:
      return {"unmapped", "is unmapped"};
    case Cause::thread_end:
      return {"ended with its thread", "ends with its thread"};
    case Cause::discarded:
      return {"discarded", "is discarded"};
    case Cause::escaped_throw:
      return {"dropped by an exception", "is dropped by an exception"};
  }
  return {"lost", "is lost"};
}

std::string in_quotes(const std::string& name) {
  return fmt::format("'{}'", shortened(printable(name), kLongestHolder));
}

std::string holder_of(const Leak& leak) {
  const bool known = leak.loss && leak.loss->holder && !leak.loss->holder->name.empty();
  return known ? in_quotes(leak.loss->holder->name) : std::string();
}

std::string loss_sentence(const Leak& leak, Engine engine) {
  const Deed deed = deed_of(leak.loss ? leak.loss->cause : std::nullopt);
  const std::string quantity = quantity_of(leak);
  const std::string holder = holder_of(leak);
  if (engine == Engine::check || quantity.empty()) {
    const bool other = leak.resource != "memory" && !leak.resource.empty();
    const std::string to = !quantity.empty() ? " to " + quantity
                           : other           ? " to a " + printable(leak.resource)
                                             : "";
    return holder.empty()
               ? fmt::format("the last reference{} {} here", to, deed.present)
               : fmt::format("{}, the last reference{}, {} here", holder, to, deed.present);
  }
  return fmt::format("{}, last reference {} here{}", quantity, deed.past,
                     holder.empty() ? "" : ": " + holder);
}

// The path says at its end how the block was made and how it is freed.
std::string mismatch_sentence(const Leak& leak) {
  const bool said = !leak.path.empty() && !leak.path.back().text.empty();
  return said ? printable(leak.path.back().text)
              : "memory is freed here in another way than it was allocated";
}

// "memory allocated here", as the subject of the sentence.
std::string allocated_words(const Leak& leak, Place place) {
  const bool memory = leak.resource == "memory";
  std::string quantity = quantity_of(leak);
  if (quantity.empty()) quantity = memory ? "memory" : printable(leak.resource);
  return fmt::format("{} {} {}", quantity, memory ? "allocated" : "acquired",
                     place == Place::allocation ? "here" : "at an unknown place");
}

bool is_plural(const Leak& leak) {
  return leak.resource == "memory" ? leak.direct.bytes != 1 && leak.direct.blocks > 0
                                   : leak.direct.blocks > 1;
}

}  // namespace

std::string quantity_of(const Leak& leak) {
  if (leak.resource != "memory") {
    return leak.direct.blocks > 0 ? count_of(leak.direct.blocks, printable(leak.resource)) : "";
  }
  if (leak.direct.blocks > 0) {
    return fmt::format("{} in {}", count_of(leak.direct.bytes, "byte"),
                       count_of(leak.direct.blocks, "block"));
  }
  return leak.direct.bytes > 0 ? count_of(leak.direct.bytes, "byte") : "";
}

std::string loss_mark(const Loss& loss) {
  return loss.cause ? fmt::format("lost here ({})", name_of(*loss.cause)) : "lost here";
}

std::string sentence_of(const Leak& leak, Engine engine, Place place) {
  if (engine == Engine::check && leak.kind == Kind::forgotten && !leak.holders.empty()) {
    return fmt::format("'{}', out of which nothing is freed, takes it here", leak.holders[0].name);
  }
  if (leak.kind == Kind::double_free) return "memory that was freed before is freed again here";
  if (leak.kind == Kind::mismatched_free) return mismatch_sentence(leak);
  if (place == Place::loss || place == Place::path_end) return loss_sentence(leak, engine);
  const std::string what = allocated_words(leak, place);
  switch (leak.kind) {
    case Kind::lost: {
      const std::string_view be = is_plural(leak) ? "are" : "is";
      if (engine == Engine::check) return fmt::format("{} {} never freed on this path", what, be);
      return fmt::format("{} {} never freed and nothing refers to {}", what, be,
                         is_plural(leak) ? "them" : "it");
    }
    case Kind::stale:
      // Whether they are used may not have been seen.
      return leak.age && !leak.age->idle ? what + ", ever more of them alive"
                                         : what + ", unused for long but still held";
    case Kind::forgotten: {
      const auto named = std::find_if(leak.holders.begin(), leak.holders.end(),
                                      [](const Holder& holder) { return !holder.name.empty(); });
      const std::string quantity = quantity_of(leak);
      return fmt::format("{}, {}", quantity.empty() ? "memory" : quantity,
                         named == leak.holders.end() ? "still reachable at the end"
                                                     : "still held by " + in_quotes(named->name));
    }
    case Kind::double_free:
    case Kind::mismatched_free:
      break;
  }
  return what;
}

std::string qualifiers_of(const Leak& leak) {
  std::vector<std::string> words;
  switch (leak.when.value_or(When::ordinary)) {
    case When::ordinary:
      break;
    case When::error_path:
      words.emplace_back("on an error path");
      break;
    case When::throwing:
      words.emplace_back("when an exception is thrown");
      break;
    case When::main_exit:
      words.emplace_back("when main returns");
      break;
    case When::oom:
      words.emplace_back("when an allocation fails");
      break;
    case When::global:
      words.emplace_back("kept in a global that nothing frees");
      break;
  }
  if (leak.confidence < 1) {
    // Neither certain nor impossible, whatever rounding says.
    const long percent = std::clamp(std::lround(leak.confidence * 100), 1L, 99L);
    words.push_back(fmt::format("confidence {}%", percent));
  }
  return words.empty() ? "" : fmt::format(" ({})", fmt::join(words, ", "));
}

namespace {

// So small a chance is a matter of the model, not of digits.
std::string chance(double share) {
  return share < 0.0001 ? "below 0.01%" : fmt::format("{:.2g}%", share * 100);
}

std::string cpu_unit(const std::string& unit) {
  return unit == "cpu-seconds" ? " s of CPU time" : " " + printable(unit);
}

}  // namespace

std::string age_line(const Age& age) {
  std::vector<std::string> parts;
  const std::string time = age.unit.empty() ? " heap accesses" : cpu_unit(age.unit);
  if (age.idle) parts.push_back(fmt::format("idle for {}{}", number_text(*age.idle), time));
  if (age.active) parts.push_back(fmt::format("active for {}", number_text(*age.active)));
  if (age.drag) parts.push_back(fmt::format("drag {} (bytes x idle time)", number_text(*age.drag)));
  if (age.growth) parts.push_back(fmt::format("growth {}", number_text(*age.growth)));
  if (age.missed_chance && std::isfinite(*age.missed_chance)) {
    parts.push_back(fmt::format(
        "{} {}", age.unit.empty() ? "chance of a missed access" : "chance that the samples mislead",
        chance(*age.missed_chance)));
  }
  if (age.samples && age.bytes_low && age.bytes_high) {
    parts.push_back(fmt::format("estimated from {} ({} to {} bytes)",
                                count_of(*age.samples, "sample"), number_text(*age.bytes_low),
                                number_text(*age.bytes_high)));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string hidden_reason(const Leak& leak) {
  if (leak.suppressed) {
    std::string text = "suppressed";
    if (!leak.suppressed->by.empty()) text += " by " + printable(leak.suppressed->by);
    if (!leak.suppressed->reason.empty()) text += ": " + printable(leak.suppressed->reason);
    return text;
  }
  return leak.known ? "known: in the baseline" : "";
}

}  // namespace plumb
