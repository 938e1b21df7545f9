// For tests: checks a source text with the models that come with Plumb.
#pragma once

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/file.h"
#include "check/check.h"

namespace plumb::check {

inline ModelText shipped_models(std::string_view name) {
  const std::filesystem::path here(PLUMB_TEST_DATA);
  const std::string where = fmt::format("models/{}", name);
  const Result<std::string> text =
      read_file((here / "../../.." / where).lexically_normal().string());
  EXPECT_TRUE(text);
  return {text.value_or(""), where};
}

using Adjust = std::function<void(CheckOptions&)>;

inline Report check_source(const std::string& source, std::string_view extension = "c",
                           const Adjust& adjust = {}) {
  const std::string path =
      fmt::format("{}/plumb_check_test.{}.{}", testing::TempDir(), getpid(), extension);
  EXPECT_TRUE(write_file(path, source));
  CheckOptions options;
  options.jobs.push_back({"", path, {path}});
  options.models = shipped_models("c.models");
  options.resources = shipped_models("resources.models");
  options.containers = shipped_models("containers.models");
  if (adjust) adjust(options);
  const Result<CheckOutcome> outcome = check_program(options);
  EXPECT_TRUE(outcome) << (outcome ? "" : outcome.error().message());
  return outcome ? outcome->report : Report{};
}

// The functions in which something is lost, or else where the path of a finding ends.
inline std::set<std::string> finders(const Report& report) {
  std::set<std::string> out;
  for (const Leak& leak : report.leaks) {
    const Frame& at = leak.loss           ? leak.loss->stack.front()
                      : leak.path.empty() ? leak.allocation.stack.front()
                                          : leak.path.back().location;
    out.insert(at.function.substr(0, at.function.find('(')));
  }
  return out;
}

using Names = std::set<std::string>;

// What most sources begin with.
inline constexpr const char* kHeader = R"(
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
)";

// Each source has functions whose name says what is right: *_bad loses a block,
// *_ok does not.
inline void expect_by_name(const std::string& source, std::string_view extension = "c") {
  const Report report = check_source(source, extension);
  std::set<std::string> lost_in;
  for (const Leak& leak : report.leaks) {
    const std::string& function = leak.loss->stack.front().function;
    lost_in.insert(function.substr(0, function.find('(')));
  }
  for (const std::string& function : lost_in) {
    EXPECT_TRUE(function.ends_with("_bad")) << function << " loses nothing";
  }
  for (std::size_t at = source.find("_bad("); at != std::string::npos;
       at = source.find("_bad(", at + 1)) {
    const std::size_t start = source.find_last_of(" *", at) + 1;
    const std::string name = source.substr(start, at + 4 - start);
    EXPECT_TRUE(lost_in.contains(name)) << name << " loses a block";
  }
}

}  // namespace plumb::check
