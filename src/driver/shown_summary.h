// `plumb check --show-summary`: what is known of functions, in words, as JSON for tools
// and as a graph in Graphviz's language, drawn as the papers draw procedure summaries.
#pragma once

#include <string>
#include <vector>

#include "base/names.h"
#include "check/check.h"

namespace plumb {

enum class SummaryForm { text, json, dot };

template <>
inline constexpr auto kNames<SummaryForm> = name_table<SummaryForm>(
    {{SummaryForm::text, "text"}, {SummaryForm::json, "json"}, {SummaryForm::dot, "dot"}});

std::string shown_summaries(const std::vector<check::ShownSummary>& summaries, SummaryForm form);

}  // namespace plumb
