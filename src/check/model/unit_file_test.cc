#include "check/model/unit_file.h"

#include <gtest/gtest.h>

namespace plumb::check {
namespace {

Unit some_unit() {
  Unit unit;
  unit.source = "a.c";
  unit.symbols = {"f", "malloc"};
  unit.files = {"", "/d/a.c"};
  Function f;
  f.display = "f";
  f.integers = {INT64_MIN, 7};
  f.vars.push_back({.name = "p",
                    .type = "char *",
                    .size = 8,
                    .simple = true,
                    .parameter = false,
                    .location = {}});
  f.operations.resize(3);
  f.operations[0].op = f.operations[1].op = Op::load;
  f.blocks.push_back({0, 3});
  unit.functions.push_back(f);
  unit.globals.resize(1);
  unit.declarations.resize(1);
  return unit;
}

TEST(UnitFile, ComesBackAsItWas) {
  const std::string bytes = unit_bytes(some_unit());
  const Result<Unit> unit = parse_unit(bytes, "u");
  ASSERT_TRUE(unit);
  EXPECT_EQ(unit_bytes(*unit), bytes);
  EXPECT_EQ(unit->functions[0].vars[0].name, "p");
  EXPECT_EQ(unit->functions[0].integers[0], INT64_MIN);
}

TEST(UnitFile, ADamagedFileIsAnError) {
  const std::string bytes = unit_bytes(some_unit());
  for (std::size_t cut = 0; cut < bytes.size(); cut += 7) {
    EXPECT_FALSE(parse_unit(bytes.substr(0, cut), "u")) << cut;
  }
  for (std::size_t at = 0; at < bytes.size(); at += 5) {
    std::string other = bytes;
    other[at] = static_cast<char>(other[at] ^ 1);
    EXPECT_FALSE(parse_unit(other, "u")) << at;
  }
  EXPECT_FALSE(parse_unit(bytes + "x", "u"));
}

// The sum is right, a number is not.
TEST(UnitFile, NumbersThatMeanNothingAreAnError) {
  const auto refused = [](const auto& change) {
    Unit unit = some_unit();
    change(unit, unit.functions[0], unit.functions[0].operations[1]);
    return !parse_unit(unit_bytes(unit), "u");
  };
  EXPECT_FALSE(refused([](Unit&, Function&, Operation&) {}));
  EXPECT_TRUE(refused([](Unit&, Function& f, Operation&) { f.symbol = SymbolId::of(2); }));
  EXPECT_TRUE(refused([](Unit&, Function& f, Operation&) { f.blocks.clear(); }));
  EXPECT_TRUE(refused([](Unit&, Function& f, Operation&) { f.blocks[0].end = 4; }));
  EXPECT_TRUE(refused([](Unit& u, Function&, Operation&) { u.files.clear(); }));
  EXPECT_TRUE(refused([](Unit& u, Function&, Operation&) { u.address_taken = {SymbolId::of(9)}; }));
  EXPECT_TRUE(refused([](Unit&, Function&, Operation& o) { o.op = Op::jump; }));
  EXPECT_TRUE(refused([](Unit&, Function&, Operation& o) { o.op = static_cast<Op>(200); }));
  EXPECT_TRUE(
      refused([](Unit&, Function&, Operation& o) { o.a = Operand::of(OperandKind::var, 1); }));
  EXPECT_TRUE(refused([](Unit&, Function&, Operation& o) { o.a.bits = 7; }));
  EXPECT_TRUE(refused([](Unit&, Function&, Operation& o) { o.pool_count = 1; }));
  EXPECT_TRUE(refused([](Unit&, Function& f, Operation&) {
    f.operations[2].op = Op::branch;
    f.operations[2].targets[1] = BlockIndex::of(1);
  }));
}

}  // namespace
}  // namespace plumb::check
