#include "check/input/compile_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"

namespace plumb::check {
namespace {

using testing::ElementsAre;

std::vector<std::string> files_of(const std::vector<CompileJob>& jobs) {
  std::vector<std::string> files;
  for (const CompileJob& job : jobs) files.push_back(job.file);
  return files;
}

TEST(CompileCommand, TellsCompilersFromOthers) {
  for (const char* name : {"cc", "/usr/bin/gcc-12", "x86_64-linux-gnu-g++", "clang++-19", "c99"}) {
    EXPECT_TRUE(is_compiler(name)) << name;
  }
  for (const char* name : {"cc1", "ld", "gcc-ar-12", "as", "accept", "g++filt", ""}) {
    EXPECT_FALSE(is_compiler(name)) << name;
  }
}

TEST(CompileCommand, KeepsWhatTheSourceMeans) {
  const auto jobs =
      jobs_of_command("/d", {"gcc", "-O2", "-g3", "-Wall", "-DA=1", "-I", "inc", "-std=gnu99",
                             "-MD", "-MF", "x.d", "-fPIC", "-c", "-o", "a.o", "a.c"});
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(jobs[0].directory, "/d");
  EXPECT_THAT(jobs[0].arguments, ElementsAre("-DA=1", "-I", "inc", "-std=gnu99", "-fPIC", "a.c"));
}

TEST(CompileCommand, ACommandMayHaveSeveralSourcesOrNone) {
  EXPECT_THAT(files_of(jobs_of_command("/d", {"cc", "a.c", "b.c", "lib.a", "-lm", "-o", "p"})),
              ElementsAre("a.c", "b.c"));
  EXPECT_TRUE(jobs_of_command("/d", {"cc", "a.o", "-o", "p"}).empty());
  EXPECT_TRUE(jobs_of_command("/d", {"cc", "-E", "a.c"}).empty());
  EXPECT_TRUE(jobs_of_command("/d", {"clang-19", "-cc1", "a.c"}).empty());
  EXPECT_TRUE(jobs_of_command("/d", {"ld", "a.c"}).empty());
  EXPECT_TRUE(jobs_of_command("/d", {}).empty());
  EXPECT_TRUE(jobs_of_command("/d", {"cc", "-o"}).empty());
}

TEST(CompileCommand, AValueInAWordOfItsOwnIsNoSource) {
  const auto jobs = jobs_of_command(
      "/d", {"cc", "--sysroot", "/r", "-B", "tools.c", "-rpath", "x.c", "-c", "a.c"});
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_THAT(jobs[0].arguments, ElementsAre("--sysroot", "/r", "a.c"));
}

TEST(CompileCommand, SkipsLaunchers) {
  EXPECT_THAT(files_of(jobs_of_command("/d", {"ccache", "gcc", "-c", "a.c"})), ElementsAre("a.c"));
}

TEST(CompileCommand, CxxCompilersTakeCForCxx) {
  const auto jobs = jobs_of_command("/d", {"g++", "-c", "a.c"});
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_THAT(jobs[0].arguments, ElementsAre("-x", "c++", "a.c"));
}

TEST(CompileCommand, ExpandsResponseFiles) {
  const std::string path = testing::TempDir() + "/plumb_flags.rsp";
  ASSERT_TRUE(write_file(path, "-DX=\"a b\" @" + path + "\n a.c"));
  const auto jobs = jobs_of_command("/", {"cc", "-c", "@" + path});
  ASSERT_FALSE(jobs.empty());  // a file that names itself ends somewhere
  EXPECT_EQ(jobs[0].file, "a.c");
  EXPECT_EQ(jobs[0].arguments[0], "-DX=a b");
}

TEST(CompileCommand, SplitsAsAShellWould) {
  EXPECT_THAT(split_command(R"(cc -DX='a b' "-DY=\"q\"" a\ b.c '')"),
              ElementsAre("cc", "-DX=a b", "-DY=\"q\"", "a b.c", ""));
  EXPECT_TRUE(split_command("  \n").empty());
}

// It was made with other flags than ours.
TEST(CompileCommand, PrecompiledHeadersAreReadAsHeaders) {
  const auto jobs = jobs_of_command(
      "/d", {"clang++", "-Winvalid-pch", "-Xclang", "-include-pch", "-Xclang", "/b/pch.hxx.pch",
             "-Xclang", "-include", "-Xclang", "/b/pch.hxx", "-c", "a.cc"});
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_THAT(jobs[0].arguments,
              ElementsAre("-Xclang", "-include", "-Xclang", "/b/pch.hxx", "-x", "c++", "a.cc"));
  const auto plain = jobs_of_command("/d", {"clang", "-include-pch", "x.pch", "-c", "a.c"});
  ASSERT_EQ(plain.size(), 1u);
  EXPECT_THAT(plain[0].arguments, ElementsAre("a.c"));
  EXPECT_TRUE(jobs_of_command("/d", {"clang", "-Xclang", "-include-pch", "-c"}).empty());
}

TEST(CompileCommand, SharedAndStaticObjectsAreOneUnit) {
  std::vector<CompileJob> jobs = jobs_of_command("/d", {"cc", "-c", "a.c"});
  for (CompileJob& job : jobs_of_command("/d", {"cc", "-fPIC", "-DPIC", "-c", "./a.c"})) {
    jobs.push_back(std::move(job));
  }
  EXPECT_EQ(without_repeats(jobs).size(), 1u);
  jobs.push_back(jobs_of_command("/d", {"cc", "-DOTHER", "-c", "a.c"})[0]);
  EXPECT_EQ(without_repeats(jobs).size(), 2u);
}

// CMake defines it for the objects of a shared library.
TEST(CompileCommand, WhatCMakeDefinesForASharedLibraryMakesNoOtherUnit) {
  std::vector<CompileJob> jobs = jobs_of_command("/d", {"cc", "-Dzoo_EXPORTS", "-c", "a.c"});
  jobs.push_back(jobs_of_command("/d", {"cc", "-c", "a.c"})[0]);
  EXPECT_EQ(without_repeats(jobs).size(), 1u);
  jobs.push_back(jobs_of_command("/d", {"cc", "-Dzoo_EXPORTS=2", "-c", "a.c"})[0]);
  EXPECT_EQ(without_repeats(jobs).size(), 2u);
}

}  // namespace
}  // namespace plumb::check
