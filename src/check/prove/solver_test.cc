#include "check/prove/solver.h"

#include <gtest/gtest.h>

namespace plumb::check {
namespace {

constexpr unsigned kBudget = 400000;
const Fact kHolds{1, 1, true};

class Solver : public testing::Test {
 protected:
  void holds(ValueId condition) { ASSERT_TRUE(state_.learn(values_, condition, kHolds)); }
  Feasible answer() { return is_feasible(values_, state_, kBudget); }

  Values values_;
  State state_;
};

TEST_F(Solver, NothingKnownIsFeasible) { EXPECT_EQ(answer(), Feasible::yes); }

TEST_F(Solver, AnOrderThatGoesInACircleIsNot) {
  const ValueId a = values_.param(0);
  const ValueId b = values_.param(1);
  const ValueId c = values_.param(2);
  holds(values_.compare(Code::lt_s, a, b, 4));
  holds(values_.compare(Code::lt_s, b, c, 4));
  EXPECT_EQ(answer(), Feasible::yes);
  holds(values_.compare(Code::lt_s, c, a, 4));
  EXPECT_EQ(answer(), Feasible::no);
}

TEST_F(Solver, TwiceZeroIsNotPositive) {
  const ValueId n = values_.cell(values_.param(0), 8, 4);
  const ValueId twice = values_.binary(Code::mul, n, values_.integer(2), 4);
  ASSERT_TRUE(state_.learn(values_, twice, {1, INT64_MAX, true}));
  EXPECT_EQ(answer(), Feasible::yes);
  holds(values_.compare(Code::eq, n, values_.integer(0), 4));
  EXPECT_EQ(answer(), Feasible::no);
}

TEST_F(Solver, ObjectsAreApart) {
  const ValueId one = values_.object(ObjectId::of(ObjectKind::var, 1));
  const ValueId two = values_.object(ObjectId::of(ObjectKind::var, 2));
  const ValueId p = values_.param(0);
  holds(values_.compare(Code::eq, p, one, 8));
  EXPECT_EQ(answer(), Feasible::yes);
  holds(values_.compare(Code::eq, p, two, 8));
  EXPECT_EQ(answer(), Feasible::no);
}

TEST_F(Solver, ASpentBudgetIsNoAnswer) {
  const ValueId a = values_.param(0);
  const ValueId b = values_.param(1);
  const ValueId product = values_.binary(Code::mul, a, b, 8);
  const ValueId sum = values_.binary(Code::add, a, b, 8);
  holds(values_.compare(Code::eq, product, values_.integer(0x7000000000000123), 8));
  holds(values_.compare(Code::gt_u, sum, values_.integer(0x123456789), 8));
  EXPECT_EQ(is_feasible(values_, state_, 50), Feasible::undecided);
}

}  // namespace
}  // namespace plumb::check
