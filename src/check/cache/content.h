// What files contain, as a number of 128 bits. Each file is read once however
// often it is asked for: the same headers are behind most units of a project.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace plumb::check {

// 32 hexadecimal digits.
std::string hash_of(std::string_view bytes);

class Contents {
 public:
  // The hash of the file's content; nothing for what cannot be read. Safe from
  // any thread.
  std::optional<std::string> of(const std::string& path);

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, std::optional<std::string>> known_;
};

}  // namespace plumb::check
