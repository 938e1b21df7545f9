#include "report/sarif_result.h"

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "core/lead.h"
#include "report/explain.h"
#include "report/sarif_flow.h"
#include "report/sarif_words.h"
#include "report/text_cells.h"

namespace plumb {
namespace {

bool has_line(const Frame& frame) { return !frame.file.empty() && frame.line.value_or(0) > 0; }

// Frames that may stand for the leak, best first; none of the allocator's own.
std::vector<const Frame*> candidates(const Leak& leak, const Report& report) {
  std::vector<const Frame*> frames;
  const auto add = [&](const Stack& stack) {
    const Frame* end = stack.data() + stack.size();
    for (const Frame* frame = user_frame(stack); frame != nullptr && frame != end; ++frame) {
      frames.push_back(frame);
    }
  };
  if (const Frame* primary = primary_frame(leak, report); primary != nullptr)
    frames.push_back(primary);
  if (leak.loss) add(leak.loss->stack);
  for (std::size_t i = leak.path.size(); i-- > 0;) frames.push_back(&leak.path[i].location);
  add(leak.allocation.stack);
  if (leak.last_use) add(leak.last_use->stack);
  return frames;
}

const Frame* shown_frame(const Leak& leak, const Report& report, const SarifPlaces& places) {
  const Frame* with_line = nullptr;
  for (const Frame* frame : candidates(leak, report)) {
    if (!has_line(*frame)) continue;
    if (places.in_source_tree(*frame)) return frame;
    if (with_line == nullptr) with_line = frame;
  }
  return with_line != nullptr ? with_line : primary_frame(leak, report);
}

// The program or module in which a leak without any source line is.
std::string_view shown_module(const Frame* frame, const Report& report, const SarifPlaces& places) {
  if (frame != nullptr && !places.module_path(*frame).empty()) return places.module_path(*frame);
  if (!report.modules.empty() && !report.modules[0].path.empty()) return report.modules[0].path;
  return report.subject.command.empty() ? std::string_view() : report.subject.command[0];
}

SarifJson first_location(const Leak& leak, const Report& report, SarifPlaces& places) {
  const Frame* frame = shown_frame(leak, report, places);
  SarifJson location = frame != nullptr ? places.location(*frame) : SarifJson::object();
  if (!location.contains("physicalLocation")) {
    const std::string_view module = shown_module(frame, report, places);
    if (module.empty()) return location;
    location["physicalLocation"] = {{"artifactLocation", places.artifact(module)}};
  }
  SarifJson& place = location["physicalLocation"];
  if (!place.contains("region")) place["region"] = {{"startLine", 1}};
  return location;
}

std::string holder_text(const Holder& holder) {
  std::string text = "What is allocated here is still held by " + sarif_quoted(holder.name);
  if (!holder.storage.empty()) text += fmt::format(" ({})", sarif_quoted(holder.storage));
  for (std::size_t i = 0; i < holder.chain.size() && i < kSarifMostRelated; ++i) {
    text += (i == 0 ? ", by way of " : " -> ") + sarif_quoted(holder.chain[i]);
  }
  return text + ".";
}

// Places beside the first, numbered from 1, up to the limit.
class RelatedPlaces {
 public:
  explicit RelatedPlaces(SarifPlaces& places) : places_(places) {}

  void add(const Frame* frame, std::string_view text) {
    if (frame == nullptr || !places_.has_file(*frame)) return;
    add(places_.location(*frame, text));
  }

  // A holder has no place of its own: it is told where the block comes from.
  void add_holder(const Frame* allocated, const Holder& holder) {
    if (allocated == nullptr || !places_.has_file(*allocated)) return;
    SarifJson location = places_.location(*allocated, holder_text(holder));
    SarifJson variable = {{"fullyQualifiedName", printable(holder.name)}, {"kind", "variable"}};
    location["logicalLocations"] = SarifJson::array({std::move(variable)});
    add(location);
  }

  SarifJson take() { return std::move(list_); }
  std::size_t left_out() const { return left_out_; }

 private:
  void add(const SarifJson& location) {
    if (list_.size() == kSarifMostRelated) {
      ++left_out_;
      return;
    }
    SarifJson numbered = {{"id", list_.size() + 1}};
    numbered.update(location);
    list_.push_back(std::move(numbered));
  }

