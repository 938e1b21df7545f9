#include "core/suppression_index.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/literal_search.h"
#include "core/allocator_names.h"
#include "core/function_name.h"

namespace plumb {

namespace {

using Numbers = std::vector<std::uint32_t>;

// The runs of all entries, each numbered once.
class Literals {
 public:
  std::uint32_t number(std::string&& literal) {
    const auto [entry, added] =
        numbers_.try_emplace(std::move(literal), static_cast<std::uint32_t>(numbers_.size()));
    return entry->second;
  }
  std::size_t size() const { return numbers_.size(); }
  LiteralSearch search() const {
    std::vector<std::string_view> all(numbers_.size());
    for (const auto& [literal, number] : numbers_) all[number] = literal;
    return LiteralSearch(all);
  }

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

Numbers literals_of(const Suppression& entry, Literals& literals) {
  Numbers numbers;
  for (const StackPattern& stack : entry.stacks) {
    for (const FramePattern& frame : stack.frames) {
      for (const std::string* glob : {&frame.function, &frame.file, &frame.module, &frame.word}) {
        std::string literal = longest_literal(*glob);
        if (!literal.empty()) numbers.push_back(literals.number(std::move(literal)));
      }
    }
  }
  return numbers;
}

// Finds the runs in the names of leaks; each name is searched once.
class LeakLiterals {
 public:
  LeakLiterals(const Literals& literals, const Report& report)
      : search_(literals.search()), stamp_(literals.size(), 0) {
    modules_.reserve(report.modules.size());
    for (const Module& module : report.modules) modules_.push_back(found_in(module.path));
  }

  // The runs that occur in any name of the leak's stacks, each once.
  Numbers of(const Leak& leak) {
    ++round_;
    Numbers all;
    for (const std::string_view api : {std::string_view(leak.allocation.api), kMalloc}) {
      add(all, api_names(api));
    }
    add_stack(all, leak.allocation.stack);
    if (leak.loss) add_stack(all, leak.loss->stack);
    if (leak.last_use) add_stack(all, leak.last_use->stack);
    return all;
  }

 private:
  static constexpr std::string_view kMalloc = "malloc";  // below strdup and the like

  void add_stack(Numbers& all, const Stack& stack) {
    for (const Frame& frame : stack) {
      add(all, function_names(frame.function.empty() ? frame.linkage : frame.function));
      if (!frame.linkage.empty()) add(all, name(frame.linkage));
      if (!frame.file.empty()) add(all, name(frame.file));
      if (frame.module && frame.module->index < modules_.size()) {
        add(all, modules_[frame.module->index]);
      }
    }
  }

  void add(Numbers& all, const Numbers& found) {
    for (const std::uint32_t literal : found) {
      if (stamp_[literal] == round_) continue;
      stamp_[literal] = round_;
      all.push_back(literal);
    }
  }

  Numbers found_in(std::string_view text) const {
    Numbers found;
    search_.scan(text, [&](std::uint32_t literal) { found.push_back(literal); });
    std::ranges::sort(found);
    found.erase(std::ranges::unique(found).begin(), found.end());
    return found;
  }

  const Numbers& name(const std::string& text) {
    const auto [entry, added] = names_.try_emplace(text);
    if (added) entry->second = found_in(text);
    return entry->second;
  }

  const Numbers& function_names(const std::string& function) {
    const auto [entry, added] = functions_.try_emplace(function);
    if (added) {
      entry->second = found_in(function);
      const std::string normalised = normalised_function(function);
      if (normalised != function) {
        const Numbers more = found_in(normalised);
        entry->second.insert(entry->second.end(), more.begin(), more.end());
      }
    }
    return entry->second;
  }

  const Numbers& api_names(std::string_view api) {
    const auto [entry, added] = apis_.try_emplace(std::string(api));
    if (added) {
      for (const std::string_view alias : names_of_api(api)) {
        const Numbers more = found_in(alias);
        entry->second.insert(entry->second.end(), more.begin(), more.end());
      }
    }
    return entry->second;
  }

  LiteralSearch search_;
  // Keys are views into the report, which does not change meanwhile.
  std::unordered_map<std::string_view, Numbers> names_;
  std::unordered_map<std::string_view, Numbers> functions_;
  std::unordered_map<std::string, Numbers> apis_;
  std::vector<Numbers> modules_;
  std::vector<std::uint64_t> stamp_;  // the last leak that had the run
  std::uint64_t round_ = 0;
};

}  // namespace

std::string longest_literal(std::string_view glob) {
  std::string longest;
  std::string run;
  for (std::size_t i = 0; i < glob.size(); ++i) {
    if (glob[i] == '*' || glob[i] == '?') {
      run.clear();
      continue;
    }
    if (glob[i] == '\\' && i + 1 < glob.size()) ++i;
    run += glob[i];
    if (run.size() > longest.size()) longest = run;
  }
  return longest;
}

SuppressionIndex::SuppressionIndex(const std::vector<Suppression>& entries, const Report& report)
    : report_(report) {
  Literals literals;
  std::vector<Numbers> wanted;  // by each entry
  wanted.reserve(entries.size());
  for (const Suppression& entry : entries) wanted.push_back(literals_of(entry, literals));

  LeakLiterals finder(literals, report);
  std::vector<std::uint64_t> leaks_with(literals.size(), 0);
  present_.reserve(report.leaks.size());
  for (const Leak& leak : report.leaks) {
    present_.push_back(finder.of(leak));
    for (const std::uint32_t literal : present_.back()) ++leaks_with[literal];
  }

  by_run_.resize(literals.size());
  for (std::uint32_t i = 0; i < entries.size(); ++i) {
    if (!entries[i].id.empty()) {
      by_id_[entries[i].id].push_back(i);
    } else if (wanted[i].empty()) {
      always_.push_back(i);
    } else {
      const auto rarest = std::ranges::min_element(
          wanted[i], {}, [&](std::uint32_t literal) { return leaks_with[literal]; });
      by_run_[*rarest].push_back(i);
    }
  }
}

std::vector<std::uint32_t> SuppressionIndex::candidates(std::size_t leak) const {
  Numbers list = always_;
  if (const auto found = by_id_.find(report_.leaks[leak].id); found != by_id_.end()) {
    list.insert(list.end(), found->second.begin(), found->second.end());
  }
  for (const std::uint32_t run : present_[leak]) {
    list.insert(list.end(), by_run_[run].begin(), by_run_[run].end());
  }
  std::ranges::sort(list);
  return list;
}

}  // namespace plumb
