#include "trace/record_reader.h"

#include <cstring>
#include <random>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace plumb {
namespace {

// Writes a trace as a runtime would.
class TraceMaker {
 public:
  PlumbTraceHeader header{};
  std::vector<PlumbThread> threads{PlumbThread{}};
  std::vector<PlumbModule> modules{PlumbModule{}};
  std::string strings = std::string(1, '\0');
  std::vector<std::uint64_t> words{0};
  std::vector<PlumbBlock> blocks{PlumbBlock{}};
  std::vector<PlumbWatched> watched{PlumbWatched{}};
  std::vector<PlumbBlockSite> sites{PlumbBlockSite{}};

  TraceMaker() {
    std::memcpy(header.magic, PLUMB_TRACE_MAGIC, 8);
    header.version = PLUMB_TRACE_VERSION;
    header.header_size = sizeof header;
    header.pid = 4242;
    header.phase = PLUMB_PHASE_DONE;
    header.end = PLUMB_END_EXIT;
  }

  void module(const std::string& path, std::uint64_t start, std::uint64_t end,
              std::uint32_t first_epoch = 1, std::uint32_t end_epoch = 0) {
    PlumbModule module{};
    module.start = start;
    module.end = end;
    module.bias = start;
    module.first_epoch = first_epoch;
    module.end_epoch = end_epoch;
    module.path = static_cast<std::uint32_t>(strings.size());
    module.path_size = static_cast<std::uint32_t>(path.size());
    module.build_id_size = 2;
    module.build_id[0] = 0xab;
    module.build_id[1] = 0x01;
    module.state = 1;
    strings += path;
    modules.push_back(module);
  }

  std::uint32_t stack(const std::vector<std::uint64_t>& addresses, std::uint32_t epoch = 1) {
    const auto id = static_cast<std::uint32_t>(words.size());
    PlumbStack stack{};
    stack.count = static_cast<std::uint32_t>(addresses.size());
    stack.epoch = epoch;
    words.resize(words.size() + PLUMB_STACK_WORDS);
    std::memcpy(&words[id], &stack, sizeof stack);
    words.insert(words.end(), addresses.begin(), addresses.end());
    return id;
  }

  std::uint32_t block(PlumbBlockState state, std::uint64_t size, std::uint32_t stack,
                      std::uint32_t leader = 0) {
    PlumbBlock block{};
    block.address = 0x1000 * blocks.size();
    block.size = size;
    block.stack = stack;
    block.state = static_cast<std::uint8_t>(state);
    block.leader = leader;
    blocks.push_back(block);
    return static_cast<std::uint32_t>(blocks.size() - 1);
  }

  PlumbBlockSite& site(std::uint64_t size, std::uint64_t allocated, std::uint64_t freed,
                       std::uint32_t stack) {
    PlumbBlockSite site{};
    site.size = size;
    site.allocated = allocated;
    site.freed = freed;
    site.stack = stack;
    site.state = 1;
    sites.push_back(site);
    return sites.back();
  }

  void counters(std::uint64_t allocated_blocks, std::uint64_t allocated_bytes,
                std::uint64_t freed_blocks, std::uint64_t freed_bytes) {
    threads.push_back({allocated_blocks, allocated_bytes, freed_blocks, freed_bytes, {}});
  }

  std::string bytes() {
    std::string result(sizeof header, '\0');
    put(result, PLUMB_SECTION_THREADS, threads.data(), threads.size(), sizeof(PlumbThread));
    put(result, PLUMB_SECTION_MODULES, modules.data(), modules.size(), sizeof(PlumbModule));
    put(result, PLUMB_SECTION_STRINGS, strings.data(), strings.size(), 1);
    put(result, PLUMB_SECTION_STACKS, words.data(), words.size(), 8);
    put(result, PLUMB_SECTION_BLOCKS, blocks.data(), blocks.size(), sizeof(PlumbBlock));
    put(result, PLUMB_SECTION_WATCHED, watched.data(), watched.size(), sizeof(PlumbWatched));
    put(result, PLUMB_SECTION_SITES, sites.data(), sites.size(), sizeof(PlumbBlockSite));
    std::memcpy(result.data(), &header, sizeof header);
    return result;
  }

