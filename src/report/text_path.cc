#include "report/text_path.h"

#include <fmt/format.h>

#include "base/text.h"
#include "report/text_cells.h"

namespace plumb {

namespace {

// A path ends at the loss and starts at the allocation: both ends matter.
constexpr std::size_t kFirstSteps = 5;
constexpr std::size_t kLastSteps = 6;

std::string words_of(const Step& step) {
  std::string text = printable(step.text.empty() ? step.event : step.text);
  if (step.text.empty() && !step.call.empty()) text += " " + printable(step.call);
  const bool said = step.text.find(step.condition) != std::string::npos;
  if (!step.condition.empty() && said) return text;  // and which way it went
  if (!step.condition.empty()) {
    text += fmt::format(" [{}{}{}]", printable(step.condition), step.branch.empty() ? "" : ": ",
                        printable(step.branch));
  } else if (!step.branch.empty()) {
    text += fmt::format(" [{}]", printable(step.branch));
  }
  return text;
}

}  // namespace

std::string write_path(const std::vector<Step>& path, const Places& places, const Page& page,
                       bool whole) {
  if (path.empty()) return {};
  std::string text = Paragraph(2, 6).add("path:").render(page);
  const bool elide = !whole && path.size() > kFirstSteps + kLastSteps + 1;
  const std::size_t widest = fmt::format("{}. ", path.size()).size();
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (elide && i == kFirstSteps) {
      const std::size_t left_out = path.size() - kFirstSteps - kLastSteps;
      Paragraph gap(4, 8);
      gap.add(fmt::format("... {}: --verbose shows them", count_of(left_out, "more step")),
              Tone::faint);
      text += gap.render(page);
      i += left_out;
    }
    const std::string number = fmt::format("{}. ", i + 1);
    Paragraph line(4 + widest - number.size(), 4 + widest);
    line.add(number, Tone::faint);
    line.add(places.line(path[i].location), Tone::strong).add(": ");
    line.add(words_of(path[i]));
    text += line.render(page);
  }
  return text;
}

}  // namespace plumb
