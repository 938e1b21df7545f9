// What is no report, or no longer one: every case is an Error that names the
// place, and nothing else happens.
#include <cstddef>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/test_scale.h"
#include "report/json.h"
#include "report/json_locate.h"
#include "report/json_test_reports.h"

namespace plumb {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

Error error_of(std::string_view text) {
  const Result<Report> report = read_json(text);
  EXPECT_FALSE(report) << text.substr(0, 200);
  return report ? Error() : report.error();
}

// A report of one leak, its stack and its module, with one thing replaced.
std::string changed(std::string_view from, std::string_view to) {
  std::string text =
      R"({"schema": "plumb-report/1",
"tool": {"name": "plumb", "engine": "run"},
"modules": [{"path": "a"}],
"totals": {"allocated": {"blocks": 1, "bytes": 2}, "lost": {"blocks": 1, "bytes": 2}},
"leaks": [{"id": "0123456789abcdef", "kind": "lost", "confidence": 1, "bytes": 2, "blocks": 1,
"allocation": {"stack": [{"function": "f"}, {"line": 3, "inlined": true, "module": 0}]}}]})";
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(JsonHostile, TheBaseOfTheCasesIsReadable) {
  const Result<Report> report = read_json(changed("f", "f"));
  EXPECT_TRUE(report) << report.error().message();
}

TEST(JsonHostile, Empty) {
  EXPECT_EQ(error_of("").what, "empty file: not a report");
  EXPECT_EQ(error_of(" \n\t\r\n").what, "empty file: not a report");
  EXPECT_EQ(error_of("\xEF\xBB\xBF").what, "empty file: not a report");
}

TEST(JsonHostile, CutOffAnywhere) {
  const std::string whole = write_json(full_report());
  const std::string text = whole.substr(0, whole.size() - 1);  // without the last line's end
  for (std::size_t size = 1; size < text.size(); size += size < 200 ? 1 : 37) {
    const Error error = error_of(std::string_view(text).substr(0, size));
    ASSERT_THAT(error.where, StartsWith(":")) << size << " " << error.message();
    ASSERT_THAT(error.what, StartsWith("not valid JSON: "));
    ASSERT_THAT(error.hint, HasSubstr("cut off")) << size << " " << error.message();
  }
}

TEST(JsonHostile, SyntaxNamesLineAndColumn) {
  EXPECT_EQ(error_of(changed("\"run\"}", "\"run\"]")).where, ":2:42");
  EXPECT_EQ(error_of(changed("\"modules\": [{", "\"modules\": {{")).where, ":3:13");
  EXPECT_EQ(error_of(changed("\"line\": 3", "\"line\": 03")).where, ":6:55");
  EXPECT_EQ(error_of(changed("\"path\": \"a\"", "\"path\": \"a\": \"b\"")).where, ":3:25");
  EXPECT_EQ(error_of(changed("\"lost\": {", "\"lost\": {,")).where, ":4:61");
  EXPECT_EQ(error_of(changed("true", "truf")).where, ":6:71");
  EXPECT_EQ(error_of(changed("]}}]}", "]}}]}}")).where, ":6:91");
  EXPECT_EQ(error_of(changed("]}}]}", "]}}],}")).where, ":6:91");
  EXPECT_EQ(error_of(changed("]}}]}", "]}}]} x")).where, ":6:92");
}

TEST(JsonHostile, Binary) {
  EXPECT_EQ(error_of(std::string("\x7F"
                                 "ELF\x02\x01\x01\0\0\0",
                                 10))
                .where,
            ":1:1");
  EXPECT_EQ(error_of(std::string(64, '\0')).where, ":1:1");
  EXPECT_EQ(error_of(std::string(64, '\xFF')).where, ":1:1");
  EXPECT_EQ(error_of(changed("\"f\"", std::string_view("\"f\0\"", 4))).where, ":6:41");
}

