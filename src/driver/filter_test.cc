#include "driver/filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/accounting.h"
#include "driver/sample_reports.h"

namespace plumb {
namespace {

using testing::ElementsAre;

std::vector<std::string> ids(const Report& report) {
  std::vector<std::string> result;
  for (const Leak& entry : report.leaks) result.push_back(entry.id.substr(0, 4));
  return result;
}

// The ids left after one filter; the totals must still add up.
std::vector<std::string> filtered(Opt opt, std::string value) {
  Settings settings(Command::report);
  settings.set(spec_of(opt), {std::move(value)}, Origin::command_line);
  Report report = sample();
  apply_filters(report, settings);
  EXPECT_TRUE(check_totals(report));
  return ids(report);
}

TEST(Filter, EachOption) {
  EXPECT_THAT(filtered(Opt::min_size, "50"), ElementsAre("aaaa", "cccc"));
  EXPECT_THAT(filtered(Opt::kind, "forgotten"), ElementsAre("cccc"));
  EXPECT_THAT(filtered(Opt::id, "bbbb"), ElementsAre("bbbb"));
  EXPECT_THAT(filtered(Opt::file, "src/*"), ElementsAre("aaaa", "bbbb"));
  EXPECT_THAT(filtered(Opt::file, "b.c"), ElementsAre("bbbb"));
  EXPECT_THAT(filtered(Opt::function, "grow"), ElementsAre("aaaa"));
  EXPECT_THAT(filtered(Opt::function, "gro"), ElementsAre());
  EXPECT_THAT(filtered(Opt::module, "server"), ElementsAre("aaaa", "bbbb", "cccc"));
  EXPECT_THAT(filtered(Opt::module, "other*"), ElementsAre());
}

TEST(Filter, CutsTheListAndKeepsTheTotals) {
  Report report = sample();
  report.leaks[0].known = true;
  recount_hidden(report);
  cut_list(report, 1, false);
  EXPECT_THAT(ids(report), ElementsAre("bbbb"));
  EXPECT_TRUE(check_totals(report));
}

}  // namespace
}  // namespace plumb
