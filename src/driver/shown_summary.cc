#include "driver/shown_summary.h"

#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace plumb {

namespace {

using check::Category;
using check::ShownSummary;

std::string title_of(const ShownSummary& each) {
  return fmt::format("{} ({}:{})", each.summary.function, each.file, each.line);
}

std::string as_text(const std::vector<ShownSummary>& summaries) {
  std::string out;
  for (const ShownSummary& each : summaries) {
    out += title_of(each) + '\n';
    if (!each.summary.text.empty()) out += each.summary.text + '\n';
    if (!each.categories.empty()) out += "  in SPARROW's categories:\n";
    for (const Category& category : each.categories) {
      out += fmt::format("    {:<11} {}{}{}\n", name_of(category.kind), category.from,
                         category.to.empty() ? "" : " -> ", category.to);
    }
  }
  return out;
}

std::string as_json(const std::vector<ShownSummary>& summaries) {
  using Json = nlohmann::ordered_json;
  Json root = Json::array();
  for (const ShownSummary& each : summaries) {
    Json one{{"function", each.summary.function},
             {"file", each.file},
             {"line", each.line},
             {"text", each.summary.text},
             {"categories", Json::array()},
             {"nodes", Json::array()},
             {"edges", Json::array()}};
    for (const Category& category : each.categories) {
      Json row{{"category", name_of(category.kind)}, {"from", category.from}};
      if (!category.to.empty()) row["to"] = category.to;
      one["categories"].push_back(std::move(row));
    }
    for (const SummaryNode& node : each.summary.nodes) {
      Json row{{"id", node.id}, {"label", node.label}};
      if (!node.state.empty()) row["state"] = node.state;
      one["nodes"].push_back(std::move(row));
    }
    for (const SummaryEdge& edge : each.summary.edges) {
      Json row{{"from", edge.from}, {"to", edge.to}, {"label", edge.label}};
      if (edge.before) row["before"] = true;
      one["edges"].push_back(std::move(row));
    }
    root.push_back(std::move(one));
  }
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::string dot_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return out + '"';
}

std::string_view look_of(const SummaryNode& node) {
  if (node.state == "allocated") return ", peripheries=2";
  if (node.state == "freed") return ", style=dashed";
  return "";
}

std::string as_dot(const std::vector<ShownSummary>& summaries) {
  std::string out =
      "// allocated: two lines; freed: dashed. What was there before the call is dotted.\n"
      "digraph summaries {\n  node [shape=box, fontname=\"monospace\"];\n"
      "  edge [fontname=\"monospace\"];\n";
  for (std::size_t i = 0; i < summaries.size(); ++i) {
    const plumb::Summary& graph = summaries[i].summary;
    out += fmt::format("  subgraph cluster_{} {{\n    label={};\n", i,
                       dot_string(title_of(summaries[i])));
    const auto id = [&](const std::string& node) {
      return dot_string(fmt::format("{}.{}", i, node));
    };
    for (const SummaryNode& node : graph.nodes) {
      out +=
          fmt::format("    {} [label={}{}];\n", id(node.id), dot_string(node.label), look_of(node));
    }
    for (const SummaryEdge& edge : graph.edges) {
      out += fmt::format("    {} -> {} [label={}{}];\n", id(edge.from), id(edge.to),
                         dot_string(edge.label), edge.before ? ", style=dotted" : "");
    }
    out += "  }\n";
  }
  return out + "}\n";
}

}  // namespace

std::string shown_summaries(const std::vector<ShownSummary>& summaries, SummaryForm form) {
  switch (form) {
    case SummaryForm::text:
      return as_text(summaries);
    case SummaryForm::json:
      return as_json(summaries);
    case SummaryForm::dot:
      return as_dot(summaries);
  }
  return {};
}

}  // namespace plumb