TEST(JsonHostile, BadUtf8) {
  const Error error = error_of(changed("\"f\"", "\"f\xC3\x28\""));
  EXPECT_EQ(error.where, ":6:42");  // the byte that does not go on
  EXPECT_THAT(error.what, HasSubstr("UTF-8"));
  EXPECT_EQ(error_of(changed("\"f\"", "\"\\ud800\"")).where.substr(0, 3), ":6:");
}

TEST(JsonHostile, DeepNesting) {
  const std::string open(200000, '[');
  const std::string close(200000, ']');
  std::string objects;
  for (int i = 0; i < 200000; ++i) objects += "{\"a\":";
  const auto too_deep = [](const std::string& text) {
    const Error error = error_of(text);
    EXPECT_THAT(error.where, StartsWith(":"));
    EXPECT_THAT(error.what, HasSubstr("nested more than 256 levels deep"));
    return error.where;
  };
  EXPECT_EQ(too_deep(open + close), ":1:257");
  EXPECT_EQ(too_deep(open), ":1:257");
  too_deep(objects);
  too_deep(objects + "1" + std::string(200000, '}'));
  too_deep(changed("\"modules\"", "\"x\": " + open + close + ", \"modules\""));
  too_deep(changed("\"line\"", "\"x\": " + open + close + ", \"line\""));
  too_deep(changed("[{\"path\": \"a\"}]", open + close));
  too_deep(changed("\"f\"", open + close));
  too_deep(changed("\"f\"", open));
}

TEST(JsonHostile, NestingUpToTheLimitIsKept) {
  const auto nested = [](std::size_t depth) {
    return "\"x\": " + std::string(depth, '[') + "\"[\\\"[\"" + std::string(depth, ']') +
           ", \"modules\"";
  };
  EXPECT_TRUE(read_json(changed("\"modules\"", nested(json::kDeepest - 1))));
  EXPECT_FALSE(read_json(changed("\"modules\"", nested(json::kDeepest + 1))));
}

TEST(JsonHostile, HundredMegabyteString) {
  const std::string big(100'000'000 / test::kScale, 'x');
  const Error error = error_of(changed("\"kind\": \"lost\"", "\"kind\": \"" + big + "\""));
  EXPECT_EQ(error.where, "leaks[0].kind");
  EXPECT_LT(error.what.size(), 200U);
  EXPECT_EQ(error_of(changed("\"f\"", "\"" + big)).where.substr(0, 3), ":6:");
  const Result<Report> fine = read_json(changed("\"f\"", "\"" + big + "\""));
  ASSERT_TRUE(fine);
  EXPECT_EQ(fine->leaks[0].allocation.stack[0].function.size(), big.size());
}

struct Case {
  const char* from;
  const char* to;
  const char* where;
  const char* what;
};

