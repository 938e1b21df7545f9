// The snapshots of a program and its children (--follow=children).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/report.h"
#include "watch/verdict.h"

namespace plumb {

struct FamilyMember {
  std::uint64_t pid = 0;
  std::string path;
};

// The files that `pattern` (with %p for the process) names, but `first`'s, in
// the order of their process numbers.
std::vector<FamilyMember> family_of(const std::string& pattern, std::uint64_t first);

// Adds what they say to the report of the first. Children that are still running
// are named in a note.
Report with_family(Report report, const std::vector<FamilyMember>& family,
                   const StalePolicy& policy);

bool is_running(std::uint64_t pid);

}  // namespace plumb
