// What a SARIF run says beside its results: the tool with its rules, and the
// invocation with what limits the result.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "core/report.h"
#include "report/sarif_place.h"

namespace plumb {

// GitHub's limits per run.
inline constexpr std::size_t kGithubShownResults = 5000;
inline constexpr std::size_t kGithubMostResults = 25000;

struct SarifRules {
  SarifJson list = SarifJson::array();       // reportingDescriptors
  std::map<std::string, std::size_t> index;  // by id
};

// The rules that the report's leaks break, in the order of kinds and causes.
SarifRules sarif_rules(const Report& report);

SarifJson sarif_tool(const Report& report, const SarifRules& rules);
SarifJson sarif_invocation(const Report& report, const SarifPlaces& places);
SarifJson sarif_run_properties(const Report& report);

}  // namespace plumb
