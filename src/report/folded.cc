// Folded stacks: one line per allocation stack and kind, root first, as
// flamegraph.pl and speedscope read them:
//
//   lost;main;handle;grow 4096
//
// The figure is bytes, a block together with what only it held; findings of
// `check`, which have no bytes, count one each.
#include "report/folded.h"

#include <algorithm>
#include <map>
#include <span>

#include <fmt/format.h>

#include "base/source.h"
#include "report/text_cells.h"
#include "report/text_place.h"
#include "report/text_stack.h"

namespace plumb {

namespace {

std::string frame_name(const Frame& frame, const Places& places) {
  std::string name = places.function(frame);
  std::replace(name.begin(), name.end(), ';', ':');
  return name == "?" ? "[unknown]" : name;
}

}  // namespace

std::string write_folded(const Report& report, const RenderOptions& options) {
  SourceCache sources;
  const Places places(report, sources, "", /*verbose=*/true);
  std::map<std::string, Count> weights;
  for (const Leak& leak : report.leaks) {
    if (leak.hidden() && !options.show_hidden) continue;
    std::string stack(name_of(leak.kind));
    const std::span<const Frame> frames = program_frames(leak.allocation.stack);
    for (std::size_t i = frames.size(); i-- > 0;) stack += ';' + frame_name(frames[i], places);
    if (frames.empty()) stack += ";[unknown]";
    Count weight = leak.total();
    if (report.tool.engine == Engine::check && weight.bytes == 0) weight.bytes = 1;
    weights[stack] += weight;
  }
  std::string text;
  for (const auto& [stack, weight] : weights) text += fmt::format("{} {}\n", stack, weight.bytes);
  return text;
}

}  // namespace plumb