 private:
  void put(std::string& result, PlumbSectionKind kind, const void* data, std::size_t count,
           std::uint32_t item_size) {
    result.resize((result.size() + 4095) / 4096 * 4096);  // a hole, as runtimes leave
    header.sections[kind] = {result.size(), count, count, item_size, 0};
    result.append(static_cast<const char*>(data), count * item_size);
  }
};

Result<Trace> read(const std::string& bytes) {
  return read_trace(std::as_bytes(std::span(bytes)), "t.trace");
}

// One lost block that holds another, one reachable, ten freed.
TraceMaker small() {
  TraceMaker maker;
  maker.module("/bin/app", 0x10000, 0x20000);
  maker.module("/lib/a.so", 0x30000, 0x40000);
  const std::uint32_t deep = maker.stack({0x30010, 0x10020});
  const std::uint32_t flat = maker.stack({0x10040});
  const std::uint32_t leader = maker.block(PLUMB_BLOCK_DIRECT, 100, deep);
  maker.block(PLUMB_BLOCK_INDIRECT, 40, flat, leader);
  maker.block(PLUMB_BLOCK_FREE, 7, 9999, 9999);
  maker.block(PLUMB_BLOCK_DIRECT, 60, deep);
  maker.block(PLUMB_BLOCK_REACHABLE, 8, flat);
  maker.counters(14, 1208, 10, 1000);
  return maker;
}

TEST(RecordReader, ListsLostBlocksLeadersFirst) {
  TraceMaker maker = small();
  maker.blocks[1].ordinal = 7;
  maker.blocks[1].thread = 1;
  maker.blocks[2].flags = PLUMB_BLOCK_BY_CALLER;
  const Result<Trace> trace = read(maker.bytes());
  ASSERT_TRUE(trace) << trace.error().message();
  ASSERT_EQ(trace->lost.size(), 3);
  EXPECT_EQ(trace->lost[0].name.ordinal, 7);
  EXPECT_EQ(trace->lost[0].name.thread, 1);
  EXPECT_EQ(trace->lost[0].name.size, 100);
  EXPECT_EQ(trace->lost[0].name.caller, (TraceAddress{ModuleId::of(1), 0x10}));
  EXPECT_EQ(trace->lost[0].leader, 0);
  EXPECT_EQ(trace->lost[1].size, 60);
  EXPECT_EQ(trace->lost[1].leader, 1);
  EXPECT_EQ(trace->lost[2].size, 40);
  EXPECT_EQ(trace->lost[2].leader, 0);
  EXPECT_EQ(trace->lost[2].name.size, PLUMB_WANT_ANY_SIZE);
  EXPECT_EQ(trace->groups[trace->lost[2].group].direct.blocks, 2);
}

TEST(RecordReader, ReadsWhatWasWatched) {
  TraceMaker maker = small();
  const std::uint32_t place = maker.stack({0x10099});
  maker.watched.push_back({1,
                           maker.blocks[1].stack,
                           place,
                           0,
                           PLUMB_CAUSE_OVERWRITTEN,
                           PLUMB_WATCHED_LAST_READ,
                           0,
                           0,
                           {}});
  maker.watched.push_back({});                            // begun, but not written
  maker.watched.push_back({3, 0, 0, 0, 0, 0, 0, 0, {}});  // freed meanwhile
  const Result<Trace> trace = read(maker.bytes());
  ASSERT_TRUE(trace) << trace.error().message();
  ASSERT_EQ(trace->watched.size(), 1);
  const TraceWatched& block = trace->watched[0];
  EXPECT_EQ(block.reach, Reach::lost);
  EXPECT_EQ(block.cause, Cause::overwritten);
  EXPECT_TRUE(block.last_read);
  EXPECT_FALSE(block.returned);
  EXPECT_EQ(block.use, 0);
  EXPECT_EQ(trace->stacks[block.loss], (std::vector<TraceAddress>{{ModuleId::of(0), 0x99}}));
  EXPECT_EQ(trace->stacks[block.allocation].size(), 2);
}

TEST(RecordReader, RefusesDamagedWatchedBlocks) {
  const auto with = [](PlumbWatched item) {
    TraceMaker maker = small();
    maker.watched.push_back(item);
    return read(maker.bytes()).has_value();
  };
  EXPECT_TRUE(with({1, 0, 0, 0, 0, 0, 0, 0, {}}));
  EXPECT_FALSE(with({99, 0, 0, 0, 0, 0, 0, 0, {}}));
  EXPECT_FALSE(with({1, 9999, 0, 0, 0, 0, 0, 0, {}}));
  EXPECT_FALSE(with({1, 0, 9999, 0, 0, 0, 0, 0, {}}));
  EXPECT_FALSE(with({1, 0, 0, 9999, 0, 0, 0, 0, {}}));
  EXPECT_FALSE(with({1, 0, 0, 0, PLUMB_CAUSE_COUNT, 0, 0, 0, {}}));
  EXPECT_FALSE(with({1, 0, 0, 0, 0, 0, 9999, 0, {}}));
  PlumbPlace place{};
  place.kind = PLUMB_PLACE_COUNT;
  EXPECT_FALSE(with({1, 0, 0, 0, 0, 0, 0, 0, place}));
}

TEST(RecordReader, SumsUpByVerdictAndStack) {
  const Result<Trace> trace = read(small().bytes());
  ASSERT_TRUE(trace) << trace.error().message();
  EXPECT_EQ(trace->pid, 4242u);
  EXPECT_EQ(trace->phase, PLUMB_PHASE_DONE);
  ASSERT_EQ(trace->groups.size(), 2u);
  const TraceGroup& reachable = trace->groups[0];
  EXPECT_EQ(reachable.reach, Reach::reachable);
  EXPECT_EQ(reachable.direct.bytes, 8u);
  const TraceGroup& lost = trace->groups[1];
  EXPECT_EQ(lost.reach, Reach::lost);
  EXPECT_EQ(lost.api, "malloc");
  EXPECT_EQ(lost.direct, (Count{2, 160, {}}));
  EXPECT_EQ(lost.indirect, (Count{1, 40, {}}));
  EXPECT_EQ(lost.sizes.min, 60u);
  EXPECT_EQ(lost.sizes.max, 100u);
  EXPECT_EQ(trace->allocated, (Count{14, 1208, {}}));
  EXPECT_EQ(trace->freed, (Count{10, 1000, {}}));
  EXPECT_FALSE(trace->adjusted);
}

TEST(RecordReader, AddressesBecomeModuleAndOffset) {
  const Result<Trace> trace = read(small().bytes());
  ASSERT_TRUE(trace);
  ASSERT_EQ(trace->modules.size(), 2u);
  EXPECT_EQ(trace->modules[1].path, "/lib/a.so");
  EXPECT_EQ(trace->modules[1].build_id, "ab01");
  const std::vector<TraceAddress>& stack = trace->stacks[trace->groups[1].stack];
  ASSERT_EQ(stack.size(), 2u);
  EXPECT_EQ(stack[0], (TraceAddress{ModuleId::of(1), 0x10}));
  EXPECT_EQ(stack[1], (TraceAddress{ModuleId::of(0), 0x20}));
}

TEST(RecordReader, AddressBelongsToTheModuleOfItsTime) {
  TraceMaker maker;
  maker.module("/lib/old.so", 0x10000, 0x20000, 1, 2);
  maker.module("/lib/new.so", 0x10000, 0x20000, 2, 0);
  maker.block(PLUMB_BLOCK_DIRECT, 1, maker.stack({0x10010}, 1));
  maker.block(PLUMB_BLOCK_DIRECT, 2, maker.stack({0x10010}, 2));
  const Result<Trace> trace = read(maker.bytes());
  ASSERT_TRUE(trace);
  ASSERT_EQ(trace->groups.size(), 2u);
  for (const TraceGroup& group : trace->groups) {
    const TraceAddress& address = trace->stacks[group.stack][0];
    ASSERT_TRUE(address.module);
    EXPECT_EQ(trace->modules[address.module->index].path,
              group.direct.bytes == 1 ? "/lib/old.so" : "/lib/new.so");
  }
}

TEST(RecordReader, CodeOutsideOfModulesKeepsItsAddress) {
  TraceMaker maker;
  maker.block(PLUMB_BLOCK_DIRECT, 1, maker.stack({0x7000}));
  const Result<Trace> trace = read(maker.bytes());
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->stacks[trace->groups[0].stack][0], (TraceAddress{std::nullopt, 0x7000}));
}

