#include "check/cache/result_store.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include <xxhash.h>

#include "base/archive.h"
#include "base/file.h"

namespace plumb::check {

namespace {

constexpr std::string_view kMagic = "plumb results 2\n";

}  // namespace

ResultStore::ResultStore(std::vector<std::string> paths) : files_(paths.size()) {
  for (std::size_t i = 0; i < paths.size(); ++i) files_[i].path = std::move(paths[i]);
}

std::string_view ResultStore::find(std::uint32_t unit, std::uint64_t name) {
  File& file = files_[unit];
  if (file.path.empty()) return {};
  const std::lock_guard lock(file.mutex);
  if (!file.read) {
    file.read = true;
    if (const Result<std::string> bytes = read_file(file.path); bytes) {
      file.old = from_bytes(*bytes);
    }
  }
  const auto found = file.old.find(name);
  if (found == file.old.end()) return {};
  file.used.push_back(name);
  return found->second;
}

void ResultStore::keep(std::uint32_t unit, std::uint64_t name, std::string bytes) {
  File& file = files_[unit];
  if (file.path.empty()) return;
  const std::lock_guard lock(file.mutex);
  file.kept.insert_or_assign(name, std::move(bytes));
}

Result<void> ResultStore::save() {
  for (File& file : files_) {
    if (file.kept.empty()) continue;
    for (const std::uint64_t name : file.used) {
      if (const auto old = file.old.find(name); old != file.old.end()) {
        file.kept.try_emplace(name, std::move(old->second));
      }
    }
    std::error_code problem;
    std::filesystem::create_directories(std::filesystem::path(file.path).parent_path(), problem);
    if (problem) return fail(file.path, problem.message());
    if (Result<void> good = write_file(file.path, to_bytes(file.kept)); !good) return good;
  }
  return {};
}

std::string ResultStore::to_bytes(const Entries& entries) {
  std::vector<std::uint64_t> names;
  for (const auto& [name, bytes] : entries) names.push_back(name);
  std::ranges::sort(names);
  ArchiveWriter writer;
  writer(names);
  for (const std::uint64_t name : names) writer(entries.at(name));
  const std::uint64_t sum = XXH3_64bits(writer.bytes.data(), writer.bytes.size());
  std::string out(kMagic);
  out.append(reinterpret_cast<const char*>(&sum), sizeof sum);
  out += writer.bytes;
  return out;
}

ResultStore::Entries ResultStore::from_bytes(std::string_view bytes) {
  std::uint64_t sum = 0;
  if (bytes.size() < kMagic.size() + sizeof sum || !bytes.starts_with(kMagic)) return {};
  std::memcpy(&sum, bytes.data() + kMagic.size(), sizeof sum);
  bytes.remove_prefix(kMagic.size() + sizeof sum);
  if (XXH3_64bits(bytes.data(), bytes.size()) != sum) return {};
  ArchiveReader reader(bytes);
  std::vector<std::uint64_t> names;
  reader(names);
  Entries entries;
  for (const std::uint64_t name : names) {
    std::string content;
    reader(content);
    if (reader.failed()) return {};
    entries.emplace(name, std::move(content));
  }
  return reader.whole() ? entries : Entries{};
}

}  // namespace plumb::check
