#include "driver/changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "driver/sample_reports.h"

namespace plumb {
namespace {

using testing::ElementsAre;

TEST(Changes, NewGrownShrunkAndGone) {
  const Report before = report_of({leak("a", Kind::lost, 100, frame("grow", "a.c", 3)),
                                   leak("b", Kind::lost, 10, frame("fill", "a.c", 9)),
                                   leak("c", Kind::lost, 50, frame("init", "a.c", 20)),
                                   leak("d", Kind::lost, 7, frame("same", "a.c", 30))});
  const Report now = report_of({leak("a", Kind::lost, 130, frame("grow", "a.c", 13)),
                                leak("b", Kind::lost, 4, frame("fill", "a.c", 19)),
                                leak("e", Kind::lost, 60, frame("more", "a.c", 5)),
                                leak("d", Kind::lost, 7, frame("same", "a.c", 33))});
  const Changes changes = changes_between(before, now, 0);
  std::vector<std::string> words;
  for (const ChangedLeak& entry : changes.leaks) {
    words.push_back(std::string(name_of(entry.change)) + " " +
                    entry.leak->allocation.stack[0].function);
  }
  EXPECT_THAT(words, ElementsAre("new more", "grown grow", "shrunk fill", "gone init"));
  EXPECT_EQ(changes.unchanged, 1U);
  EXPECT_EQ(changes_between(before, now, 40).leaks.size(), 2U);
}

TEST(Changes, HiddenLeaksAreNone) {
  const Report before = report_of({leak("c", Kind::lost, 50, frame("init", "a.c", 20))});
  Report now = report_of({leak("e", Kind::lost, 60, frame("more", "a.c", 5))});
  now.leaks[0].known = true;
  const Changes changes = changes_between(before, now, 0);
  ASSERT_EQ(changes.leaks.size(), 1U);
  EXPECT_EQ(changes.leaks[0].change, Change::gone);
}

TEST(Changes, NamesThatAreNoTextStayPrintable) {
  const Report before = report_of({});
  const Report now = report_of({leak("e", Kind::lost, 60, frame("m\x1b[31m\xff", "a.c", 5))});
  const Settings settings(Command::diff);
  const Changes changes = changes_between(before, now, 0);
  const std::string text = changes_as_text(changes, before, now, settings, false);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  const std::string json = changes_as_json(changes, before, now, {"a", "b"}, settings);
  EXPECT_EQ(nlohmann::json::parse(json)["counts"]["new"], 1);
}

}  // namespace
}  // namespace plumb