TEST(RecordReader, TwicePresentModuleIsOne) {
  TraceMaker maker;
  maker.module("/lib/a.so", 0x10000, 0x20000, 1, 2);
  maker.module("/lib/a.so", 0x50000, 0x60000, 2, 0);
  const Result<Trace> trace = read(maker.bytes());
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->modules.size(), 1u);
}

TEST(RecordReader, WithoutScanNothingIsLost) {
  for (const PlumbPhase phase : {PLUMB_PHASE_RUNNING, PLUMB_PHASE_SCANNING, PLUMB_PHASE_GAVE_UP}) {
    TraceMaker maker = small();
    maker.header.phase = phase;
    const Result<Trace> trace = read(maker.bytes());
    ASSERT_TRUE(trace) << trace.error().message();
    Count sum;
    for (const TraceGroup& group : trace->groups) {
      EXPECT_EQ(group.reach, Reach::unknown);
      sum += group.direct;
      sum += group.indirect;
    }
    EXPECT_EQ(sum, (Count{4, 208, {}}));
  }
}

// Two sites with one stack, one for any size, one of the parent's, one not yet written.
TraceMaker killed() {
  TraceMaker maker;
  maker.header.phase = PLUMB_PHASE_RUNNING;
  maker.module("/bin/app", 0x10000, 0x20000);
  const std::uint32_t stack = maker.stack({0x10040});
  maker.site(24, 10, 3, stack).freed_elsewhere = 2;
  maker.site(8, 1, 0, stack);
  maker.site(100, 3, 1, maker.stack({0x10050})).flags = PLUMB_SITE_ANY_SIZE;
  maker.site(16, 4, 1, stack).flags = PLUMB_SITE_EXCLUDED;
  maker.site(1, 1, 0, stack).state = 0;
  maker.counters(0, 120, 0, 20);
  return maker;
}

