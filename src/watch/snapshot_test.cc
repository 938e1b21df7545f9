// The reader against damaged and hostile snapshots.
#include "watch/snapshot.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>

#include "core/accounting.h"
#include "watch/watch.h"

namespace plumb {
namespace {

template <typename T>
void put(std::string& bytes, PlumbWatchHeader& header, PlumbWatchSectionKind kind,
         const std::vector<T>& items) {
  bytes.resize((bytes.size() + 7) & ~std::size_t{7});
  header.sections[kind] = {bytes.size(), items.size(), items.size(), sizeof(T), 0};
  bytes.append(reinterpret_cast<const char*>(items.data()), items.size() * sizeof(T));
}

std::string trace_bytes() {
  PlumbTraceHeader header{};
  std::memcpy(header.magic, PLUMB_TRACE_MAGIC, 8);
  header.version = PLUMB_TRACE_VERSION;
  header.header_size = sizeof header;
  std::vector<std::uint64_t> stacks(16, 0);
  PlumbStack stack{};
  stack.count = 2;
  std::memcpy(&stacks[1], &stack, sizeof stack);
  stacks[4] = 0x1000;
  stacks[5] = 0x2000;
  header.sections[PLUMB_SECTION_STACKS] = {sizeof header, stacks.size(), stacks.size(), 8, 0};
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  bytes.append(reinterpret_cast<const char*>(stacks.data()), stacks.size() * 8);
  return bytes;
}

std::string good_snapshot() {
  PlumbWatchHeader header{};
  std::memcpy(header.magic, PLUMB_WATCH_MAGIC, 8);
  header.version = PLUMB_WATCH_VERSION;
  header.header_size = sizeof header;
  header.pid = 42;
  header.phase = PLUMB_WATCH_RUNNING;
  header.now = 100'000'000'000;
  header.epoch = 1'000'000'000;
  header.epochs = 100;
  header.mean = 65536;
  std::memcpy(header.command, "server\0-v\0", 10);
  std::string bytes(sizeof header, '\0');
  PlumbWatchSite site{};
  site.stack = 1;
  std::vector<PlumbWatchBlock> blocks;
  for (std::uint64_t i = 0; i < 20; ++i) {
    const std::uint64_t birth = i * 5'000'000'000;
    blocks.push_back({1000, 65536, birth, birth, 1, PLUMB_WATCH_OBSERVED, 0, 0, 0, 0});
    site.allocated_blocks += 65;
    site.allocated_bytes += 65'000;
  }
  site.allocated_samples = 20;
  put(bytes, header, PLUMB_WATCH_SITES, std::vector<PlumbWatchSite>{{}, site});
  put(bytes, header, PLUMB_WATCH_BLOCKS, blocks);
  put(bytes, header, PLUMB_WATCH_FREES, std::vector<PlumbWatchFree>{{1, 1, 3}});
  put(bytes, header, PLUMB_WATCH_HISTORY,
      std::vector<PlumbWatchPoint>{{50'000'000'000, 1, 6e5, 600, 0},
                                   {99'000'000'000, 2, 13e5, 1300, 0}});
  put(bytes, header, PLUMB_WATCH_CURVES, std::vector<float>{0, 0, 6e5F, 13e5F});
  const std::string trace = trace_bytes();
  put(bytes, header, PLUMB_WATCH_TRACE, std::vector<char>(trace.begin(), trace.end()));
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

Result<WatchSnapshot> read(const std::string& bytes) {
  return read_snapshot(std::as_bytes(std::span(bytes)), "test");
}

TEST(Snapshot, IsRead) {
  const std::string bytes = good_snapshot();
  EXPECT_TRUE(is_snapshot(bytes));
  const Result<WatchSnapshot> snapshot = read(bytes);
  ASSERT_TRUE(snapshot) << snapshot.error().message();
  EXPECT_EQ(snapshot->pid, 42U);
  EXPECT_EQ(snapshot->command, (std::vector<std::string>{"server", "-v"}));
  ASSERT_EQ(snapshot->sites.size(), 2U);
  EXPECT_EQ(snapshot->sites[1].blocks.size(), 20U);
  EXPECT_NEAR(snapshot->sites[1].blocks[0].weight, 65, 1);
  EXPECT_EQ(snapshot->sites[1].stack.size(), 2U);
  EXPECT_EQ(snapshot->sites[1].frees.size(), 1U);
  const Result<Report> report = report_of_snapshot(bytes, "test", {});
  ASSERT_TRUE(report);
  ASSERT_EQ(report->leaks.size(), 1U);
  EXPECT_EQ(report->leaks[0].kind, Kind::stale);
  EXPECT_EQ(report->series.size(), 2U);
}

TEST(Snapshot, EveryCutIsRefused) {
  const std::string bytes = good_snapshot();
  for (std::size_t size = 0; size < bytes.size(); size += 13) {
    EXPECT_FALSE(read(bytes.substr(0, size))) << size;
  }
}

TEST(Snapshot, OtherVersionsAreNamed) {
  std::string bytes = good_snapshot();
  bytes[8] = 9;
  const Result<WatchSnapshot> snapshot = read(bytes);
  ASSERT_FALSE(snapshot);
  EXPECT_EQ(snapshot.error().what, "snapshot format 9, this build reads 2");
}

// Whatever is in it: an error or a report that holds.
TEST(Snapshot, DamageDoesNoHarm) {
  const std::string bytes = good_snapshot();
  std::mt19937 random(5);
  for (int round = 0; round < 20'000; ++round) {
    std::string broken = bytes;
    for (int k = 0; k < 3; ++k) {
      broken[random() % broken.size()] = static_cast<char>(random() % 4 == 0 ? 0xff : random());
    }
    const Result<Report> report = report_of_snapshot(broken, "broken", {});
    if (report) EXPECT_TRUE(check_totals(*report));
  }
}

}  // namespace
}  // namespace plumb
