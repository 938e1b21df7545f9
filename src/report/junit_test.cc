#include "report/junit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "report/testdata/sample_report.h"

namespace plumb {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Junit, CountsAddUp) {
  const std::string text = write_junit(sample::scan(), {});
  EXPECT_THAT(text, HasSubstr("<testsuites name=\"plumb\" tests=\"7\" failures=\"3\" errors=\"0\" "
                              "skipped=\"4\" time=\"1.250\">"));
}

TEST(Junit, WithoutFailureOneCasePasses) {
  EXPECT_THAT(write_junit(sample::clean(), {}), HasSubstr("tests=\"1\" failures=\"0\""));
  EXPECT_THAT(write_junit(sample::clean(), {}), HasSubstr("name=\"no leaks\" time=\"0\"/>"));
  Report report = sample::exact();
  EXPECT_THAT(write_junit(report, {}), Not(HasSubstr("no leaks")));
  for (Leak& leak : report.leaks) leak.known = true;
  EXPECT_THAT(write_junit(report, {}), HasSubstr("tests=\"3\" failures=\"0\""));
  EXPECT_THAT(write_junit(report, {}), HasSubstr("<skipped message=\"known: in the baseline\"/>"));
}

TEST(Junit, ForgottenLeaksDoNotFail) {
  Report report = sample::clean();
  Leak leak;
  leak.kind = Kind::forgotten;
  leak.direct = sample::count(1, 1);
  sample::add(report, leak);
  EXPECT_THAT(write_junit(report, {}),
              HasSubstr("tests=\"2\" failures=\"0\" errors=\"0\" skipped=\"1\""));
}

TEST(Junit, ClassNamesAreSafe) {
  Report report = sample::clean();
  Leak leak;
  leak.direct = sample::count(1, 1);
  leak.allocation.stack = {sample::at("f", "src/net/a-b.c", 1)};
  sample::add(report, leak);
  leak.allocation.stack = {sample::in_module("g", 1, 0x10)};
  sample::add(report, leak);
  leak.allocation.stack.clear();
  sample::add(report, leak);
  const std::string text = write_junit(report, {});
  EXPECT_THAT(text, HasSubstr("classname=\"src.net.a_b_c\" name=\"f: lost 1 byte\" "
                              "file=\"src/net/a-b.c\" line=\"1\""));
  EXPECT_THAT(text, HasSubstr("classname=\"libcrypto_so_3\" name=\"g: lost 1 byte\" time"));
  EXPECT_THAT(text, HasSubstr("classname=\"unknown\" name=\"?: lost 1 byte\""));
}

TEST(Junit, NeverColoured) {
  RenderOptions options;
  options.color = true;
  EXPECT_EQ(write_junit(sample::exact(), options).find('\x1b'), std::string::npos);
}

// A parser that is not ours reads all of it, and counts what is there.
TEST(Junit, IsWellFormed) {
  if (std::system("python3 -c 'import xml.etree.ElementTree' 2>/dev/null") != 0) {
    GTEST_SKIP() << "no python3";
  }
  Report odd = sample::hostile();
  odd.subject.host = "h\x01\xff\xEF\xBF\xBE<\"&";
  odd.leaks[0].suppressed = Suppressed{"a\x02", "]]>\xEF\xBF\xBF", {}};
  std::string name = (std::filesystem::temp_directory_path() / "plumb-junit-XXXXXX").string();
  const std::filesystem::path directory = mkdtemp(name.data());
  std::string command =
      "python3 -c '\n"
      "import sys, xml.etree.ElementTree as tree\n"
      "for suite in [suite for file in sys.argv[1:] for suite in tree.parse(file).getroot()]:\n"
      "    cases = suite.findall(\"testcase\")\n"
      "    assert len(cases) == int(suite.get(\"tests\"))\n"
      "    assert len(suite.findall(\"*/failure\")) == int(suite.get(\"failures\"))\n"
      "    assert len(suite.findall(\"*/skipped\")) == int(suite.get(\"skipped\"))\n"
      "    for case in cases: assert case.get(\"classname\") and case.get(\"name\")\n"
      "'";
  int number = 0;
  for (const Report& report : {sample::exact(), sample::scan(), sample::check(), sample::watch(),
                               sample::clean(), sample::hostile(), odd}) {
    const std::string path = directory / std::to_string(number++);
    ASSERT_TRUE(write_file(path, write_junit(report, {})).has_value());
    command += " '" + path + "'";
  }
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace plumb
