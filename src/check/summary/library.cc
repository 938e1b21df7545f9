#include "check/summary/library.h"

#include <charconv>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"

namespace plumb::check {

namespace {

// "free:0:new" -> word "free", number 0, family "new"; "changes:1:16" -> 1, bytes 16.
struct Effect {
  std::string_view word;
  int number = -1;
  std::string_view family;
  int bytes = 0;
};

Effect parse_effect(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, ':');
  Effect effect{parts[0], -1, {}, 0};
  for (std::size_t i = 1; i < parts.size(); ++i) {
    int number = 0;
    const auto [end, error] =
        std::from_chars(parts[i].data(), parts[i].data() + parts[i].size(), number);
    if (error == std::errc() && end == parts[i].data() + parts[i].size() && number >= 0 &&
        number < 256) {
      (i == 1 ? effect.number : effect.bytes) = number;
    } else {
      effect.family = parts[i];
    }
  }
  return effect;
}

bool apply(const Effect& effect, LibraryModel& model) {
  if (effect.number >= 32) return false;
  const auto bit = [&] { return effect.number < 0 ? 0u : 1u << effect.number; };
  if (!effect.family.empty()) model.family = effect.family;
  if (effect.word == "alloc") {
    model.allocates = true;
  } else if (effect.word == "zero") {
    model.zeroed = true;
  } else if (effect.word == "alloc-to") {
    model.alloc_to = effect.number;
  } else if (effect.word == "grow-to") {
    model.grow_to = effect.number;
  } else if (effect.word == "realloc") {
    model.reallocates = effect.number;
  } else if (effect.word == "returns") {
    model.returns = effect.number;
  } else if (effect.word == "returns-or-alloc") {
    model.returns_or_allocates = true;
    model.returns = effect.number;
  } else if (effect.word == "returns-or-null" || effect.word == "within") {
    model.within = effect.number;
  } else if (effect.word == "free") {
    model.frees |= bit();
  } else if (effect.word == "calls") {
    model.calls = effect.number;
  } else if (effect.word == "size") {
    model.sizes |= bit();
  } else if (effect.word == "keeps") {
    model.keeps |= bit();
  } else if (effect.word == "writes") {
    model.writes |= bit();
  } else if (effect.word == "changes") {
    if (effect.number < 0 || effect.bytes == 0) return false;
    model.changes.emplace_back(effect.number, effect.bytes);
  } else if (effect.word == "result-zero") {
    model.result_zero = true;
  } else if (effect.word == "result-positive") {
    model.result_positive = true;
  } else if (effect.word == "result-natural") {
    model.result_natural = true;
  } else if (effect.word == "copies") {
    model.copies = true;
  } else if (effect.word == "noreturn") {
    model.noreturn = true;
  } else if (effect.word == "throw") {
    model.throws = true;
    model.noreturn = true;
  } else if (effect.word != "pure" && effect.word != "throws") {
    return false;
  }
  return true;
}

}  // namespace

Result<void> Library::add(std::string_view text, std::string_view file) {
  std::size_t number = 0;
  for (const std::string_view raw : split(text, '\n')) {
    ++number;
    const std::string_view line = trim(raw.substr(0, raw.find('#')));
    if (line.empty()) continue;
    std::string name;
    LibraryModel model;
    for (const std::string_view word : split(line, ' ')) {
      if (word.empty()) continue;
      if (name.empty()) {
        name = word;
      } else if (!apply(parse_effect(word), model)) {
        return fail(fmt::format("{}:{}", file, number), fmt::format("no effect \"{}\"", word),
                    "the head of models/c.models lists them");
      }
    }
    models_.insert_or_assign(std::move(name), std::move(model));
  }
  return {};
}

}  // namespace plumb::check
