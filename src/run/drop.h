// Leaks that are put into the program on purpose (`--drop-frees`), and whether they
// were found.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/report.h"
#include "run/launch.h"
#include "trace/record_reader.h"

namespace plumb {

struct DropFrees {
  unsigned percent = 0;  // 0: none
  std::uint64_t seed = 1;
};

// "10" or "10:7".
Result<DropFrees> parse_drop_frees(const std::string& text);

struct DroppedBlock {
  std::uint64_t address = 0;
  std::uint64_t size = 0;  // usable
  std::string caller;      // of free: "module+offset"
};

// The file that the preloaded library writes; gone with this.
class DropList {
 public:
  static Result<DropList> create();
  DropList(DropList&& other) noexcept;
  DropList& operator=(DropList&&) = delete;
  ~DropList();

  // Makes the launched program skip frees, and list them here.
  Result<void> prepare(const DropFrees& drop, Launch& launch) const;
  std::vector<DroppedBlock> blocks() const;

 private:
  explicit DropList(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// Says how many were dropped, and what became of them.
void note_dropped(const DropFrees& drop, const std::vector<DroppedBlock>& blocks,
                  const Trace& trace, Report& report);

}  // namespace plumb
