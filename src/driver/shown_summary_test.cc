#include "driver/shown_summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace plumb {
namespace {

using testing::HasSubstr;

std::vector<check::ShownSummary> sample() {
  check::ShownSummary one;
  one.file = "list.c";
  one.line = 7;
  one.summary.function = "operator\"\"_list";
  one.summary.text = "  returns new#1";
  one.summary.nodes = {{"v1", "new#1", "allocated", {}}, {"v2", "n", "freed", {}}};
  one.summary.edges = {{"v2", "v1", "next", true, {}}, {"v1", "v2", "name", false, {}}};
  one.categories = {{check::CategoryKind::alloc2ret, "line 8", "ret"},
                    {check::CategoryKind::arg2free, "n", ""}};
  return {one};
}

TEST(ShownSummary, AsText) {
  EXPECT_EQ(shown_summaries(sample(), SummaryForm::text),
            "operator\"\"_list (list.c:7)\n"
            "  returns new#1\n"
            "  in SPARROW's categories:\n"
            "    Alloc2Ret   line 8 -> ret\n"
            "    Arg2Free    n\n");
}

TEST(ShownSummary, AsJson) {
  const auto json = nlohmann::json::parse(shown_summaries(sample(), SummaryForm::json));
  ASSERT_EQ(json.size(), 1u);
  EXPECT_EQ(json[0]["function"], "operator\"\"_list");
  EXPECT_EQ(json[0]["line"], 7);
  EXPECT_EQ(json[0]["categories"][0]["category"], "Alloc2Ret");
  EXPECT_FALSE(json[0]["categories"][1].contains("to"));
  EXPECT_EQ(json[0]["nodes"][1]["state"], "freed");
  EXPECT_EQ(json[0]["edges"][0]["before"], true);
  EXPECT_FALSE(json[0]["edges"][1].contains("before"));
}

// What Graphviz would take for its own syntax is escaped.
TEST(ShownSummary, AsGraph) {
  const std::string dot = shown_summaries(sample(), SummaryForm::dot);
  EXPECT_THAT(dot, HasSubstr("label=\"operator\\\"\\\"_list (list.c:7)\""));
  EXPECT_THAT(dot, HasSubstr("\"0.v1\" [label=\"new#1\", peripheries=2];"));
  EXPECT_THAT(dot, HasSubstr("\"0.v2\" -> \"0.v1\" [label=\"next\", style=dotted];"));
  EXPECT_THAT(dot, HasSubstr("\"0.v1\" -> \"0.v2\" [label=\"name\"];"));
}

}  // namespace
}  // namespace plumb
