#include "report/text_summary.h"

#include <gtest/gtest.h>

#include "report/testdata/sample_report.h"

namespace plumb {
namespace {

using sample::count;

Leak leak_of(Kind kind, std::uint64_t blocks, std::uint64_t bytes) {
  Leak leak;
  leak.kind = kind;
  leak.direct = count(blocks, bytes);
  return leak;
}

TEST(Summary, WhatWasLost) {
  Report report = sample::clean();
  sample::add(report, leak_of(Kind::lost, 1, 4096));
  EXPECT_EQ(summary_line(report), "1 leak, 4,096 bytes lost.");
  sample::add(report, leak_of(Kind::lost, 11, 4));
  EXPECT_EQ(summary_line(report), "2 leaks, 4,100 bytes lost in 12 blocks.");
}

TEST(Summary, IndirectBlocksAreLostToo) {
  Report report = sample::clean();
  Leak leak = leak_of(Kind::lost, 1, 10);
  leak.indirect = count(2, 5);
  sample::add(report, leak);
  EXPECT_EQ(summary_line(report), "1 leak, 15 bytes lost in 3 blocks.");
}

TEST(Summary, OtherKindsAndHiddenOnes) {
  Report report = sample::clean();
  sample::add(report, leak_of(Kind::lost, 1, 1));
  sample::add(report, leak_of(Kind::stale, 1, 2));
  sample::add(report, leak_of(Kind::forgotten, 1, 1));
  Leak hidden = leak_of(Kind::lost, 1, 1000);
  hidden.known = true;
  sample::add(report, hidden);
  hidden.suppressed.emplace();
  sample::add(report, hidden);
  EXPECT_EQ(summary_line(report),
            "1 leak, 1 byte lost; 1 stale (2 bytes); 1 forgotten (1 byte); 1 suppressed, 1 known.");
}

TEST(Summary, NothingLost) {
  Report report = sample::clean();
  EXPECT_EQ(summary_line(report), "No leaks: 1,234 blocks allocated, all freed.");
  report.totals.allocated.blocks += 6;
  report.totals.excluded.blocks = 6;
  EXPECT_EQ(summary_line(report), "No leaks: 1,240 blocks allocated, 1,234 freed, 6 excluded.");
  report.totals = Totals{};
  EXPECT_EQ(summary_line(report), "No leaks: no allocation was seen.");
}

TEST(Summary, NothingLostButSomethingToSay) {
  Report report = sample::clean();
  sample::add(report, leak_of(Kind::forgotten, 2, 80));
  EXPECT_EQ(summary_line(report), "Nothing lost; 1 forgotten (80 bytes).");
  report.leaks[0].kind = Kind::lost;
  report.leaks[0].known = true;
  EXPECT_EQ(summary_line(report), "No leaks to show; 1 known.");
  report.leaks.clear();
  report.totals.omitted_lost = count(2, 80);
  EXPECT_EQ(summary_line(report), "No leaks to show; 2 blocks (80 bytes) filtered out.");
}

// What a watched program holds at its end is counted, and nobody filtered it out.
TEST(Summary, OfTheSampledEngine) {
  Report report = sample::clean();
  report.tool.engine = Engine::watch;
  report.totals = Totals{};
  report.totals.allocated = count(5, 100);
  report.totals.freed = count(3, 60);
  report.totals.forgotten = count(2, 40);
  report.totals.omitted_forgotten = count(2, 40);
  EXPECT_EQ(summary_line(report), "No leaks: 5 blocks allocated, 3 freed, 2 still held.");
  sample::add(report, leak_of(Kind::lost, 1, 7));
  EXPECT_EQ(summary_line(report), "1 leak, 7 bytes lost; 2 blocks (40 bytes) still held.");
}

TEST(Summary, OtherResourcesHaveNoBytes) {
  Report report = sample::clean();
  Leak leak = leak_of(Kind::lost, 1, 0);
  leak.resource = "socket";
  sample::add(report, leak);
  EXPECT_EQ(summary_line(report), "1 leak.");
}

TEST(Summary, OfTheStaticEngine) {
  Report report = sample::check();
  EXPECT_EQ(summary_line(report), "2 findings in 34 functions of 5 units; 1 undecided.");
  report.leaks[0].known = true;
  report.totals.skipped_units = 2;
  report.totals.undecided.reset();
  EXPECT_EQ(summary_line(report),
            "1 finding in 34 functions of 5 units; 1 known; 2 units skipped.");
  report.leaks.clear();
  report.totals = Totals{};
  EXPECT_EQ(summary_line(report), "No findings.");
}

TEST(Notes, EachOnceWithItsRemedy) {
  Report report = sample::clean();
  report.notes = {Note{"a", "one", "do it", {}}, Note{"b", "two", "", {}},
                  Note{"a", "one", "do it", {}}};
  EXPECT_EQ(write_notes(report, Page{}, false),
            "note: one (2 times)\n  remedy: do it\nnote: two\n");
}

TEST(Notes, AFewUnlessAllAreWanted) {
  Report report = sample::clean();
  for (int i = 0; i < 9; ++i) report.notes.push_back(Note{"x", std::to_string(i), "", {}});
  EXPECT_EQ(write_notes(report, Page{}, false),
            "note: 0\nnote: 1\nnote: 2\nnote: 3\nnote: 4\n4 more notes: --verbose shows them\n");
  EXPECT_NE(write_notes(report, Page{}, true).find("note: 8\n"), std::string::npos);
}

TEST(SubjectLine, WhatRan) {
  Report report = sample::clean();
  EXPECT_EQ(subject_line(report),
            "plumb 0.1.0 run (scan): ./shop --port=80; pid 4242; exit status 0; 1.25 s");
  report.subject = Subject{};
  report.subject.status = Status{std::nullopt, 11, {}};
  EXPECT_EQ(subject_line(report), "plumb 0.1.0 run (scan); ended by signal 11");
}

}  // namespace
}  // namespace plumb
