#include "report/folded.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "report/testdata/sample_report.h"

namespace plumb {
namespace {

Leak leak_of(Stack stack, std::uint64_t bytes, Kind kind = Kind::lost) {
  Leak leak;
  leak.kind = kind;
  leak.direct = sample::count(1, bytes);
  leak.allocation.stack = std::move(stack);
  return leak;
}

TEST(Folded, RootFirstAddedUpAndSorted) {
  using sample::at;
  Report report = sample::clean();
  const Stack grow = {at("malloc", "m.c", 1), at("grow", "a.c", 1), at("main", "a.c", 2),
                      at("_start", "b.S", 3)};
  sample::add(report, leak_of(grow, 4096));
  sample::add(report, leak_of({at("f", "a.c", 1), at("main", "a.c", 2)}, 1));
  Leak same = leak_of(grow, 4);
  same.indirect = sample::count(1, 100);
  sample::add(report, same);
  sample::add(report, leak_of(grow, 7, Kind::forgotten));
  sample::add(report, leak_of({}, 9));
  EXPECT_EQ(write_folded(report, {}),
            "forgotten;main;grow 7\n"
            "lost;[unknown] 9\n"
            "lost;main;f 1\n"
            "lost;main;grow 4200\n");
}

TEST(Folded, HiddenLeaksOnlyWhenAskedFor) {
  Report report = sample::clean();
  Leak leak = leak_of({sample::at("main", "a.c", 2)}, 5);
  leak.known = true;
  sample::add(report, leak);
  EXPECT_EQ(write_folded(report, {}), "");
  RenderOptions options;
  options.show_hidden = true;
  EXPECT_EQ(write_folded(report, options), "lost;main 5\n");
}

TEST(Folded, FindingsWithoutBytesCountOne) {
  const Report report = sample::check();
  EXPECT_EQ(write_folded(report, {}), "lost;grow 16\nlost;parse 1\n");
}

TEST(Folded, NamesCannotBreakTheFormat) {
  const std::string text = write_folded(sample::hostile(), {});
  EXPECT_EQ(split(text, '\n').size(), 2U);  // one line and its end
  EXPECT_EQ(split(text, ';').size(), 6U);   // the kind and five frames
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace plumb