TEST(RecordReader, WithoutScanSitesSayHowMuchIsLeft) {
  const Result<Trace> trace = read(killed().bytes());
  ASSERT_TRUE(trace) << trace.error().message();
  ASSERT_EQ(trace->groups.size(), 2u);
  EXPECT_EQ(trace->groups[0].reach, Reach::unknown);
  EXPECT_EQ(trace->groups[0].direct, (Count{6, 5 * 24 + 8, {}}));
  EXPECT_EQ(trace->groups[0].sizes.min, 8u);
  EXPECT_EQ(trace->groups[0].sizes.max, 24u);
  EXPECT_EQ(trace->groups[1].direct, (Count{2, 100, {}}));
  EXPECT_EQ(trace->excluded, (Count{3, 48, {}}));
  EXPECT_EQ(trace->freed, (Count{7, 5 * 24 + 20 + 16, {}}));
  EXPECT_EQ(trace->allocated, (Count{18, 10 * 24 + 8 + 120 + 64, {}}));
  EXPECT_FALSE(trace->adjusted);
}

TEST(RecordReader, AfterTheScanBlocksSayIt) {
  TraceMaker maker = small();
  maker.threads.pop_back();
  maker.site(100, 14, 10, maker.blocks[1].stack);
  const Result<Trace> trace = read(maker.bytes());
  ASSERT_TRUE(trace) << trace.error().message();
  EXPECT_EQ(trace->groups.size(), 2u);
  EXPECT_EQ(trace->freed, (Count{10, 1000, {}}));
  EXPECT_EQ(trace->allocated, (Count{14, 1208, {}}));
}