TEST(JsonHostile, ContentNamesThePath) {
  const Case cases[] = {
      // wrong types
      {"\"line\": 3", "\"line\": \"3\"", "leaks[0].allocation.stack[1].line",
       "expected a whole number, found a string"},
      {"\"line\": 3", "\"line\": null", "leaks[0].allocation.stack[1].line",
       "expected a whole number, found null"},
      {"\"line\": 3", "\"line\": [3]", "leaks[0].allocation.stack[1].line",
       "expected a whole number, found an array"},
      {"\"inlined\": true", "\"inlined\": 1", "leaks[0].allocation.stack[1].inlined",
       "expected true or false, found 1"},
      {"\"f\"", "true", "leaks[0].allocation.stack[0].function",
       "expected a string, found a boolean"},
      {"{\"function\": \"f\"}", "7", "leaks[0].allocation.stack[0]", "expected an object, found 7"},
      {"[{\"path\": \"a\"}]", "{}", "modules", "expected an array, found an object"},
      {"\"confidence\": 1", "\"confidence\": \"1\"", "leaks[0].confidence",
       "expected a number, found a string"},
      {"{\"name\": \"plumb\", \"engine\": \"run\"}", "\"plumb\"", "tool",
       "expected an object, found a string"},
      {"\"plumb-report/1\"", "1", "schema", "expected a string, found 1"},
      // impossible values
      {"\"line\": 3", "\"line\": -3", "leaks[0].allocation.stack[1].line",
       "expected a whole number from 0 to 4294967295, found -3"},
      {"\"line\": 3", "\"line\": 4294967296", "leaks[0].allocation.stack[1].line",
       "expected a whole number from 0 to 4294967295, found 4294967296"},
      {"\"line\": 3", "\"line\": 3.5", "leaks[0].allocation.stack[1].line",
       "expected a whole number from 0 to 4294967295, found 3.5"},
      {"\"bytes\": 2, \"blocks\"", "\"bytes\": 18446744073709551616, \"blocks\"", "leaks[0].bytes",
       "expected a whole number from 0 to 18446744073709551615, found 18446744073709551616"},
      {"\"confidence\": 1", "\"confidence\": 1.01", "leaks[0].confidence",
       "expected a number from 0 to 1, found 1.01"},
      {"\"confidence\": 1", "\"confidence\": -0.5", "leaks[0].confidence",
       "expected a number from 0 to 1, found -0.5"},
      {"\"kind\": \"lost\"", "\"kind\": \"lots\"", "leaks[0].kind",
       "expected one of lost, stale, forgotten, double-free, mismatched-free; found \"lots\""},
      {"\"run\"", "\"\\u001b[2J\"", "tool.engine",
       "expected one of check, run, cc, watch; found \"\\u001b[2J\""},
      {"0123456789abcdef", "0123456789ABCDEF", "leaks[0].id",
       "expected 16 hex digits, found \"0123456789ABCDEF\""},
      {"\"module\": 0", "\"module\": 1", "leaks[0].allocation.stack[1].module",
       "no such module: 1, the report has 1"},
      // missing
      {"\"kind\": \"lost\", ", "", "leaks[0]", "\"kind\" is missing"},
      {"\"bytes\": 2, \"blocks\": 1,", "\"bytes\": 2,", "leaks[0]", "\"blocks\" is missing"},
      {"\"blocks\": 1, \"bytes\": 2}}", "\"blocks\": 1}}", "totals.lost", "\"bytes\" is missing"},
      {", \"engine\": \"run\"", "", "tool", "\"engine\" is missing"},
      {"\"leaks\"", "\"leeks\"", "", "\"leaks\" is missing"},
      // twice
      {"\"line\": 3", "\"line\": 3, \"line\": 3", "leaks[0].allocation.stack[1].line",
       "given twice"},
      {"\"line\": 3", "\"line\": 3, \"l\\u0069ne\": 3", "leaks[0].allocation.stack[1].line",
       "given twice"},
      {"\"line\": 3", "\"x\": 3, \"y\": 4, \"x\": 3", "leaks[0].allocation.stack[1]",
       "\"x\" is given twice"},
      {"\"modules\"", "\"schema\": \"plumb-report/1\", \"modules\"", "schema", "given twice"},
      // sums
      {"\"bytes\": 2, \"blocks\": 1,", "\"bytes\": 3, \"blocks\": 1,", "totals.lost.bytes",
       "the total is 2 bytes, but the lost leaks listed add up to 3"},
  };
  for (const Case& each : cases) {
    const Error error = error_of(changed(each.from, each.to));
    EXPECT_EQ(error.where, each.where) << each.to;
    EXPECT_EQ(error.what, each.what) << each.to;
  }
}

TEST(JsonHostile, NumbersOfManyDigitsAreNotRepeated) {
  const Error error = error_of(changed("\"line\": 3", "\"line\": " + std::string(300, '3')));
  EXPECT_EQ(error.what, "expected a whole number, found a number of many digits");
  const Error infinite = error_of(changed("\"line\": 3", "\"line\": " + std::string(400, '3')));
  EXPECT_THAT(infinite.where, StartsWith(":6:"));
  EXPECT_EQ(infinite.what, "not valid JSON: number overflow");
}

