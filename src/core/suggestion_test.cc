#include "core/suggestion.h"

#include <gtest/gtest.h>

namespace plumb {
namespace {

Leak lost(Cause cause, const std::string& holder, const std::string& api = "malloc") {
  Leak leak;
  leak.kind = Kind::lost;
  leak.allocation.api = api;
  Loss loss;
  loss.cause = cause;
  Frame frame;
  frame.function = "work";
  frame.file = "a.c";
  frame.line = 7;
  loss.stack = {frame};
  if (!holder.empty()) loss.holder = Holder{holder, "", "local", {}, {}};
  leak.loss = loss;
  return leak;
}

std::string text(const Leak& leak) {
  const std::optional<Fix> fix = suggested_fix(leak, Report{});
  return fix ? fix->text : "";
}

TEST(Suggestion, NamesTheCallAndThePlace) {
  EXPECT_EQ(text(lost(Cause::scope_end, "p")), "`free(p)` before it goes out of scope here");
  EXPECT_EQ(text(lost(Cause::overwritten, "l->head", "operator new")),
            "`delete l->head` before this assignment");
  EXPECT_EQ(text(lost(Cause::holder_freed, "i->name", "strdup")),
            "`free(i->name)` before what holds it");
  EXPECT_EQ(text(lost(Cause::scope_end, "")), "free it before it goes out of scope here");
  EXPECT_EQ(suggested_fix(lost(Cause::scope_end, "p"), Report{})->place->line, 7u);
}

TEST(Suggestion, FollowsItsSiblings) {
  Leak leak = lost(Cause::overwritten, "box");
  Frame frame;
  frame.function = "letter_free";
  leak.frees.push_back({{frame}, 3, {}});
  EXPECT_EQ(text(leak), "free `box`, as `letter_free` does with others, before this assignment");
  frame.function = "other_free";  // two ways: nobody knows which is meant
  leak.frees.push_back({{frame}, 1, {}});
  EXPECT_EQ(text(leak), "`free(box)` before this assignment");
}

TEST(Suggestion, NoneWithoutALoss) {
  Leak leak = lost(Cause::holder_lost, "p");
  EXPECT_FALSE(suggested_fix(leak, Report{}));
  leak.kind = Kind::forgotten;
  leak.loss.reset();
  EXPECT_FALSE(suggested_fix(leak, Report{}));
}

}  // namespace
}  // namespace plumb
