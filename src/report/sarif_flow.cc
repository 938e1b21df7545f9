#include "report/sarif_flow.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "report/sarif_words.h"

namespace plumb {
namespace {

struct FlowPlace {
  const Frame* frame = nullptr;
  std::string text;
  std::vector<std::string_view> kinds;
  std::string_view importance = "important";
  std::size_t nesting = 0;
};

std::vector<std::string_view> kinds_of(const Step& step) {
  if (step.event == "allocate") return {"acquire", "memory"};
  if (step.event == "free") return {"release", "memory"};
  if (step.event == "call") return {"call", "function"};
  if (step.event == "return") return {"return", "function"};
  if (step.event == "lose") return {"danger", "memory"};
  if (step.event == "branch") {
    if (step.branch == "taken") return {"branch", "true"};
    if (step.branch == "not taken") return {"branch", "false"};
    return {"branch"};
  }
  return {};
}

std::string text_of(const Step& step) {
  if (std::string text = sarif_sentence(step.text); !text.empty()) return text;
  std::string text = step.event.empty() ? "Step" : "Step " + sarif_quoted(step.event);
  if (!step.call.empty()) text += " of " + sarif_quoted(step.call);
  if (!step.condition.empty()) text += " on " + sarif_quoted(step.condition);
  if (!step.branch.empty()) text += ": " + sarif_quoted(step.branch);
  return text + ".";
}

SarifJson flow_location(const FlowPlace& place, SarifPlaces& places) {
  SarifJson step = {{"location", places.location(*place.frame, place.text)}};
  if (!place.kinds.empty()) step["kinds"] = place.kinds;
  step["nestingLevel"] = place.nesting;
  step["importance"] = place.importance;
  return step;
}

// Stands for `steps` that are not shown, of which `first` is the first.
SarifJson left_out(const Step& first, std::size_t steps, std::size_t nesting, SarifPlaces& places) {
  const std::string text = fmt::format("From here on {} left out.", count_of(steps, "step"));
  return flow_location({&first.location, text, {}, "unimportant", nesting}, places);
}

SarifJson path_locations(const std::vector<Step>& path, SarifPlaces& places) {
  constexpr std::size_t kHead = kSarifMostSteps / 2;
  constexpr std::size_t kTail = kSarifMostSteps - kHead - 1;
  const bool elided = path.size() > kSarifMostSteps;
  const std::size_t gap_end = elided ? path.size() - kTail : 0;
  SarifJson locations = SarifJson::array();
  std::size_t nesting = 0;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const Step& step = path[i];
    if (step.event == "return" && nesting > 0) --nesting;
    const bool shown = !elided || i < kHead || i >= gap_end;
    if (places.has_file(step.location)) {
      const bool essential = step.event == "allocate" || step.event == "lose";
      if (shown) {
        locations.push_back(flow_location({&step.location, text_of(step), kinds_of(step),
                                           essential ? "essential" : "important", nesting},
                                          places));
      } else if (i == kHead) {
        locations.push_back(left_out(step, gap_end - kHead, nesting, places));
      }
    }
    if (step.event == "call") ++nesting;
  }
  return locations;
}

// Adds a place of a stack; the nesting is its distance from the outermost frame.
void add_place(std::vector<FlowPlace>& flow, const Stack& stack, const SarifPlaces& places,
               FlowPlace place) {
  place.frame = user_frame(stack);
  if (place.frame == nullptr || !places.has_file(*place.frame)) return;
  place.nesting = static_cast<std::size_t>(stack.data() + stack.size() - 1 - place.frame);
  flow.push_back(std::move(place));
}

SarifJson life_locations(const Leak& leak, SarifPlaces& places) {
  std::vector<FlowPlace> flow;
  add_place(flow, leak.allocation.stack, places,
            {nullptr, "Allocated here.", {"acquire", "memory"}, "essential", 0});
  if (leak.last_use) {
    add_place(flow, leak.last_use->stack, places,
              {nullptr, "Last used here.", {"memory"}, "important", 0});
  }
  if (leak.loss) {
    add_place(flow, leak.loss->stack, places,
              {nullptr, "Lost here.", {"danger", "memory"}, "essential", 0});
  }
  std::size_t outermost = std::numeric_limits<std::size_t>::max();
  for (const FlowPlace& place : flow) outermost = std::min(outermost, place.nesting);
  SarifJson locations = SarifJson::array();
  for (FlowPlace& place : flow) {
    place.nesting -= outermost;
    locations.push_back(flow_location(place, places));
  }
  return locations;
}

}  // namespace

SarifJson sarif_code_flows(const Leak& leak, SarifPlaces& places) {
  SarifJson locations =
      leak.path.empty() ? life_locations(leak, places) : path_locations(leak.path, places);
  if (locations.size() < 2) return {};
  SarifJson thread_flow = {{"locations", std::move(locations)}};
  SarifJson flow = {{"threadFlows", SarifJson::array({std::move(thread_flow)})}};
  return SarifJson::array({std::move(flow)});
}

}  // namespace plumb