TEST(JsonHostile, SomethingElse) {
  EXPECT_EQ(error_of("{}").what, "not a plumb report: no \"schema\"");
  EXPECT_EQ(error_of(R"({"$schema": "x", "version": "2.1.0", "runs": []})").what,
            "not a plumb report: no \"schema\"");
  EXPECT_THAT(error_of(R"([{"directory": "/", "file": "a.c", "command": "cc a.c"}])").what,
              StartsWith("not a plumb report: no "));
  EXPECT_THAT(error_of("7").what, StartsWith("not a plumb report: no "));
  EXPECT_THAT(error_of("\"text\"").what, StartsWith("not a plumb report: no "));
  EXPECT_THAT(error_of("null").what, StartsWith("not a plumb report: no "));
  for (const char* name : {"other/1", "plumb-report", "plumb-report/", "plumb-report/x",
                           "plumb-report/1.", "plumb-report/1.-1", "plumb-report/1.2.3", ""}) {
    const Error error = error_of(changed("plumb-report/1", name));
    EXPECT_EQ(error.what, "not a plumb report: \"schema\" is \"" + std::string(name) + "\"");
  }
}

TEST(JsonHostile, NewerMajorVersion) {
  const Error error = error_of(changed("plumb-report/1", "plumb-report/2"));
  EXPECT_EQ(error.what, "format 2, this build reads 1");
  EXPECT_THAT(error.hint, HasSubstr("newer"));
  // Also when nothing else is as it was, and the name comes last.
  EXPECT_EQ(error_of(R"({"leaks": {"a": 1}, "tool": 7, "schema": "plumb-report/2.5"})").what,
            "format 2, this build reads 1");
}

TEST(JsonHostile, NewerMinorVersionIsNamedWhenItCannotBeRead) {
  const Error error = error_of(changed("plumb-report/1\"", "plumb-report/1.7\", \"tool\": 7"));
  EXPECT_EQ(error.where, "tool");
  EXPECT_EQ(error.hint, "the report is plumb-report/1.7, this build knows 1.0");
}

TEST(JsonHostile, UnknownMembersMustBeJson) {
  for (const char* bad :
       {"tru",     "[1 2]", "[1,]", "{\"a\" 1}", "{1: 2}",  "[}",     "{\"a\": [}]",   "01",
        "1.",      "+1",    "nul",  "'a'",       "\"\\x\"", "\"\t\"", "[\"\\ud800\"]", "null\f",
        "\"a\"\v", "1 2",   "NaN",  "[/**/]",    "{,}",     "",       "\"a\" \"b\""}) {
    const Error error = error_of(changed("\"line\": 3", "\"x\": " + std::string(bad)));
    EXPECT_THAT(error.where, StartsWith(":")) << bad;
    EXPECT_THAT(error.what, StartsWith("not valid JSON: ")) << bad;
  }
}

TEST(JsonHostile, MessagesStayShortAndPrintable) {
  for (const std::string& text :
       {changed("\"f\"", "\"\x1B[2J" + std::string(5000, 'x')),
        changed("\"line\"", "\"\x1B" + std::string(5000, 'x') + "\""),
        changed("plumb-report/1", "\\u001b[2J" + std::string(5000, 'x'))}) {
    const std::string message = error_of(text).in("a.json").message();
    EXPECT_LT(message.size(), 300U);
    EXPECT_EQ(message.find('\x1B'), std::string::npos);
  }
}

TEST(JsonHostile, ManyUnknownMembersAreLinear) {
  std::string many;
  for (int i = 0; i < 100000; ++i) many += "\"x" + std::to_string(i) + "\": 1, ";
  const Result<Report> report = read_json(changed("\"line\"", many + "\"line\""));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->leaks[0].allocation.stack[1].extra.size(), 100000U);
}

}  // namespace
}  // namespace plumb
