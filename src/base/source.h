// Lines of source files, for excerpts. Files are read once; one that is
// missing, unreadable, too large or no text is simply not quoted.
//
// A report may come from anywhere, so a path in it may name anything: only
// regular files are opened, and what is kept in memory is bounded. Once that
// bound is reached further files are not quoted, the report itself is whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace plumb {

class SourceCache {
 public:
  static constexpr std::size_t kLargestFile = std::size_t{16} << 20;
  static constexpr std::size_t kMostLines = 2'000'000;  // of one file
  static constexpr std::size_t kLargestSum = std::size_t{256} << 20;

  // The text of a line (counted from 1) without its end, tabs kept; empty
  // when there is none. Valid as long as the cache.
  std::string_view line(const std::string& file, std::uint32_t number);
  bool has(const std::string& file);
  bool has_line(const std::string& file, std::uint32_t number);

 private:
  struct File {
    std::string text;
    std::vector<std::uint32_t> starts;  // of each line; none: not quoted
  };
  const File& load(const std::string& file);
  std::map<std::string, File> files_;
  std::size_t sum_ = 0;
};

}  // namespace plumb
