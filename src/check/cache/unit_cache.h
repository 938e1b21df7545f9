// Units that were compiled before, kept by what they were made of.
//
// The command line (with the compiler, the plugin and the variables of the
// environment that the compiler heeds) names a list of the files that it read
// the last time; the content of those files names the unit. Nothing trusts a
// time stamp, so a checkout or a copy of a tree finds its units again.
//
// Invariant: a unit that is found has the bytes that compiling would give,
// except where a new header now hides one on the list from the compiler: the
// list knows only what was read. A file that is damaged or half gone is a
// miss. Limit: the folder is cut to `most_bytes`, oldest use first.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "check/cache/content.h"
#include "check/model/compile.h"

namespace plumb::check {

class UnitCache {
 public:
  // An empty folder keeps nothing.
  explicit UnitCache(std::string folder);

  // From the cache, or compiled and kept. Safe from any thread.
  Result<Unit> unit(const CompileJob& job);

  // Where results about the unit of a job are kept that `context` decides, too;
  // empty: nowhere.
  std::string results_path(const CompileJob& job, std::string_view context) const;
  std::string results_path(const std::string& unit_file, std::string_view context) const;

  std::uint64_t found() const { return found_; }
  // Why units could not be kept; empty when they could.
  std::string problem() const;

  // Call when nobody else uses it: removes what was not used for longest.
  void trim(std::uint64_t most_bytes = kMostBytes);

  static constexpr std::uint64_t kMostBytes = std::uint64_t{4} << 30;

 private:
  std::string job_key(const CompileJob& job) const;
  std::string list_path(const CompileJob& job) const;
  // Where the unit made of these files is; empty when one of them is gone.
  std::string unit_path(const CompileJob& job, const std::string& list);
  void keep(const CompileJob& job, const Compiled& compiled);

  std::string folder_;
  std::string maker_;  // compiler, plugin and environment
  Contents contents_;
  std::atomic<std::uint64_t> found_ = 0;
  mutable std::mutex problem_mutex_;
  std::string problem_;
};

// "$XDG_CACHE_HOME/plumb", or "~/.cache/plumb"; empty without a home.
std::string default_cache_folder();

}  // namespace plumb::check
