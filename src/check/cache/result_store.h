// Results of the analysis that are kept from one run to the next: byte strings by
// name, in a file for each unit. What they mean and whether they still hold is for
// the one who keeps them to say.
//
// A file that is damaged, cut off or of another version counts as empty. In a file
// that is written again, only what this run used or added is kept, so that it does
// not grow.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"

namespace plumb::check {

class ResultStore {
 public:
  // By unit; an empty path keeps nothing.
  explicit ResultStore(std::vector<std::string> paths);

  // Nothing found: empty. What is found is not changed by later calls. Safe from any
  // thread.
  std::string_view find(std::uint32_t unit, std::uint64_t name);
  void keep(std::uint32_t unit, std::uint64_t name, std::string bytes);

  // Writes what changed. Call when nobody else uses it.
  Result<void> save();

  // The content of a file, as save() writes it and find() reads it.
  using Entries = std::unordered_map<std::uint64_t, std::string>;
  static std::string to_bytes(const Entries& entries);
  static Entries from_bytes(std::string_view bytes);

 private:
  struct File {
    std::string path;
    std::mutex mutex;
    bool read = false;
    Entries old;   // from the file
    Entries kept;  // by this run
    std::vector<std::uint64_t> used;
  };
  std::vector<File> files_;
};

}  // namespace plumb::check
