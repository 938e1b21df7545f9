#include "report/sarif.h"

#include <unistd.h>

#include <filesystem>
#include <limits>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/text.h"
#include "report/sarif_flow.h"
#include "report/sarif_result.h"
#include "report/sarif_run.h"
#include "report/sarif_words.h"

namespace plumb {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

json written(const Report& report, const std::string& root = "") {
  RenderOptions options;
  options.source_root = root;
  return json::parse(write_sarif(report, options));
}

json run_of(const Report& report, const std::string& root = "") {
  return written(report, root)["runs"][0];
}

json result_of(const Leak& leak, const std::string& root = "") {
  Report report;
  report.leaks = {leak};
  return run_of(report, root)["results"][0];
}

Frame frame(std::string function, std::string file, std::uint32_t line) {
  Frame frame;
  frame.function = std::move(function);
  frame.file = std::move(file);
  frame.line = line;
  return frame;
}

Leak lost(std::string id = "1111111111111111") {
  Leak leak;
  leak.id = std::move(id);
  leak.direct = {.blocks = 2, .bytes = 4096, .extra = {}};
  leak.allocation = {
      {frame("malloc", "malloc.c", 1), frame("grow", "/s/server.c", 51)}, "malloc", {}};
  return leak;
}

Leak lost_at(Cause cause, Stack stack) {
  Leak leak = lost();
  leak.loss = Loss{.cause = cause, .stack = std::move(stack), .holder = {}, .extra = {}};
  return leak;
}

TEST(Sarif, AnEmptyReportIsAWholeLog) {
  const json log = written(Report{});
  EXPECT_EQ(log["version"], "2.1.0");
  ASSERT_EQ(log["runs"].size(), 1U);
  EXPECT_EQ(log["runs"][0]["results"], json::array());
  EXPECT_EQ(log["runs"][0]["tool"]["driver"]["name"], "plumb");
  EXPECT_EQ(log["runs"][0]["columnKind"], "unicodeCodePoints");
  EXPECT_EQ(log["runs"][0]["automationDetails"]["id"], "plumb/run/");
  EXPECT_FALSE(log["runs"][0].contains("originalUriBaseIds"));
}

TEST(Sarif, EveryKindAndCauseIsARuleWithHelp) {
  Report report;
  for (const auto& [cause, name] : kNames<Cause>) report.leaks.push_back(lost_at(cause, {}));
  for (const auto& [kind, name] : kNames<Kind>) {
    report.leaks.push_back(lost());
    report.leaks.back().kind = kind;
  }
  const json run = run_of(report);
  const json& rules = run["tool"]["driver"]["rules"];
  ASSERT_EQ(rules.size(), report.leaks.size());
  std::set<std::string> ids, names;
  for (const json& rule : rules) {
    ids.insert(rule["id"]);
    names.insert(rule["name"]);
    for (const char* member : {"shortDescription", "fullDescription", "help"}) {
      EXPECT_GT(rule[member]["text"].get<std::string>().size(), 10U);
    }
    EXPECT_THAT(rule["help"]["markdown"], HasSubstr("## How to mend it"));
    EXPECT_THAT(rule["help"]["text"].get<std::string>(), Not(HasSubstr("##")));
    EXPECT_TRUE(rule["properties"].contains("precision"));
    EXPECT_TRUE(rule["properties"].contains("problem.severity"));
  }
  EXPECT_EQ(ids.size(), rules.size());
  EXPECT_EQ(names.size(), rules.size());
  for (const json& result : run["results"]) {
    EXPECT_EQ(rules[result["ruleIndex"].get<std::size_t>()]["id"], result["ruleId"]);
  }
}

TEST(Sarif, OnlyRulesThatOccurAreListed) {
  Report report;
  report.leaks = {lost(), lost()};
  const json run = run_of(report);
  ASSERT_EQ(run["tool"]["driver"]["rules"].size(), 1U);
  EXPECT_EQ(run["tool"]["driver"]["rules"][0]["id"], "leak/lost");
}

TEST(Sarif, TheFirstPlaceIsTheLoss) {
  const json result =
      result_of(lost_at(Cause::overwritten, {frame("handle", "/s/server.c", 88)}), "/s");
  ASSERT_EQ(result["locations"].size(), 1U);
  const json& place = result["locations"][0]["physicalLocation"];
  EXPECT_EQ(place["artifactLocation"], (json{{"uri", "server.c"}, {"uriBaseId", "SRCROOT"}}));
  EXPECT_EQ(place["region"], (json{{"startLine", 88}}));
  EXPECT_EQ(result["locations"][0]["logicalLocations"][0]["fullyQualifiedName"], "handle");
}

TEST(Sarif, WithoutALossItIsTheUsersAllocation) {
  const json result = result_of(lost());
  EXPECT_EQ(result["locations"][0]["physicalLocation"]["region"]["startLine"], 51);
}

TEST(Sarif, APlaceInTheSourceTreeIsPreferred) {
  const Leak leak = lost_at(
      Cause::scope_end, {frame("~vector", "/usr/include/vector", 7), frame("user", "/s/a.c", 9)});
  EXPECT_EQ(result_of(leak, "/s")["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
            "a.c");
  // Without a root nothing is known of the tree: the user's own source is shown.
  EXPECT_EQ(result_of(leak)["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
            "file:///s/a.c");
  // Nothing in the tree: better a place elsewhere than none.
  EXPECT_EQ(
      result_of(leak, "/other")["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
      "file:///s/a.c");
}

TEST(Sarif, AFrameWithoutSourceIsAnAddressInItsModule) {
  Report report;
  report.modules = {{"/usr/lib/lib x.so", "", "", {}}};
  Leak leak = lost();
  Frame bare;
  bare.function = "init";
  bare.module = ModuleId{{0}};
  bare.offset = 0x1234;
  leak.allocation.stack = {bare};
  report.leaks = {leak};
  const json result = run_of(report)["results"][0];
  const json& location = result["locations"][0];
  EXPECT_EQ(location["physicalLocation"]["artifactLocation"]["uri"], "file:///usr/lib/lib%20x.so");
  EXPECT_EQ(location["physicalLocation"]["address"]["relativeAddress"], 0x1234);
  EXPECT_EQ(location["logicalLocations"][0]["fullyQualifiedName"], "init");
  EXPECT_EQ(location["logicalLocations"][1]["fullyQualifiedName"], "/usr/lib/lib x.so");
  EXPECT_EQ(location["logicalLocations"][1]["kind"], "module");
  // Line 1 is for the first place only.
  EXPECT_EQ(location["physicalLocation"]["region"]["startLine"], 1);
  EXPECT_FALSE(result["relatedLocations"][0]["physicalLocation"].contains("region"));
}

TEST(Sarif, ALeakWithoutAnyFrameStandsAtItsProgram) {
  Report report;
  Leak leak;
  report.leaks = {leak};
  report.subject.command = {"/bin/app"};
  EXPECT_EQ(
      run_of(report)["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
      "file:///bin/app");
  report.subject.command = {};
  EXPECT_EQ(run_of(report)["results"][0]["locations"], json::array());
}

TEST(Sarif, AModuleThatDoesNotExistIsNoModule) {
  Leak leak = lost();
  leak.allocation.stack = {Frame{}};
  leak.allocation.stack[0].module = ModuleId{{7}};
  EXPECT_EQ(result_of(leak)["locations"], json::array());
}

TEST(Sarif, LinesAndColumnsThatNoReaderTakesAreLeftOut) {
  Leak leak = lost();
  Frame& place = leak.allocation.stack[1];
  place.column = 0;
  EXPECT_EQ(result_of(leak)["locations"][0]["physicalLocation"]["region"],
            (json{{"startLine", 51}}));
  place.column = std::numeric_limits<std::uint32_t>::max();
  EXPECT_EQ(result_of(leak)["locations"][0]["physicalLocation"]["region"],
            (json{{"startLine", 51}}));
  place.column = 4;
  EXPECT_EQ(result_of(leak)["locations"][0]["physicalLocation"]["region"]["startColumn"], 4);
  place.line = std::numeric_limits<std::uint32_t>::max();
  EXPECT_EQ(result_of(leak)["relatedLocations"][0]["physicalLocation"].contains("region"), false);
}

TEST(Sarif, ColumnsAreCodePointsWhereTheSourceCanBeRead) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / fmt::format("plumb_sarif_{}.c", ::getpid());
  ASSERT_TRUE(write_file(file.string(),
                         "/* b\xC3\xBC"
                         "cher \xF0\x9F\x92\xA7 */ x();\n")
                  .has_value());
  Leak leak = lost();
  leak.allocation.stack = {frame("f", file.string(), 1)};
  leak.allocation.stack[0].column = 19;  // of x, in bytes
  EXPECT_EQ(result_of(leak)["locations"][0]["physicalLocation"]["region"]["startColumn"], 15);
  leak.allocation.stack[0].column = 400;  // not on that line
  EXPECT_EQ(result_of(leak)["locations"][0]["physicalLocation"]["region"]["startColumn"], 400);
  std::filesystem::remove(file);
}

TEST(Sarif, TheMessageSaysWhatWhereAndHowMuch) {
  Leak leak = lost_at(Cause::overwritten, {frame("handle", "/s/server.c", 88)});
  leak.loss->holder =
      Holder{.name = "ht->name", .type = {}, .storage = {}, .chain = {}, .extra = {}};
  leak.indirect = {.blocks = 1, .bytes = 16, .extra = {}};
  EXPECT_EQ(
      sarif_summary(leak, Engine::run),
      "4,096 bytes in 2 blocks lost: the last reference was overwritten (it was in 'ht->name')."
      " Allocated by 'malloc' in 'grow' at 'server.c:51'."
      " Another 16 bytes in 1 block can be reached from there only.");
  Leak found;
  found.when = When::error_path;
  found.confidence = 0.7;
  EXPECT_EQ(sarif_summary(found, Engine::check),
            "Memory lost: no reference is left. This happens on an error path. Confidence 70%.");
  Leak kept = lost();
  kept.kind = Kind::forgotten;
  kept.allocation = {};
  kept.holders.resize(5);
  kept.holders[0].name = "g_table";
  EXPECT_THAT(sarif_summary(kept, Engine::run),
              HasSubstr("never freed. Held by 'g_table', '', '' and 2 others."));
}

TEST(Sarif, NoNameCanBecomeALinkOrMoveTheCursor) {
  EXPECT_EQ(sarif_quoted("operator[](int)"), "'operator[] (int)'");
  EXPECT_EQ(sarif_quoted("[a](b)[c](d)]]("), "'[a] (b)[c] (d)]] ('");
  EXPECT_EQ(sarif_quoted("a\x1b[31m\n"), "'a\\x1b[31m\\x0a'");
  EXPECT_LT(sarif_quoted(std::string(100000, 'x')).size(), 200U);
  EXPECT_EQ(sarif_sentence(" no end "), "no end.");
  EXPECT_EQ(sarif_sentence("an end."), "an end.");
  EXPECT_EQ(sarif_sentence(""), "");
}

TEST(Sarif, DoubtAndLowCostLowerTheLevel) {
  Leak leak = lost();
  EXPECT_EQ(sarif_level(leak), SarifLevel::error);
  leak.confidence = 0.8;
  EXPECT_EQ(sarif_level(leak), SarifLevel::error);
  leak.confidence = 0.79;
  EXPECT_EQ(sarif_level(leak), SarifLevel::warning);
  leak.confidence = 0.39;
  EXPECT_EQ(sarif_level(leak), SarifLevel::note);
  leak.confidence = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(sarif_level(leak), SarifLevel::note);
  leak.confidence = 1;
  leak.when = When::error_path;
  EXPECT_EQ(sarif_level(leak), SarifLevel::error);
  leak.when = When::oom;
  EXPECT_EQ(sarif_level(leak), SarifLevel::warning);
  leak.when = When::main_exit;
  EXPECT_EQ(sarif_level(leak), SarifLevel::note);
  leak.when = std::nullopt;
  leak.kind = Kind::stale;
  EXPECT_EQ(sarif_level(leak), SarifLevel::warning);
  leak.kind = Kind::forgotten;
  EXPECT_EQ(sarif_level(leak), SarifLevel::note);
}

TEST(Sarif, RelatedPlacesAreNumberedAndNamed) {
  Leak leak = lost_at(Cause::overwritten, {frame("handle", "/s/server.c", 88)});
  leak.last_use = LastUse{{frame("handle", "/s/server.c", 85)}, UseKind::call, {}};
  leak.frees = {{{frame("free", "free.c", 1), frame("drop", "/s/server.c", 120)}, 1, {}}};
  leak.holders = {{"g_table", "", "global", {"g_table.rows", "[3]"}, {}}};
  const json related = result_of(leak)["relatedLocations"];
  std::vector<std::string> texts;
  for (const json& place : related) {
    EXPECT_EQ(place["id"], texts.size() + 1);
    texts.push_back(place["message"]["text"]);
  }
  EXPECT_THAT(texts, testing::ElementsAre(
                         "Allocated here.", "Last used here: call.", "Lost here.",
                         "1 other block from the same place is freed here.",
                         "What is allocated here is still held by 'g_table' ('global'), by way of "
                         "'g_table.rows' -> '[3]'."));
  EXPECT_EQ(related[4]["logicalLocations"][0]["fullyQualifiedName"], "g_table");
}

TEST(Sarif, RelatedPlacesHaveALimitThatIsSaid) {
  Leak leak = lost();
  leak.window.assign(500, frame("f", "/s/a.c", 3));
  const json result = result_of(leak);
  EXPECT_EQ(result["relatedLocations"].size(), kSarifMostRelated);
  EXPECT_EQ(result["properties"]["placesLeftOut"], 501 - kSarifMostRelated);
}

TEST(Sarif, ALifeIsAFlowFromAllocationToLoss) {
  Leak leak = lost_at(Cause::overwritten, {frame("handle", "/s/server.c", 88)});
  leak.allocation.stack.push_back(frame("main", "/s/main.c", 1));
  leak.last_use = LastUse{{frame("handle", "/s/server.c", 85)}, std::nullopt, {}};
  const json steps = result_of(leak)["codeFlows"][0]["threadFlows"][0]["locations"];
  ASSERT_EQ(steps.size(), 3U);
  EXPECT_EQ(steps[0]["location"]["physicalLocation"]["region"]["startLine"], 51);
  EXPECT_EQ(steps[1]["location"]["physicalLocation"]["region"]["startLine"], 85);
  EXPECT_EQ(steps[2]["location"]["physicalLocation"]["region"]["startLine"], 88);
  EXPECT_EQ(steps[0]["nestingLevel"], 1);
  EXPECT_EQ(steps[2]["nestingLevel"], 0);
  EXPECT_EQ(steps[2]["importance"], "essential");
}

TEST(Sarif, OnePlaceIsNoFlow) { EXPECT_FALSE(result_of(lost()).contains("codeFlows")); }

Step step(std::string event, std::uint32_t line) {
  Step step;
  step.location = frame("f", "/s/a.c", line);
  step.event = std::move(event);
  return step;
}

TEST(Sarif, APathIsAFlowThatNestsByCalls) {
  Leak leak = lost();
  leak.path = {step("allocate", 1), step("call", 2),   step("branch", 3),
               step("return", 4),   step("return", 5), step("lose", 6)};
  leak.path[2].branch = "not taken";
  leak.path[2].condition = "p == NULL";
  const json steps = result_of(leak)["codeFlows"][0]["threadFlows"][0]["locations"];
  std::vector<int> nesting;
  for (const json& place : steps) nesting.push_back(place["nestingLevel"]);
  EXPECT_THAT(nesting, testing::ElementsAre(0, 0, 1, 0, 0, 0));
  EXPECT_EQ(steps[2]["kinds"], (json{"branch", "false"}));
  EXPECT_EQ(steps[2]["location"]["message"]["text"], "Step 'branch' on 'p == NULL': 'not taken'.");
  EXPECT_EQ(steps[5]["importance"], "essential");
}

TEST(Sarif, AStepWithoutAPlaceIsNotShown) {
  Leak leak = lost();
  leak.path = {step("allocate", 1), Step{}, step("lose", 6)};
  EXPECT_EQ(result_of(leak)["codeFlows"][0]["threadFlows"][0]["locations"].size(), 2U);
}

TEST(Sarif, ALongPathKeepsItsEnds) {
  Leak leak = lost();
  for (std::uint32_t i = 1; i <= kSarifMostSteps; ++i) leak.path.push_back(step("use", i));
  const auto steps_of = [](const Leak& of) {
    return result_of(of)["codeFlows"][0]["threadFlows"][0]["locations"];
  };
  EXPECT_EQ(steps_of(leak).size(), kSarifMostSteps);
  EXPECT_THAT(steps_of(leak).dump(), Not(HasSubstr("left out")));
  for (std::uint32_t i = 1; i <= 9000; ++i) {
    leak.path.push_back(step("use", static_cast<std::uint32_t>(kSarifMostSteps) + i));
  }
  const json steps = steps_of(leak);
  ASSERT_EQ(steps.size(), kSarifMostSteps);
  EXPECT_EQ(steps.front()["location"]["physicalLocation"]["region"]["startLine"], 1);
  EXPECT_EQ(steps.back()["location"]["physicalLocation"]["region"]["startLine"], 10000);
  EXPECT_EQ(steps[500]["location"]["message"]["text"], "From here on 9,001 steps left out.");
}

TEST(Sarif, ADeepStackKeepsItsEnds) {
  Leak leak = lost();
  leak.allocation.stack.assign(100000, frame("recurse", "/s/a.c", 5));
  leak.allocation.stack.back() = frame("main", "/s/a.c", 99);
  const json stack = result_of(leak)["stacks"][0];
  EXPECT_EQ(stack["frames"].size(), 256U);
  EXPECT_EQ(stack["frames"].back()["location"]["logicalLocations"][0]["fullyQualifiedName"],
            "main");
  EXPECT_EQ(stack["message"]["text"],
            "Allocation. After the innermost 192, 99,744 frames are left out.");
  leak.allocation.stack.resize(256);
  EXPECT_EQ(result_of(leak)["stacks"][0]["frames"].size(), 256U);
  EXPECT_EQ(result_of(leak)["stacks"][0]["message"]["text"], "Allocation.");
}

TEST(Sarif, FingerprintsComeFromTheId) {
  Report report;
  report.leaks = {lost("aaaaaaaaaaaaaaaa"), lost("bbbbbbbbbbbbbbbb"), lost("aaaaaaaaaaaaaaaa"),
                  lost("")};
  const json results = run_of(report)["results"];
  EXPECT_EQ(
      results[0]["partialFingerprints"],
      (json{{"primaryLocationLineHash", "aaaaaaaaaaaaaaaa:1"}, {"plumb/v1", "aaaaaaaaaaaaaaaa"}}));
  EXPECT_EQ(results[1]["partialFingerprints"]["primaryLocationLineHash"], "bbbbbbbbbbbbbbbb:1");
  EXPECT_EQ(results[2]["partialFingerprints"]["primaryLocationLineHash"], "aaaaaaaaaaaaaaaa:2");
  EXPECT_FALSE(results[3].contains("partialFingerprints"));
}

TEST(Sarif, SuppressionsAreOnAllResultsOrOnNone) {
  Report report;
  report.leaks = {lost(), lost()};
  for (const json& result : run_of(report)["results"])
    EXPECT_FALSE(result.contains("suppressions"));
  report.leaks[0].suppressed = Suppressed{"leaks.toml:3", "a cache", {}};
  const json results = run_of(report)["results"];
  EXPECT_EQ(results[0]["suppressions"], json::array());  // the visible one comes first
  ASSERT_EQ(results[1]["suppressions"].size(), 1U);
  EXPECT_EQ(results[1]["suppressions"][0]["kind"], "external");
  EXPECT_EQ(results[1]["suppressions"][0]["justification"], "a cache");
  report.leaks[0].suppressed->reason = "";
  EXPECT_EQ(run_of(report)["results"][1]["suppressions"][0]["justification"],
            "Suppressed by leaks.toml:3");
}

TEST(Sarif, TheBaselineStateIsOnAllResultsOrOnNone) {
  Report report;
  report.leaks = {lost(), lost()};
  for (const json& result : run_of(report)["results"])
    EXPECT_FALSE(result.contains("baselineState"));
  report.leaks[0].known = true;
  const json results = run_of(report)["results"];
  EXPECT_EQ(results[0]["baselineState"], "new");
  EXPECT_EQ(results[1]["baselineState"], "unchanged");
}

TEST(Sarif, TheMostImportantComesFirst) {
  Report report;
  report.leaks.assign(5, lost());
  report.leaks[0].kind = Kind::forgotten;
  report.leaks[1].known = true;
  report.leaks[2].confidence = 0.5;
  report.leaks[3].direct.bytes = 10;
  report.leaks[4].direct.bytes = 9;
  std::vector<std::string> order;
  for (const json& result : run_of(report)["results"]) {
    order.push_back(fmt::format("{} {}", result["level"].get<std::string>(),
                                result["properties"]["bytes"].get<int>()));
  }
  EXPECT_THAT(order, testing::ElementsAre("error 10", "error 9", "warning 4096", "note 4096",
                                          "error 4096"));
}

TEST(Sarif, TheInvocationTellsTheRun) {
  Report report;
  report.subject.command = {"/bin/my app", "-x", "it's", ""};
  report.subject.cwd = "/home/me";
  report.subject.started = "2026-01-31T12:34:56Z";
  report.subject.status = Status{.code = 3, .signal = {}, .extra = {}};
  report.notes = {{"budget", "the time was up", "Give more with '--time'.", {}}};
  const json invocation = run_of(report)["invocations"][0];
  EXPECT_EQ(invocation["executionSuccessful"], true);
  EXPECT_EQ(invocation["commandLine"], "'/bin/my app' -x 'it'\\''s' ''");
  EXPECT_EQ(invocation["arguments"], (json{"-x", "it's", ""}));
  EXPECT_EQ(invocation["workingDirectory"]["uri"], "file:///home/me/");
  EXPECT_EQ(invocation["startTimeUtc"], "2026-01-31T12:34:56Z");
  EXPECT_EQ(invocation["exitCode"], 3);
  const json& note = invocation["toolExecutionNotifications"][0];
  EXPECT_EQ(note["descriptor"]["id"], "budget");
  EXPECT_EQ(note["message"]["text"], "the time was up. Give more with '--time'.");
}

TEST(Sarif, ASignalIsNamed) {
  Report report;
  report.subject.status = Status{.code = {}, .signal = 11, .extra = {}};
  json invocation = run_of(report)["invocations"][0];
  EXPECT_EQ(invocation["exitSignalNumber"], 11);
  EXPECT_EQ(invocation["exitSignalName"], "SIGSEGV");
  EXPECT_FALSE(invocation.contains("exitCode"));
  report.subject.status->signal = 4711;
  EXPECT_FALSE(run_of(report)["invocations"][0].contains("exitSignalName"));
}

TEST(Sarif, OnlyARealTimeIsATime) {
  Report report;
  const auto kept = [&](const char* text) {
    report.subject.started = text;
    return run_of(report)["invocations"][0].contains("startTimeUtc");
  };
  EXPECT_TRUE(kept("2026-01-31T12:34:56Z"));
  EXPECT_TRUE(kept("2024-02-29T23:59:59.123456Z"));
  for (const char* text :
       {"", "yesterday", "2026-02-29T12:34:56Z", "2026-01-31T24:00:00Z", "2026-01-31T12:34:60Z",
        "2026-01-31 12:34:56Z", "2026-01-31T12:34:56", "2026-01-31T12:34:56.Z",
        "2026-01-31T12:34:56.xZ", "0000-01-31T12:34:56Z", "2026-13-01T12:34:56Z",
        "2026-01-31T12:34:56Z\n", "+026-01-31T12:34:56Z"}) {
    EXPECT_FALSE(kept(text)) << text;
  }
}

TEST(Sarif, AVersionThatIsNoneIsNotClaimed) {
  Report report;
  report.tool.version = "0.1.0";
  EXPECT_EQ(run_of(report)["tool"]["driver"]["version"], "0.1.0");
  report.tool.version = "unknown";
  EXPECT_FALSE(run_of(report)["tool"]["driver"].contains("version"));
  report.tool.version = "";
  EXPECT_FALSE(run_of(report)["tool"]["driver"].contains("version"));
}

TEST(Sarif, TheSourceRootIsStated) {
  const json bases = run_of(Report{}, "/a b")["originalUriBaseIds"];
  EXPECT_EQ(bases["SRCROOT"]["uri"], "file:///a%20b/");
}

TEST(Sarif, ManyResultsAreAllWrittenAndSaid) {
  Report report;
  report.leaks.assign(kGithubShownResults, Leak{});
  json run = run_of(report);
  EXPECT_EQ(run["results"].size(), kGithubShownResults);
  EXPECT_FALSE(run["invocations"][0].contains("toolExecutionNotifications"));
  report.leaks.assign(kGithubMostResults + 1, Leak{});
  run = run_of(report);
  EXPECT_EQ(run["results"].size(), kGithubMostResults + 1);
  EXPECT_THAT(
      run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"].get<std::string>(),
      HasSubstr("25,001 results: GitHub code scanning shows the first 5,000 and takes no file"
                " with more than 25,000."));
}

// Every string of a report is somebody else's. Whatever the bytes, the text is
// well-formed and no string of it has a control character.
void expect_harmless(const json& value) {
  if (value.is_string()) {
    const std::string text = value;
    EXPECT_TRUE(is_utf8(text));
    EXPECT_EQ(text.find('\x1b'), std::string::npos) << value;
    return;
  }
  for (const json& part : value) {
    if (value.is_structured()) expect_harmless(part);
  }
}

TEST(Sarif, BytesThatAreNoTextAreHarmless) {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string bad =
        fmt::format("a{}\x1b[0m{}", static_cast<char>(byte), static_cast<char>(byte));
    Report report;
    report.tool.name = report.tool.version = report.tool.mode = bad;
    report.subject.command = {bad, bad};
    report.subject.cwd = "/" + bad;
    report.subject.host = report.subject.started = bad;
    report.modules = {{bad, bad, bad, {}}};
    report.notes = {{bad, bad, bad, {}}};
    Leak leak = lost_at(Cause::discarded, {frame(bad, bad, 1)});
    leak.id = leak.resource = leak.allocation.api = bad;
    leak.allocation.stack[1].linkage = leak.allocation.stack[1].function = bad;
    leak.allocation.stack[1].file = "/" + bad;
    leak.loss->holder = Holder{bad, bad, bad, {bad}, {}};
    leak.holders = {*leak.loss->holder};
    leak.suppressed = Suppressed{bad, bad, {}};
    leak.fix = Fix{frame(bad, bad, 2), bad, {}};
    leak.path = {step(bad, 1), step(bad, 2)};
    leak.path[0].text = leak.path[0].call = leak.path[1].branch = leak.path[1].condition = bad;
    report.leaks = {leak};
    expect_harmless(written(report, "/tree"));
  }
}

}  // namespace
}  // namespace plumb
