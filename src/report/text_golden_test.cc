// Each format of each sample report, byte for byte. PLUMB_UPDATE_GOLDEN=1
// rewrites the files; read the difference before you commit it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/file.h"
#include "report/folded.h"
#include "report/junit.h"
#include "report/testdata/sample_report.h"
#include "report/text.h"

namespace plumb {
namespace {

struct GoldenCase {
  const char* name;  // of the file in testdata/golden
  Report (*report)();
  std::string (*write)(const Report&, const RenderOptions&);
  RenderOptions options;
};

RenderOptions wide(unsigned width) {
  RenderOptions options;
  options.width = width;
  return options;
}
RenderOptions colored() {
  RenderOptions options;
  options.color = true;
  return options;
}
RenderOptions verbose() {
  RenderOptions options;
  options.verbose = true;
  options.show_hidden = true;
  return options;
}
Report check_sample() { return sample::check(); }

class Golden : public testing::TestWithParam<GoldenCase> {
 protected:
  // Excerpts and paths depend on where the reader is.
  Golden() : before_(std::filesystem::current_path()) {
    std::filesystem::current_path(PLUMB_TEST_DATA "/shop");
  }
  ~Golden() override { std::filesystem::current_path(before_); }

 private:
  std::filesystem::path before_;
};

TEST_P(Golden, Same) {
  const GoldenCase& sample = GetParam();
  const std::string text = sample.write(sample.report(), sample.options);
  const std::string path = std::string(PLUMB_TEST_DATA "/golden/") + sample.name;
  if (std::getenv("PLUMB_UPDATE_GOLDEN") != nullptr) {
    ASSERT_TRUE(write_file(path, text).has_value());
    GTEST_SKIP() << "wrote " << path;
  }
  const Result<std::string> golden = read_file(path);
  ASSERT_TRUE(golden.has_value()) << "run with PLUMB_UPDATE_GOLDEN=1 to make it";
  EXPECT_EQ(*golden, text);
}

INSTANTIATE_TEST_SUITE_P(
    All, Golden,
    testing::Values(GoldenCase{"exact.txt", sample::exact, write_text, {}},
                    GoldenCase{"exact-50.txt", sample::exact, write_text, wide(50)},
                    GoldenCase{"exact-color.txt", sample::exact, write_text, colored()},
                    GoldenCase{"exact-verbose.txt", sample::exact, write_text, verbose()},
                    GoldenCase{"scan.txt", sample::scan, write_text, {}},
                    GoldenCase{"scan-50.txt", sample::scan, write_text, wide(50)},
                    GoldenCase{"scan-color.txt", sample::scan, write_text, colored()},
                    GoldenCase{"scan-verbose.txt", sample::scan, write_text, verbose()},
                    GoldenCase{"check.txt", check_sample, write_text, {}},
                    GoldenCase{"check-verbose.txt", check_sample, write_text, verbose()},
                    GoldenCase{"watch.txt", sample::watch, write_text, {}},
                    GoldenCase{"clean.txt", sample::clean, write_text, {}},
                    GoldenCase{"hostile.txt", sample::hostile, write_text, {}},
                    GoldenCase{"scan.folded", sample::scan, write_folded, {}},
                    GoldenCase{"scan.junit.xml", sample::scan, write_junit, {}},
                    GoldenCase{"check.junit.xml", check_sample, write_junit, {}},
                    GoldenCase{"clean.junit.xml", sample::clean, write_junit, {}},
                    GoldenCase{"hostile.folded", sample::hostile, write_folded, {}},
                    GoldenCase{"hostile.junit.xml", sample::hostile, write_junit, {}}),
    [](const testing::TestParamInfo<GoldenCase>& info) {
      std::string name = info.param.name;
      for (char& c : name) {
        if (c == '.' || c == '-') c = '_';
      }
      return name;
    });

}  // namespace
}  // namespace plumb
