// The published schema lists what the tables list: same names, same order,
// same members required.
#include "report/json_fields.h"

#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/file.h"

namespace plumb::json {
namespace {

using nlohmann::ordered_json;

ordered_json load_schema() {
  const Result<std::string> text = read_file(PLUMB_TEST_DATA "/../../../docs/report-schema.json");
  EXPECT_TRUE(text) << text.error().message();
  return ordered_json::parse(text.value_or("{}"));
}

template <typename Described>
void expect_same(std::string_view name, const Described& description, const ordered_json& schema) {
  SCOPED_TRACE(name);
  std::vector<std::string> names;
  std::vector<std::string> required;
  const auto visit = [&]<typename AnyRow>(const AnyRow& row) {
    names.emplace_back(row.name);
    if (AnyRow::kPresence == Presence::required) required.emplace_back(row.name);
    if constexpr (requires { row.object; }) {
      expect_same(row.name, row.object, schema.at("properties").at(std::string(row.name)));
    }
  };
  std::apply([&](const auto&... rows) { (visit(rows), ...); }, description.rows);
  std::vector<std::string> listed;
  for (const auto& [key, value] : schema.at("properties").items()) listed.push_back(key);
  EXPECT_EQ(listed, names);
  EXPECT_EQ(schema.value("required", std::vector<std::string>()), required);
}

TEST(JsonFields, SchemaDocumentListsTheSameMembers) {
  const ordered_json schema = load_schema();
  expect_same("report", kObject<Report>, schema);
  const ordered_json& defs = schema.at("$defs");
  std::size_t seen = 0;
  const auto check = [&](const std::string& name, const auto& description) {
    expect_same(name, description, defs.at(name));
    ++seen;
  };
  check("tool", kObject<Tool>);
  check("subject", kObject<Subject>);
  check("status", kObject<Status>);
  check("module", kObject<Module>);
  check("totals", kObject<Totals>);
  check("stage", kObject<Stage>);
  check("count", kObject<Count>);
  check("leak", kObject<Leak>);
  check("sizeRange", kObject<SizeRange>);
  check("allocation", kObject<Allocation>);
  check("loss", kObject<Loss>);
  check("lastUse", kObject<LastUse>);
  check("siblingFree", kObject<SiblingFree>);
  check("holder", kObject<Holder>);
  check("step", kObject<Step>);
  check("summary", kObject<Summary>);
  check("summaryNode", kObject<SummaryNode>);
  check("summaryEdge", kObject<SummaryEdge>);
  check("age", kObject<Age>);
  check("fix", kObject<Fix>);
  check("suppressed", kObject<Suppressed>);
  check("note", kObject<Note>);
  check("sample", kObject<Sample>);
  check("frame", kObject<Frame>);
  EXPECT_EQ(seen + 1, defs.size());  // and `stack`, which is no object
}

template <typename Enum>
void expect_same_words(const ordered_json& property) {
  std::vector<std::string> words;
  for (const auto& [value, name] : kNames<Enum>) words.emplace_back(name);
  EXPECT_EQ(property.at("enum").get<std::vector<std::string>>(), words);
}

TEST(JsonFields, SchemaDocumentListsTheSameWords) {
  const ordered_json defs = load_schema().at("$defs");
  const auto property = [&](const char* object, const char* name) {
    return defs.at(object).at("properties").at(name);
  };
  expect_same_words<Engine>(property("tool", "engine"));
  expect_same_words<Kind>(property("leak", "kind"));
  expect_same_words<When>(property("leak", "when"));
  expect_same_words<Cause>(property("loss", "cause"));
  expect_same_words<UseKind>(property("lastUse", "what"));
}

}  // namespace
}  // namespace plumb::json
