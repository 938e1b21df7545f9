#include "core/suppression_match.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "core/allocator_names.h"
#include "core/function_name.h"
#include "core/place.h"

namespace plumb {

namespace {

// A glob for a path: the whole of it, or an end that starts after a slash.
bool path_match(std::string_view glob, std::string_view path) {
  if (glob_match(glob, path)) return true;
  if (glob.starts_with('/') || glob.starts_with('*')) return false;
  for (std::size_t slash = path.find('/'); slash != path.npos; slash = path.find('/', slash + 1)) {
    if (glob_match(glob, path.substr(slash + 1))) return true;
  }
  return false;
}

// A frame that is known by its function's possible names only.
bool covers_api(const FramePattern& pattern, const std::vector<std::string_view>& names) {
  if (pattern.line || (!pattern.file.empty() && !glob_match(pattern.file, "")) ||
      (!pattern.module.empty() && !glob_match(pattern.module, ""))) {
    return false;
  }
  const std::string& glob = pattern.word.empty() ? pattern.function : pattern.word;
  return glob.empty() ||
         std::ranges::any_of(names, [&](std::string_view name) { return glob_match(glob, name); });
}

}  // namespace

const SuppressionMatcher::Names& SuppressionMatcher::names_of(const std::string& function) {
  const auto [entry, added] = names_.try_emplace(function);
  Names& names = entry->second;
  if (added) {
    names.normalised = normalised_function(function);
    names.stem = function_stem(names.normalised);
    names.allocator = is_allocator_function(function);
  }
  return names;
}

std::size_t SuppressionMatcher::allocator_frames(const Stack& stack) {
  std::size_t count = 0;
  while (count < stack.size() &&
         names_of(stack[count].function.empty() ? stack[count].linkage : stack[count].function)
             .allocator) {
    ++count;
  }
  return count;
}

bool SuppressionMatcher::covers_frame(const FramePattern& pattern, const Frame& frame) {
  const Names& names = names_of(frame.function.empty() ? frame.linkage : frame.function);
  const std::array<std::string_view, 4> functions = {frame.function, frame.linkage,
                                                     names.normalised, names.stem};
  const auto names_one_of = [](std::string_view glob, std::span<const std::string_view> list) {
    return std::ranges::any_of(
        list, [&](std::string_view name) { return !name.empty() && glob_match(glob, name); });
  };
  const Module* module = module_of(frame, report_);
  const std::string_view module_path = module == nullptr ? "" : std::string_view(module->path);

  if (!pattern.word.empty()) {
    // Whole names only: LeakSanitizer's $ is behind the parameters.
    return names_one_of(pattern.word, std::span(functions).first(3)) ||
           (!frame.file.empty() && glob_match(pattern.word, frame.file)) ||
           (!module_path.empty() && glob_match(pattern.word, module_path));
  }
  // "*" takes a frame that has no name, too.
  if (!pattern.function.empty() && pattern.function != "*" &&
      !names_one_of(pattern.function, functions)) {
    return false;
  }
  if (!pattern.module.empty() && !path_match(pattern.module, module_path)) return false;
  if (!pattern.file.empty() && !path_match(pattern.file, frame.file)) return false;
  return !pattern.line || pattern.line == frame.line;
}

// Matches the pattern against `lead` followed by `frames`. As in a glob, after
// a mismatch only the last gap can help, by taking one frame more.
bool SuppressionMatcher::covers_from(const StackPattern& pattern,
                                     std::span<const ApiNames* const> lead,
                                     std::span<const Frame> frames) {
  const std::size_t length = lead.size() + frames.size();
  std::size_t p = 0;
  std::size_t f = 0;
  bool gap = false;
  std::size_t gap_pattern = 0;
  std::size_t gap_frame = 0;
  while (p < pattern.frames.size()) {
    const FramePattern& wanted = pattern.frames[p];
    if (wanted.gap) {
      gap = true;
      gap_pattern = ++p;
      gap_frame = f;
      continue;
    }
    if (f == length) return false;
    const bool fits = f < lead.size() ? covers_api(wanted, *lead[f])
                                      : covers_frame(wanted, frames[f - lead.size()]);
    if (fits) {
      ++p;
      ++f;
    } else if (gap) {
      p = gap_pattern;
      f = ++gap_frame;
    } else {
      return false;
    }
  }
  return true;
}

bool SuppressionMatcher::covers_plain(const StackPattern& pattern, const Stack& stack) {
  const std::size_t allocator = allocator_frames(stack);
  for (std::size_t from = 0; from <= allocator && from < stack.size(); ++from) {
    if (covers_from(pattern, {}, std::span(stack).subspan(from))) return true;
  }
  return false;
}

bool SuppressionMatcher::covers_allocation(const StackPattern& pattern,
                                           const Allocation& allocation) {
  const Stack& stack = allocation.stack;
  const std::size_t allocator = allocator_frames(stack);
  const std::size_t last_start = pattern.from_allocator ? allocator : allocator + 1;
  for (std::size_t from = 0; from < last_start && from < stack.size(); ++from) {
    if (covers_from(pattern, {}, std::span(stack).subspan(from))) return true;
  }
  if (allocation.api.empty()) return false;

  const auto [entry, added] = api_names_.try_emplace(allocation.api);
  if (added) entry->second = names_of_api(allocation.api);
  static const ApiNames kMalloc = names_of_api("malloc");
  const std::array<const ApiNames*, 2> lead = {&kMalloc, &entry->second};
  // strdup is called "strdup" or, as Valgrind sees it, "malloc" below "strdup".
  const bool derived = is_derived_api(allocation.api);
  for (std::size_t from = 0; from <= allocator; ++from) {
    const std::span<const Frame> rest = std::span(stack).subspan(from);
    if (covers_from(pattern, std::span(lead).subspan(1), rest)) return true;
    if (derived && covers_from(pattern, lead, rest)) return true;
  }
  return false;
}

bool SuppressionMatcher::covers_stack(const StackPattern& pattern, const Leak& leak) {
  const auto loss = [&] { return leak.loss && covers_plain(pattern, leak.loss->stack); };
  const auto last_use = [&] {
    return leak.last_use && covers_plain(pattern, leak.last_use->stack);
  };
  switch (pattern.part) {
    case StackPart::allocation:
      return covers_allocation(pattern, leak.allocation);
    case StackPart::loss:
      return loss();
    case StackPart::last_use:
      return last_use();
    case StackPart::any:
      break;
  }
  return covers_allocation(pattern, leak.allocation) || loss() || last_use();
}

bool SuppressionMatcher::covers(const Suppression& entry, const Leak& leak) {
  if (!entry.id.empty() && entry.id != leak.id) return false;
  if (!entry.kinds.empty() && std::ranges::find(entry.kinds, leak.kind) == entry.kinds.end()) {
    return false;
  }
  return std::ranges::all_of(
      entry.stacks, [&](const StackPattern& pattern) { return covers_stack(pattern, leak); });
}

}  // namespace plumb
