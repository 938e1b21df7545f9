// The pages of docs/findings as they were when this was built, sorted by word.
// Their source is made by CMake (finding_pages.cc.in). See explain.h for what
// they mean.
#pragma once

#include <span>
#include <string_view>

namespace plumb {

struct FindingPage {
  std::string_view word;      // "scope-end": the file's name without ".md"
  std::string_view markdown;  // the whole file
};

std::span<const FindingPage> finding_pages();

}  // namespace plumb
