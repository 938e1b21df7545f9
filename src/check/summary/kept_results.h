// Results of an earlier run that still hold.
//
// A result is named by the functions that it is of, with their bodies. With it are
// kept all things that were looked at when it was made (reads.h), and what they were:
// symbols, the summaries of other functions, the bodies of others. It holds when all
// of them are the same now. So a change goes no farther than its effect: a function
// that does the same in other words has the same summary, and its callers stay.
//
// Invariant: what is found is what the analysis would find. Names of files hold what
// else decides (version, limits, models): see check.cc.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "check/cache/result_store.h"
#include "check/summary/result_bytes.h"

namespace plumb::check {

class KeptResults {
 public:
  // Names of the program's units, and where the results of each are kept.
  KeptResults(const Program& program, const std::vector<std::string>& units,
              std::vector<std::string> paths, unsigned threads);

  const Identities& identities() const { return identities_; }

  // Of a component of the call graph. `done` says which summaries there are; those of
  // the component become known by both calls.
  std::optional<ComponentResult> find(const std::vector<FunctionId>& component,
                                      const std::vector<Summary>& summaries,
                                      const std::vector<bool>& done);
  void keep(const std::vector<FunctionId>& component, ComponentResult& result,
            const std::vector<bool>& done, Reads& reads);

  // Anything else about a function, when all summaries are there.
  std::uint64_t name_of(FunctionId function, std::string_view what) const;
  std::optional<std::string_view> find(FunctionId function, std::uint64_t name);
  void keep(FunctionId function, std::uint64_t name, std::string_view result, Reads& reads);

  Result<void> save() { return store_.save(); }
  std::uint64_t found() const { return found_; }

 private:
  std::uint64_t name_of(const std::vector<FunctionId>& component) const;
  std::string with_trace(std::string_view result, const std::vector<FunctionId>& own,
                         const std::vector<bool>* done, Reads& reads) const;
  // The result, if what it rests on is the same.
  std::optional<std::string_view> valid(std::string_view kept, const std::vector<bool>* done) const;
  std::uint64_t summary_of(FunctionId id, const std::vector<bool>* done) const {
    return !done || (*done)[id.index] ? summaries_[id.index] : 0;
  }
  std::uint32_t unit_of(FunctionId id) const {
    return identities_.program().functions()[id.index].unit;
  }

  Identities identities_;
  ResultStore store_;
  std::vector<std::uint64_t> summaries_;  // hashes, by FunctionId
  std::atomic<std::uint64_t> found_ = 0;
};

}  // namespace plumb::check
