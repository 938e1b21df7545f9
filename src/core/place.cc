#include "core/place.h"

#include <algorithm>
#include <string_view>
#include <tuple>

#include "base/text.h"

namespace plumb {

namespace {

// Unknown comes first.
std::int64_t line_of(const Frame& frame) {
  if (!frame.line) return -1;
  const std::int64_t line = *frame.line;
  return frame.function_line ? line - std::int64_t{*frame.function_line} : line;
}

std::string_view module_name(const Frame& frame, const Report& report) {
  const Module* module = module_of(frame, report);
  return module == nullptr ? std::string_view() : base_name(module->path);
}

using FrameOrder = std::strong_ordering (*)(const Frame&, const Report&, const Frame&,
                                            const Report&);

// The file's own name comes before its directories, which move.
std::strong_ordering by_source(const Frame& a, const Report&, const Frame& b, const Report&) {
  if (const auto by = base_name(a.file) <=> base_name(b.file); by != 0) return by;
  if (const auto by = a.file <=> b.file; by != 0) return by;
  if (const auto by = line_of(a) <=> line_of(b); by != 0) return by;
  return a.column <=> b.column;
}

std::strong_ordering by_code(const Frame& a, const Report& a_report, const Frame& b,
                             const Report& b_report) {
  if (const auto by = module_name(a, a_report) <=> module_name(b, b_report); by != 0) return by;
  return a.offset <=> b.offset;
}

std::strong_ordering compare_stacks(const Stack& a, const Report& a_report, const Stack& b,
                                    const Report& b_report, FrameOrder order) {
  const std::size_t common = std::min(a.size(), b.size());
  for (std::size_t i = 0; i < common; ++i) {
    if (const auto by = order(a[i], a_report, b[i], b_report); by != 0) return by;
  }
  return a.size() <=> b.size();
}

std::strong_ordering compare_paths(const std::vector<Step>& a, const Report& a_report,
                                   const std::vector<Step>& b, const Report& b_report,
                                   FrameOrder order) {
  const std::size_t common = std::min(a.size(), b.size());
  for (std::size_t i = 0; i < common; ++i) {
    const auto by = order(a[i].location, a_report, b[i].location, b_report);
    if (by != 0) return by;
    const auto words = std::tie(a[i].event, a[i].branch, a[i].text) <=>
                       std::tie(b[i].event, b[i].branch, b[i].text);
    if (words != 0) return words;
  }
  return a.size() <=> b.size();
}

std::strong_ordering compare_all(const PlacedLeak& a, const PlacedLeak& b, FrameOrder order) {
  const Leak& x = *a.leak;
  const Leak& y = *b.leak;
  const auto allocation =
      compare_stacks(x.allocation.stack, *a.report, y.allocation.stack, *b.report, order);
  if (allocation != 0) return allocation;
  const auto loss = compare_stacks(loss_stack(x), *a.report, loss_stack(y), *b.report, order);
  if (loss != 0) return loss;
  return compare_paths(x.path, *a.report, y.path, *b.report, order);
}

std::strong_ordering compare_figures(const Leak& a, const Leak& b) {
  const auto figures = [](const Leak& leak) {
    const SizeRange sizes = leak.sizes.value_or(SizeRange{});
    return std::tuple(leak.direct.bytes, leak.direct.blocks, leak.indirect.bytes,
                      leak.indirect.blocks, sizes.min, sizes.max,
                      std::string_view(leak.allocation.api), leak.when, leak.frees.size(),
                      leak.holders.size(), leak.window.size());
  };
  return figures(a) <=> figures(b);
}

std::uint64_t frame_distance(const Frame& a, const Frame& b) {
  constexpr std::uint64_t kElsewhere = 1'000'000;  // another file: further than any line
  if (a.file != b.file && base_name(a.file) != base_name(b.file)) return kElsewhere;
  if (a.line && b.line) {
    const std::int64_t lines = line_of(a) - line_of(b);
    const std::uint64_t apart = static_cast<std::uint64_t>(lines < 0 ? -lines : lines);
    // A column apart is less than a line apart.
    return std::min(kElsewhere, apart * 2 + (a.column != b.column ? 1 : 0));
  }
  return a.offset == b.offset ? 0 : 1;
}

std::uint64_t stack_distance(const Stack& a, const Stack& b) {
  const std::size_t common = std::min(a.size(), b.size());
  std::uint64_t sum = std::max(a.size(), b.size()) - common;
  for (std::size_t i = 0; i < common; ++i) sum += frame_distance(a[i], b[i]);
  return sum;
}

}  // namespace

const Stack& loss_stack(const Leak& leak) {
  static const Stack kNone;
  return leak.loss ? leak.loss->stack : kNone;
}

const Module* module_of(const Frame& frame, const Report& report) {
  if (!frame.module || frame.module->index >= report.modules.size()) return nullptr;
  return &report.modules[frame.module->index];
}

std::strong_ordering compare_places(const PlacedLeak& a, const PlacedLeak& b) {
  // Addresses only where the source does not decide: a rebuild moves them.
  if (const auto source = compare_all(a, b, by_source); source != 0) return source;
  if (const auto code = compare_all(a, b, by_code); code != 0) return code;
  return compare_figures(*a.leak, *b.leak);
}

std::uint64_t place_distance(const PlacedLeak& a, const PlacedLeak& b) {
  return stack_distance(a.leak->allocation.stack, b.leak->allocation.stack) +
         stack_distance(loss_stack(*a.leak), loss_stack(*b.leak));
}

}  // namespace plumb
