#include "report/html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "report/html_sources.h"
#include "report/json.h"
#include "report/page_bundle.h"
#include "report/testdata/sample_report.h"

namespace plumb {
namespace {

using testing::HasSubstr;
using testing::Not;

std::size_t count_of(std::string_view text, std::string_view word) {
  std::size_t found = 0;
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) ++found;
  return found;
}

// What a browser would take for the content of the element.
std::string element(const std::string& page, const std::string& id) {
  const std::string open = "<script type=\"application/json\" id=\"" + id + "\">";
  const std::size_t start = page.find(open) + open.size();
  return page.substr(start, page.find("</script", start) - start);
}

Report nasty() {
  constexpr const char* kNasty =
      "</script><img src=x onerror=alert(1)><!--<script>&quot;\u2028\u2029";
  Report report = sample::exact();
  report.subject.command = {kNasty};
  for (Leak& leak : report.leaks) {
    for (Frame& frame : leak.allocation.stack) frame.function = kNasty;
    leak.suppressed = Suppressed{kNasty, kNasty, {}};
    leak.extra = {{"x", "{\"y</script>\":[\"<!--\"]}"}};
  }
  report.totals.suppressed = report.leaks.size();
  report.notes = {Note{"code", kNasty, kNasty, {}}};
  return report;
}

// Frames stand once in a list, and their numbers in the report.
void put_frames(nlohmann::json& value, const nlohmann::json& frames, const std::string& name = {}) {
  if (value.is_number() &&
      (name == "stack" || name == "window" || name == "location" || name == "place")) {
    value = frames.at(value.get<std::size_t>());
  } else if (value.is_array()) {
    for (nlohmann::json& element : value) put_frames(element, frames, name);
  } else if (value.is_object()) {
    for (auto& [key, member] : value.items()) put_frames(member, frames, key);
  }
}

TEST(Html, HoldsTheReportWhole) {
  for (const Report& report :
       {sample::exact(), sample::scan(), sample::check(), sample::watch(), nasty()}) {
    const std::string page = write_html(report, {});
    nlohmann::json held = nlohmann::json::parse(element(page, "plumb-report"));
    put_frames(held, nlohmann::json::parse(element(page, "plumb-page"))["frames"]);
    EXPECT_EQ(held, nlohmann::json::parse(write_json(report)));
  }
}

TEST(Html, NoTextEndsItsElementOrStartsAnother) {
  for (const Report& report : {nasty(), sample::hostile()}) {
    const std::string page = write_html(report, {});
    EXPECT_EQ(count_of(page, "</script"), 3U);
    EXPECT_EQ(count_of(page, "<script"), 3U);
    EXPECT_EQ(count_of(page, "<!--"), 0U);
    EXPECT_EQ(count_of(page, "<img"), 0U);
    EXPECT_EQ(count_of(page, "</title"), 1U);
    for (const char* id : {"plumb-report", "plumb-page"}) {
      const std::string text = element(page, id);
      EXPECT_EQ(text.find_first_of("<>&"), text.npos);
      EXPECT_THAT(text, Not(HasSubstr("\u2028")));
      EXPECT_NO_THROW((void)nlohmann::json::parse(text));
    }
  }
}

TEST(Html, ThePolicyAllowsThePagesOwnCodeOnly) {
  const std::string page = write_html(sample::exact(), {});
  EXPECT_THAT(page, HasSubstr("default-src 'none'; script-src 'sha256-"));
  EXPECT_THAT(page, Not(HasSubstr("unsafe")));
  EXPECT_THAT(page, Not(HasSubstr("src=")));
  EXPECT_THAT(page_bundle().script_hash, testing::StartsWith("sha256-"));
  std::size_t size = 0;
  for (const std::string_view piece : page_bundle().script) size += piece.size();
  for (const std::string_view piece : page_bundle().style) size += piece.size();
  EXPECT_LT(size, 400'000U);
}

TEST(Html, SaysWhichFramesTell) {
  const Report report = sample::exact();
  const auto data = nlohmann::json::parse(element(write_html(report, {}), "plumb-page"));
  ASSERT_EQ(data["views"].size(), report.leaks.size());
  ASSERT_EQ(data["suppressions"].size(), report.leaks.size());
  EXPECT_THAT(data["suppressions"][0].get<std::string>(), testing::StartsWith("[[suppress]]"));
  for (std::size_t i = 0; i < report.leaks.size(); ++i) {
    const auto view = data["views"][i][0];
    EXPECT_LE(view[2].get<std::size_t>(), report.leaks[i].allocation.stack.size());
    EXPECT_LE(view[1], view[2]);
  }
}

class HtmlSourcesTest : public testing::Test {
 protected:
  HtmlSourcesTest() {
    std::filesystem::create_directories(folder_);
    std::string text;
    for (int line = 1; line <= 300; ++line) text += "line " + std::to_string(line) + "\n";
    for (const char* name : {"a.c", "secret.key", "plain"}) {
      (void)write_file((folder_ / name).string(), text);
    }
  }
  ~HtmlSourcesTest() override { std::filesystem::remove_all(folder_); }

  Report report_at(const char* name, std::uint32_t line) const {
    Report report = sample::clean();
    Leak leak;
    leak.id = "1111111111111111";
    leak.direct = sample::count(1, 1);
    Frame frame = sample::at("f", "", line);
    frame.file = (folder_ / name).string();
    leak.allocation.stack = {frame};
    sample::add(report, leak);
    return report;
  }
  static nlohmann::json sources(const Report& report, HtmlSources which) {
    bool cut = false;
    return nlohmann::json::parse(html_sources(report, which, cut));
  }

  std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / ("plumb_html" + std::to_string(getpid()));
};

TEST_F(HtmlSourcesTest, TakesTheLinesAroundAPlace) {
  const auto found = sources(report_at("a.c", 100), HtmlSources::needed);
  ASSERT_EQ(found.size(), 1U);
  const auto runs = found.begin().value();
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0][0], 90);
  EXPECT_THAT(runs[0][1].get<std::string>(), testing::StartsWith("line 90\nline 91\n"));
  EXPECT_THAT(runs[0][1].get<std::string>(), testing::EndsWith("\nline 110"));
}

TEST_F(HtmlSourcesTest, TakesWholeFilesOrNoneWhenAsked) {
  const auto whole = sources(report_at("a.c", 100), HtmlSources::whole);
  EXPECT_EQ(whole.begin().value()[0][0], 1);
  EXPECT_THAT(whole.begin().value()[0][1].get<std::string>(), testing::EndsWith("line 300"));
  EXPECT_TRUE(sources(report_at("a.c", 100), HtmlSources::none).empty());
}

TEST_F(HtmlSourcesTest, StopsAtTheEndsOfTheFile) {
  EXPECT_EQ(sources(report_at("a.c", 2), HtmlSources::needed).begin().value()[0][0], 1);
  const auto last = sources(report_at("a.c", 299), HtmlSources::needed);
  EXPECT_THAT(last.begin().value()[0][1].get<std::string>(), testing::EndsWith("line 300"));
  EXPECT_TRUE(
      sources(report_at("a.c", 4'294'967'295U), HtmlSources::needed).begin().value().empty());
}

// The page is handed on, and a report may name any file.
TEST_F(HtmlSourcesTest, ReadsOnlyFilesThatAreNamedAsSources) {
  EXPECT_TRUE(sources(report_at("secret.key", 10), HtmlSources::whole).empty());
  EXPECT_TRUE(sources(report_at("plain", 10), HtmlSources::whole).empty());
}

}  // namespace
}  // namespace plumb
