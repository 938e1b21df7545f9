// What changed from one report to another: leaks that are new, grown, shrunk
// or gone. Paired by fingerprint (core/baseline.h); sizes are direct and
// indirect together.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/names.h"
#include "core/report.h"
#include "driver/settings.h"

namespace plumb {

enum class Change { added, grown, shrunk, gone };  // in the order of the list

template <>
inline constexpr auto kNames<Change> = name_table<Change>({{Change::added, "new"},
                                                           {Change::grown, "grown"},
                                                           {Change::shrunk, "shrunk"},
                                                           {Change::gone, "gone"}});

struct ChangedLeak {
  Change change{};
  const Leak* leak = nullptr;  // of the newer report where it has it
  Count before, after;

  std::uint64_t difference() const {  // in bytes, either way
    return before.bytes < after.bytes ? after.bytes - before.bytes : before.bytes - after.bytes;
  }
};

// Points into the two reports: they must outlive it.
struct Changes {
  std::vector<ChangedLeak> leaks;
  std::uint64_t unchanged = 0;

  std::uint64_t count(Change change) const;
};

// Hidden leaks are no changes, nor are differences below `least` bytes (a
// difference in blocks alone always is one).
Changes changes_between(const Report& before, const Report& now, std::uint64_t least);

std::string changes_as_text(const Changes& changes, const Report& before, const Report& now,
                            const Settings& settings, bool color);
std::string changes_as_json(const Changes& changes, const Report& before, const Report& now,
                            const std::vector<std::string>& files, const Settings& settings);

}  // namespace plumb