  SarifPlaces& places_;
  SarifJson list_ = SarifJson::array();
  std::size_t left_out_ = 0;
};

void add_related(const Leak& leak, RelatedPlaces& related) {
  related.add(user_frame(leak.allocation.stack), "Allocated here.");
  if (leak.last_use) {
    related.add(user_frame(leak.last_use->stack),
                leak.last_use->what
                    ? fmt::format("Last used here: {}.", name_of(*leak.last_use->what))
                    : "Last used here.");
  }
  if (leak.loss) related.add(user_frame(leak.loss->stack), "Lost here.");
  if (leak.fix && leak.fix->place) {
    related.add(&*leak.fix->place, "Suggestion: " + sarif_sentence(leak.fix->text));
  }
  for (const SiblingFree& free : leak.frees) {
    related.add(user_frame(free.stack),
                fmt::format("{} from the same place {} freed here.",
                            count_of(free.blocks, "other block"), free.blocks == 1 ? "is" : "are"));
  }
  for (const Holder& holder : leak.holders) {
    related.add_holder(user_frame(leak.allocation.stack), holder);
  }
  for (const Frame& point : leak.window) related.add(&point, "A free here would mend the leak.");
}

SarifJson stacks_of(const Leak& leak, SarifPlaces& places) {
  SarifJson stacks = SarifJson::array();
  const auto add = [&](const Stack& stack, std::string_view text) {
    if (!stack.empty()) stacks.push_back(places.stack(stack, text));
  };
  add(leak.allocation.stack, "Allocation.");
  if (leak.last_use) add(leak.last_use->stack, "Last use.");
  if (leak.loss) add(leak.loss->stack, "Loss.");
  return stacks;
}

SarifJson suppressions_of(const Leak& leak) {
  SarifJson list = SarifJson::array();
  if (!leak.suppressed) return list;
  const Suppressed& by = *leak.suppressed;
  list.push_back(
      {{"kind", "external"},
       {"status", "accepted"},
       {"justification", printable(by.reason.empty() ? "Suppressed by " + by.by : by.reason)},
       {"properties", {{"by", printable(by.by)}}}});
  return list;
}

SarifJson properties_of(const Leak& leak) {
  SarifJson bag = {{"kind", name_of(leak.kind)}};
  if (leak.confidence >= 0 && leak.confidence <= 1) bag["confidence"] = leak.confidence;
  bag["resource"] = printable(leak.resource);
  if (leak.when) bag["when"] = name_of(*leak.when);
  if (leak.loss && leak.loss->cause) bag["cause"] = name_of(*leak.loss->cause);
  if (leak.loss && leak.loss->holder) bag["holder"] = printable(leak.loss->holder->name);
  bag["bytes"] = leak.direct.bytes;
  bag["blocks"] = leak.direct.blocks;
  bag["indirectBytes"] = leak.indirect.bytes;
  bag["indirectBlocks"] = leak.indirect.blocks;
  if (!leak.allocation.api.empty()) bag["api"] = printable(leak.allocation.api);
  if (leak.fix) bag["suggestion"] = printable(leak.fix->text);
  return bag;
}

}  // namespace

SarifJson sarif_result(const Leak& leak, const Report& report, const SarifRunFacts& facts,
                       std::size_t rule_index, std::size_t occurrence, SarifPlaces& places) {
  SarifJson result = {{"ruleId", rule_id(leak)},
                      {"ruleIndex", rule_index},
                      {"level", name_of(sarif_level(leak))},
                      {"message", sarif_message(sarif_summary(leak, report.tool.engine))}};
  SarifJson first = first_location(leak, report, places);
  result["locations"] = first.empty() ? SarifJson::array() : SarifJson::array({std::move(first)});
  RelatedPlaces related(places);
  add_related(leak, related);
  if (SarifJson list = related.take(); !list.empty()) result["relatedLocations"] = std::move(list);
  if (SarifJson flows = sarif_code_flows(leak, places); !flows.is_null()) {
    result["codeFlows"] = std::move(flows);
  }
  if (SarifJson stacks = stacks_of(leak, places); !stacks.empty()) {
    result["stacks"] = std::move(stacks);
  }
  if (!leak.id.empty()) {
    // GitHub tells alerts apart by the first; its form is HASH:OCCURRENCE.
    const std::string id = printable(leak.id);
    result["partialFingerprints"] = {
        {"primaryLocationLineHash", fmt::format("{}:{}", id, occurrence)}, {"plumb/v1", id}};
  }
  if (facts.any_suppressed) result["suppressions"] = suppressions_of(leak);
  if (facts.any_known) result["baselineState"] = leak.known ? "unchanged" : "new";
  result["properties"] = properties_of(leak);
  if (related.left_out() > 0) result["properties"]["placesLeftOut"] = related.left_out();
  return result;
}

}  // namespace plumb
