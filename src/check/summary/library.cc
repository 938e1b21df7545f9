#include "check/summary/library.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "base/demangle.h"
#include "base/text.h"
#include "core/function_name.h"

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

// Which parameter is meant has to be said.
bool is_of_parameter(std::string_view word) {
  constexpr std::array<std::string_view, 16> kWords = {"alloc-to",
                                                       "grow-to",
                                                       "realloc",
                                                       "returns",
                                                       "returns-or-alloc",
                                                       "returns-or-null",
                                                       "within",
                                                       "free",
                                                       "calls",
                                                       "size",
                                                       "keeps",
                                                       "writes",
                                                       "changes",
                                                       "writes-from",
                                                       "noreturn-if",
                                                       "joins"};
  return std::ranges::find(kWords, word) != kWords.end();
}

bool apply(const Effect& effect, LibraryModel& model) {
  if (effect.number >= 32) return false;
  if (is_of_parameter(effect.word) != (effect.number >= 0)) return false;
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
  } else if (effect.word == "writes-from") {
    model.writes |= ~(bit() - 1);
  } else if (effect.word == "joins") {
    model.joins = effect.number;
  } else if (effect.word == "changes") {
    if (effect.number < 0 || effect.bytes == 0) return false;
    model.changes.emplace_back(effect.number, effect.bytes);
  } else if (effect.word == "result-zero") {
    model.result_zero = true;
  } else if (effect.word == "result-positive") {
    model.result_positive = true;
  } else if (effect.word == "may-fail") {
    model.may_fail = true;
  } else if (effect.word == "result-natural") {
    model.result_natural = true;
  } else if (effect.word == "result-length") {
    model.result_length = true;
  } else if (effect.word == "result-status") {
    model.result_status = true;
  } else if (effect.word == "copies") {
    model.copies = true;
  } else if (effect.word == "noreturn") {
    model.noreturn = true;
  } else if (effect.word == "noreturn-if") {
    constexpr int kMost = 8;
    if (effect.number < 0 || effect.number > kMost) return false;
    model.noreturn_if = static_cast<std::int8_t>(effect.number);
  } else if (effect.word == "throw" || effect.word == "rethrow") {
    model.exception = effect.word == "throw" ? ExceptionEffect::throws : ExceptionEffect::rethrows;
    model.noreturn = true;
  } else if (effect.word == "catch") {
    model.exception = ExceptionEffect::begins;
  } else if (effect.word == "end-catch") {
    model.exception = ExceptionEffect::ends;
  } else if (effect.word == "of") {
    return !effect.family.empty();
  } else if (effect.word != "pure" && effect.word != "throws") {
    return false;
  }
  return true;
}

}  // namespace

template <typename Take>
Result<void> Library::each_model(const ModelText& models, const Take& take) {
  std::size_t number = 0;
  for (const std::string_view raw : split(models.text, '\n')) {
    ++number;
    std::string line(trim(raw.substr(0, raw.find('#'))));
    if (line.empty()) continue;
    std::ranges::replace(line, '\t', ' ');
    std::string name;
    LibraryModel model;
    std::size_t effects = 0;
    for (const std::string_view word : split(line, ' ')) {
      if (word.empty()) continue;
      if (name.empty()) {
        name = word;
        continue;
      }
      if (!apply(parse_effect(word), model)) {
        return fail(fmt::format("{}:{}", models.where, number),
                    fmt::format("no effect \"{}\"", word),
                    "the manual of `plumb check` lists the effects");
      }
      ++effects;
    }
    if (effects == 0) {
      return fail(fmt::format("{}:{}", models.where, number),
                  fmt::format("nothing is said of \"{}\"", name),
                  "write NAME EFFECT..., as in: pool_take alloc");
    }
    model.family_id = family_of(model.family);
    take(std::move(name), std::move(model));
  }
  return {};
}

const LibraryModel* Library::find(const std::string& symbol) const {
  if (const auto at = models_.find(symbol); at != models_.end()) return &at->second;
  for (auto each = by_beginning_.rbegin(); each != by_beginning_.rend(); ++each) {
    if (symbol.starts_with(each->first)) return &each->second;
  }
  return nullptr;
}

Result<void> Library::add(const ModelText& models, bool declared) {
  return each_model(models, [&](std::string name, LibraryModel model) {
    model.declared = declared;
    if (name.size() > 1 && name.back() == '*') {
      name.pop_back();
      by_beginning_.emplace_back(std::move(name), std::move(model));
      return;
    }
    auto& list = name.find("::") == std::string::npos ? models_ : by_source_name_;
    list.insert_or_assign(std::move(name), std::move(model));
  });
}

Result<void> Library::add_resources(const ModelText& models,
                                    const std::vector<std::string>& asked) {
  return each_model(models, [&](std::string name, LibraryModel model) {
    if (std::ranges::find(asked, model.family) == asked.end()) return;
    models_.insert_or_assign(std::move(name), std::move(model));
  });
}

// Families beyond what an id can say are not told apart from what is not known.
FamilyId Library::family_of(const std::string& name) {
  const auto at = std::ranges::find(families_, name);
  if (at != families_.end()) return static_cast<FamilyId>(at - families_.begin() + 1);
  if (families_.size() == UINT8_MAX) return 0;
  families_.push_back(name);
  return static_cast<FamilyId>(families_.size());
}

Result<void> Library::add_containers(const ModelText& models) { return containers_.add(models); }

void Library::find_by_source_name(const std::vector<std::string>& symbols) {
  Demangler demangle;
  for (const std::string& symbol : symbols) {
    const std::optional<ContainerEffect> effect = containers_.find(symbol, demangle);
    if (!effect) continue;
    LibraryModel model;
    model.container = *effect;
    model.declared = true;
    models_.try_emplace(symbol, std::move(model));
  }
  if (by_source_name_.empty()) return;
  for (const std::string& symbol : symbols) {
    const std::string name = normalised_function(demangle(symbol));
    const auto found = by_source_name_.find(without_template_arguments(function_stem(name)));
    if (found != by_source_name_.end()) models_.try_emplace(symbol, found->second);
  }
}

}  // namespace plumb::check
