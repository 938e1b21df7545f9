#include "report/sarif.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "report/explain.h"
#include "report/sarif_place.h"
#include "report/sarif_result.h"
#include "report/sarif_run.h"
#include "report/sarif_words.h"

namespace plumb {
namespace {

constexpr const char* kSarifSchema =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

// What a dumped log ends with when the last member of its only run is empty.
constexpr std::string_view kTail = "[]\n    }\n  ]\n}";
constexpr std::string_view kResultIndent = "\n        ";

std::string dump(const SarifJson& json) {
  return json.dump(2, ' ', false, SarifJson::error_handler_t::replace);
}

SarifJson log_without_results(const Report& report, const SarifRules& rules,
                              const SarifPlaces& places) {
  SarifJson run = {
      {"tool", sarif_tool(report, rules)},
      {"automationDetails", {{"id", fmt::format("plumb/{}/", name_of(report.tool.engine))}}},
      {"invocations", SarifJson::array({sarif_invocation(report, places)})}};
  if (places.uris().has_root()) {
    run["originalUriBaseIds"] = {
        {kSarifSourceRoot,
         {{"uri", places.uris().root_uri()}, {"description", sarif_message("The source tree.")}}}};
  }
  run["columnKind"] = "unicodeCodePoints";
  run["properties"] = sarif_run_properties(report);
  run["results"] = SarifJson::array();
  return {{"$schema", kSarifSchema},
          {"version", "2.1.0"},
          {"runs", SarifJson::array({std::move(run)})}};
}

std::vector<const Leak*> most_important_first(const Report& report) {
  std::vector<const Leak*> leaks;
  leaks.reserve(report.leaks.size());
  for (const Leak& leak : report.leaks) leaks.push_back(&leak);
  // The address is the place in the report's own order.
  std::ranges::sort(leaks, {}, [](const Leak* leak) {
    return std::tuple(leak->hidden(), sarif_level(*leak), leak);
  });
  return leaks;
}

// Line ends inside strings are escaped, so each one here is the layout's.
void append_indented(std::string& out, std::string_view text) {
  out += kResultIndent;
  for (const char c : text) {
    if (c == '\n') {
      out += kResultIndent;
    } else {
      out += c;
    }
  }
}

}  // namespace

std::string write_sarif(const Report& report, const RenderOptions& options) {
  SarifPlaces places(report, options.source_root);
  const SarifRules rules = sarif_rules(report);
  SarifRunFacts facts;
  for (const Leak& leak : report.leaks) {
    facts.any_known |= leak.known;
    facts.any_suppressed |= leak.suppressed.has_value();
  }

  // Results are written one by one: as one tree, those of a large report would
  // take many times the memory of their text.
  std::string text = dump(log_without_results(report, rules, places));
  PLUMB_CHECK(text.ends_with(kTail));
  if (report.leaks.empty()) return text + "\n";
  text.resize(text.size() - kTail.size() + 1);
  std::map<std::string_view, std::size_t> occurrences;
  bool first = true;
  for (const Leak* leak : most_important_first(report)) {
    if (!std::exchange(first, false)) text += ',';
    const SarifJson result = sarif_result(*leak, report, facts, rules.index.at(rule_id(*leak)),
                                          ++occurrences[leak->id], places);
    append_indented(text, dump(result));
  }
  text += "\n      ";
  text += kTail.substr(1);
  text += '\n';
  return text;
}

}  // namespace plumb