TEST(RecordReader, DamagedSitesAreRefused) {
  const auto with = [](void (*change)(PlumbBlockSite&)) {
    TraceMaker maker = killed();
    change(maker.sites[1]);
    return read(maker.bytes()).has_value();
  };
  EXPECT_TRUE(with([](PlumbBlockSite&) {}));
  EXPECT_FALSE(with([](PlumbBlockSite& site) { site.api = PLUMB_API_COUNT; }));
  EXPECT_FALSE(with([](PlumbBlockSite& site) { site.stack = 9999; }));
  EXPECT_FALSE(with([](PlumbBlockSite& site) { site.size = UINT64_MAX; }));
  EXPECT_FALSE(with([](PlumbBlockSite& site) { site.freed = UINT64_MAX; }));
  EXPECT_TRUE(with([](PlumbBlockSite& site) { site.freed = 999; }));  // killed between two counters
}

TEST(RecordReader, CountersThatDoNotFitAreAdjusted) {
  TraceMaker maker = small();
  maker.threads[1].allocated_blocks += 1;
  const Result<Trace> trace = read(maker.bytes());
  ASSERT_TRUE(trace);
  EXPECT_TRUE(trace->adjusted);
  EXPECT_EQ(trace->allocated, (Count{14, 1208, {}}));
}

TEST(RecordReader, FullSectionIsReadUpToItsCapacity) {
  TraceMaker maker = small();
  std::string bytes = maker.bytes();
  maker.header.sections[PLUMB_SECTION_BLOCKS].used += 1000;
  std::memcpy(bytes.data(), &maker.header, sizeof maker.header);
  EXPECT_TRUE(read(bytes));
}

TEST(RecordReader, OtherVersionSaysWhichItReads) {
  TraceMaker maker = small();
  maker.header.version = 7;
  const Result<Trace> trace = read(maker.bytes());
  ASSERT_FALSE(trace);
  EXPECT_EQ(trace.error().message(),
            fmt::format("plumb: error: t.trace: format 7, this build reads {}\n"
                        "  hint: record again, or use the plumb that wrote it\n",
                        PLUMB_TRACE_VERSION));
}

TEST(RecordReader, OtherFilesAreNotTraces) {
  for (const std::string& bytes : {std::string(), std::string("PLUMB"), std::string(5000, 'x')}) {
    const Result<Trace> trace = read(bytes);
    ASSERT_FALSE(trace);
    EXPECT_EQ(trace.error().what, "not a trace of plumb's");
  }
}

TEST(RecordReader, CutOffAnywhereIsAnError) {
  const std::string whole = small().bytes();
  for (std::size_t size = 0; size < whole.size(); size += size < 2000 ? 1 : 97) {
    EXPECT_FALSE(read(whole.substr(0, size))) << size;
  }
}

// A change that the reader must notice.
template <typename Change>
void expect_damaged(Change change, const char* words) {
  TraceMaker maker = small();
  maker.bytes();
  change(maker);
  const Result<Trace> trace = read(maker.bytes());
  ASSERT_FALSE(trace) << words;
  EXPECT_NE(trace.error().what.find(words), std::string::npos) << trace.error().what;
}

