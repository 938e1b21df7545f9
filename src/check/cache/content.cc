#include "check/cache/content.h"

#include <fmt/format.h>
#include <xxhash.h>

#include "base/file.h"

namespace plumb::check {

std::string hash_of(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

std::optional<std::string> Contents::of(const std::string& path) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = known_.find(path); found != known_.end()) return found->second;
  }
  std::optional<std::string> hash;
  if (const auto bytes = read_file(path); bytes) hash = hash_of(*bytes);
  const std::lock_guard lock(mutex_);
  return known_.emplace(path, std::move(hash)).first->second;
}

}  // namespace plumb::check
