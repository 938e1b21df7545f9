// Lines of source files, for excerpts. Files are read once; one that is
// missing, unreadable or too large is simply not quoted.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace plumb {

class SourceCache {
 public:
  // The text of a line (counted from 1) without its end, tabs kept; empty
  // when there is none.
  std::string_view line(const std::string& file, std::uint32_t number);
  bool has(const std::string& file);

 private:
  struct File {
    std::string text;
    std::vector<std::string_view> lines;
  };
  const File& load(const std::string& file);
  std::map<std::string, File> files_;
};

}  // namespace plumb
