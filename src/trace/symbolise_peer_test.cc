// The same addresses asked of llvm-symbolizer, on the test program itself.
#include <gtest/gtest.h>

#include <random>

#include "base/text.h"
#include "trace/elf_module.h"
#include "trace/symbolise.h"
#include "trace/symbolise_testing.h"

namespace plumb {
namespace {

struct Answer {
  std::vector<std::string> places;  // "FILE:LINE", innermost first
};

// Two lines for each frame (function, place), an empty line after each address.
std::vector<Answer> parse(const std::string& output) {
  std::vector<Answer> answers(1);
  bool is_place = false;
  for (const std::string_view line : split(output, '\n')) {
    if (line.empty()) {
      answers.emplace_back();
      is_place = false;
    } else {
      if (is_place) {
        const std::string text(line.substr(0, line.rfind(':')));
        const std::size_t colon = text.rfind(':');
        answers.back().places.push_back(
            std::filesystem::path(text.substr(0, colon)).lexically_normal().string() +
            text.substr(colon));
      }
      is_place = !is_place;
    }
  }
  return answers;
}

TEST(SymbolPeers, AgreesWithLlvm) {
  if (!have_tool("llvm-symbolizer-19")) GTEST_SKIP() << "llvm-symbolizer-19 is not installed";
  const std::string program = std::filesystem::canonical("/proc/self/exe");
  Result<std::unique_ptr<ElfModule>> module = ElfModule::open(program, {});
  ASSERT_TRUE(module.has_value());
  const AddressRange code = (*module)->code().at(0);

  std::mt19937_64 random(20);
  std::vector<std::uint64_t> addresses;
  std::string input;
  for (int i = 0; i < 2000; ++i) {
    addresses.push_back(code.begin + random() % (code.end - code.begin));
    input += "0x" + [](std::uint64_t value) {
      std::ostringstream text;
      text << std::hex << value << "\n";
      return text.str();
    }(addresses.back());
  }
  const Workshop shop;
  shop.write("addresses", input);
  const std::vector<Answer> theirs =
      parse(shop.run("llvm-symbolizer-19 --obj='" + program + "' < addresses"));
  ASSERT_GE(theirs.size(), addresses.size());

  Symboliser symbols({module_of(program)});
  std::size_t compared = 0, agreed = 0;
  std::string first_difference;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const std::vector<Frame>& frames = symbols.frames({ModuleId::of(0), addresses[i], false});
    if (frames.front().file.empty()) continue;  // where they name the symbol's file, line 0
    Answer mine;
    for (const Frame& frame : frames) {
      mine.places.push_back(frame.file + ":" + std::to_string(frame.line.value_or(0)));
    }
    ++compared;
    if (mine.places == theirs[i].places) {
      ++agreed;
    } else if (first_difference.empty()) {
      first_difference =
          ::testing::PrintToString(mine.places) + "\n" + ::testing::PrintToString(theirs[i].places);
    }
  }
  if (compared == 0) GTEST_SKIP() << "built without debug information";
  EXPECT_GE(agreed * 1000, compared * 999)
      << agreed << " of " << compared << " agree, not: " << first_difference;
  RecordProperty("agreed", std::to_string(agreed));
  RecordProperty("compared", std::to_string(compared));
}

}  // namespace
}  // namespace plumb
