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

}  // namespace
}  // namespace plumb::check
