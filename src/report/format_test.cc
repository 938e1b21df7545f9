#include "report/format.h"

#include <gtest/gtest.h>

#include "report/folded.h"
#include "report/json.h"
#include "report/junit.h"
#include "report/sarif.h"
#include "report/testdata/sample_report.h"
#include "report/text.h"

namespace plumb {
namespace {

TEST(Render, EachFormatIsItsWriters) {
  const Report report = sample::scan();
  RenderOptions options;
  options.width = 60;
  EXPECT_EQ(render(report, Format::text, options), write_text(report, options));
  EXPECT_EQ(render(report, Format::json, options), write_json(report));
  EXPECT_EQ(render(report, Format::sarif, options), write_sarif(report, options));
  EXPECT_EQ(render(report, Format::junit, options), write_junit(report, options));
  EXPECT_EQ(render(report, Format::folded, options), write_folded(report, options));
}

TEST(Render, AReportThatWasReadLooksLikeTheOneWritten) {
  for (const Report& report : {sample::exact(), sample::scan(), sample::check(), sample::watch()}) {
    const Result<Report> again = read_json(write_json(report));
    ASSERT_TRUE(again.has_value()) << again.error().message();
    for (const auto& [format, name] : kNames<Format>) {
      EXPECT_EQ(render(*again, format, {}), render(report, format, {})) << name;
    }
  }
}

}  // namespace
}  // namespace plumb
