#include "run/process_traces.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "run/launch.h"

namespace plumb {

namespace {

// "4242.2": the process, and which of its programs.
std::pair<std::uint64_t, std::uint64_t> parts_of(const std::string& name) {
  char* end = nullptr;
  const std::uint64_t pid = std::strtoull(name.c_str(), &end, 10);
  return {pid, *end == '.' ? std::strtoull(end + 1, nullptr, 10) : 0};
}

Result<Trace> read_file_trace(const std::string& path) {
  Result<TraceMemory> memory = TraceMemory::of_file(path);
  if (!memory) return std::unexpected(memory.error());
  const Result<std::span<const std::byte>> bytes = memory->bytes();
  if (!bytes) return std::unexpected(bytes.error());
  if (!is_attached(*bytes)) return fail(path, "no trace");
  return read_trace(*bytes, path);
}

}  // namespace

bool is_attached(std::span<const std::byte> bytes) {
  return bytes.size() >= sizeof(PlumbTraceHeader) &&
         std::memcmp(bytes.data(), PLUMB_TRACE_MAGIC, 8) == 0;
}

Result<TraceFolder> TraceFolder::create() {
  for (const char* where : {"/dev/shm", "/tmp"}) {
    std::string pattern = fmt::format("{}/plumb-run-XXXXXX", where);
    if (mkdtemp(pattern.data()) != nullptr) return TraceFolder(pattern);
  }
  return fail({}, "cannot make a folder for the traces");
}

TraceFolder::TraceFolder(std::string path) : path_(std::move(path)) {}
TraceFolder::TraceFolder(TraceFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
TraceFolder::~TraceFolder() {
  std::error_code problem;
  if (!path_.empty()) std::filesystem::remove_all(path_, problem);
}

std::vector<Trace> TraceFolder::traces(pid_t first, std::size_t& unreadable) const {
  std::vector<std::string> names;
  std::error_code problem;
  for (const auto& entry : std::filesystem::directory_iterator(path_, problem)) {
    names.push_back(entry.path().filename().string());
  }
  std::ranges::sort(names, {}, parts_of);
  // The first process comes first, the others in the order of their names.
  std::vector<Trace> traces;
  std::vector<Trace> others;
  for (const std::string& name : names) {
    if (Result<Trace> trace = read_file_trace(path_ + "/" + name); trace) {
      const bool is_first = trace->pid == static_cast<std::uint32_t>(first);
      (is_first ? traces : others).push_back(std::move(*trace));
    } else {
      ++unreadable;
    }
  }
  std::ranges::move(others, std::back_inserter(traces));
  return traces;
}

}  // namespace plumb
