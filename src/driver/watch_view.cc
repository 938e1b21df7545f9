#include "driver/watch_view.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "report/text_cells.h"

namespace plumb {

namespace {

constexpr std::size_t kMostSites = 15;
constexpr std::size_t kPoints = 48;

std::string amount(double bytes) {
  constexpr std::array<std::string_view, 5> kUnits = {"B", "kB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  while (bytes >= 9999.5 && unit + 1 < kUnits.size()) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{:.0f} {}", bytes, kUnits[unit]);
}

std::string place_of(const Leak& leak) {
  const Frame* frame = user_frame(leak.allocation.stack);
  if (frame == nullptr) return "?";
  std::string text = frame->function.empty() ? "?" : printable(frame->function);
  if (!frame->file.empty()) {
    text += fmt::format(" ({}:{})", printable(base_name(frame->file)), frame->line.value_or(0));
  }
  return text;
}

}  // namespace

std::string sparkline(const std::vector<double>& values) {
  constexpr std::array<std::string_view, 8> kBars = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const double most = values.empty() ? 0 : *std::ranges::max_element(values);
  std::string line;
  for (const double value : values) {
    const double share = most <= 0 ? 0 : std::clamp(value / most, 0.0, 1.0);
    line += kBars[std::min<std::size_t>(7, static_cast<std::size_t>(share * 8))];
  }
  return line;
}

std::string watch_view(const Report& report, const Screen& screen) {
  std::vector<double> heap;
  const std::size_t skip = report.series.size() > kPoints ? report.series.size() - kPoints : 0;
  for (std::size_t i = skip; i < report.series.size(); ++i) {
    heap.push_back(static_cast<double>(report.series[i].heap_bytes));
  }
  const Sample now = report.series.empty() ? Sample{} : report.series.back();
  std::string text =
      fmt::format("plumb watch  process {}  up {:.0f} s, {:.1f} s of CPU time\n",
                  report.subject.pid.value_or(0), report.subject.duration.value_or(0), now.time);
  text += fmt::format("{}\n", printable(fmt::format("{}", fmt::join(report.subject.command, " "))));
  text += fmt::format("heap {:>9}  {}  idle {}\n\n", amount(static_cast<double>(now.heap_bytes)),
                      sparkline(heap), amount(now.stale_bytes.value_or(0)));
  text += fmt::format("{:>9} {:>9} {:>7} {:>9} {:>5}  {}\n", "stale", "blocks", "growth", "idle",
                      "sure", "allocated in");
  std::size_t shown = 0;
  for (const Leak& leak : report.leaks) {
    if (leak.hidden()) continue;
    if (++shown > kMostSites) break;
    const Age age = leak.age.value_or(Age{});
    text += fmt::format("{:>9} {:>9} {:>6.2f}x {:>7.1f} s {:>4.0f}%  {}\n",
                        amount(static_cast<double>(leak.direct.bytes)), leak.direct.blocks,
                        age.growth.value_or(1), age.idle.value_or(0), leak.confidence * 100,
                        place_of(leak));
  }
  if (shown == 0) text += "  nothing stale so far\n";
  std::string cut;
  for (const std::string_view line : split(text, '\n')) {
    cut += cut_columns(line, 0, screen.width) + '\n';
  }
  return cut;
}

}  // namespace plumb