TEST(RecordReader, DamageIsNoticed) {
  expect_damaged([](TraceMaker& t) { t.header.phase = 77; }, "phase");
  expect_damaged([](TraceMaker& t) { t.header.end = 77; }, "end");
  expect_damaged([](TraceMaker& t) { t.header.problem = 77; }, "problem");
  expect_damaged([](TraceMaker& t) { t.header.header_size = 8; }, "header");
  expect_damaged([](TraceMaker& t) { t.blocks[1].stack = 100000; }, "stack");
  expect_damaged([](TraceMaker& t) { t.blocks[1].state = 99; }, "block 1");
  expect_damaged([](TraceMaker& t) { t.blocks[1].api = 99; }, "block 1");
  expect_damaged([](TraceMaker& t) { t.blocks[2].leader = 0; }, "leader");
  expect_damaged([](TraceMaker& t) { t.blocks[2].leader = 1u << 30; }, "leader");
  expect_damaged([](TraceMaker& t) { t.blocks[2].leader = 3; }, "leader");
  expect_damaged([](TraceMaker& t) { t.blocks[1].size = UINT64_MAX; }, "fit");
  expect_damaged([](TraceMaker& t) { t.threads[1].freed_bytes = UINT64_MAX; }, "overflow");
}

TEST(RecordReader, HostileSectionsAreRefused) {
  const auto expect_refused = [](auto change) {
    TraceMaker maker = small();
    std::string bytes = maker.bytes();
    change(maker.header.sections);
    std::memcpy(bytes.data(), &maker.header, sizeof maker.header);
    EXPECT_FALSE(read(bytes));
  };
  expect_refused([](PlumbSection* s) { s[PLUMB_SECTION_BLOCKS].offset = UINT64_MAX - 3; });
  expect_refused([](PlumbSection* s) {
    s[PLUMB_SECTION_BLOCKS].used = s[PLUMB_SECTION_BLOCKS].capacity = UINT64_MAX;
  });
  expect_refused([](PlumbSection* s) { s[PLUMB_SECTION_STACKS].item_size = 1; });
  expect_refused([](PlumbSection* s) { s[PLUMB_SECTION_BLOCKS].item_size = 0; });
}

TEST(RecordReader, RandomDamageNeverCrashes) {
  const std::string whole = small().bytes();
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) {
    std::string bytes = whole;
    for (int i = 0; i < 8; ++i) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    const Result<Trace> trace = read(bytes);
    if (!trace) EXPECT_FALSE(trace.error().what.empty());
  }
}

TEST(RecordReader, NamesAreMadeUtf8) {
  TraceMaker maker;
  maker.module("/lib/\xff.so", 0x1000, 0x2000);
  std::memset(maker.header.end_text, 'x', sizeof maker.header.end_text);  // not ended
  const Result<Trace> trace = read(maker.bytes());
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->modules[0].path, "/lib/\xef\xbf\xbd.so");
  EXPECT_EQ(trace->end_program.size(), sizeof maker.header.end_text);
}

TEST(RecordReader, CompactTraceReadsTheSame) {
  const std::string bytes = small().bytes();
  const Result<std::string> compact = compact_trace(std::as_bytes(std::span(bytes)), "t.trace");
  ASSERT_TRUE(compact);
  EXPECT_LT(compact->size(), bytes.size() / 4);
  const Result<Trace> before = read(bytes);
  const Result<Trace> after = read(*compact);
  ASSERT_TRUE(after);
  EXPECT_EQ(after->stacks, before->stacks);
  EXPECT_EQ(after->modules, before->modules);
  EXPECT_EQ(after->allocated, before->allocated);
  ASSERT_EQ(after->groups.size(), before->groups.size());
  const std::string other = "no";
  EXPECT_FALSE(compact_trace(std::as_bytes(std::span(other)), "t.trace"));
}

}  // namespace
}  // namespace plumb
