#include "report/text_words.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "report/testdata/sample_report.h"

namespace plumb {
namespace {

using sample::count;

Leak leak_of(std::uint64_t blocks, std::uint64_t bytes, Kind kind = Kind::lost) {
  Leak leak;
  leak.kind = kind;
  leak.direct = count(blocks, bytes);
  return leak;
}

Leak with_loss(Leak leak, std::optional<Cause> cause, std::string holder = "") {
  Loss loss;
  loss.cause = cause;
  if (!holder.empty()) {
    Holder named;
    named.name = std::move(holder);
    loss.holder = named;
  }
  leak.loss = loss;
  return leak;
}

TEST(Quantity, CountsWhatIsKnown) {
  EXPECT_EQ(quantity_of(leak_of(1, 4096)), "4,096 bytes in 1 block");
  EXPECT_EQ(quantity_of(leak_of(2, 1)), "1 byte in 2 blocks");
  EXPECT_EQ(quantity_of(leak_of(0, 16)), "16 bytes");
  EXPECT_EQ(quantity_of(leak_of(0, 0)), "");
  Leak socket = leak_of(2, 0);
  socket.resource = "socket";
  EXPECT_EQ(quantity_of(socket), "2 sockets");
}

TEST(Sentence, OfALossInARun) {
  const Leak leak = leak_of(1, 4096);
  EXPECT_EQ(sentence_of(with_loss(leak, Cause::overwritten, "buf"), Engine::cc, Place::loss),
            "4,096 bytes in 1 block, last reference overwritten here: 'buf'");
  EXPECT_EQ(sentence_of(with_loss(leak, std::nullopt), Engine::cc, Place::loss),
            "4,096 bytes in 1 block, last reference lost here");
  EXPECT_EQ(sentence_of(with_loss(leak, Cause::holder_freed, "ht->name"), Engine::run, Place::loss),
            "4,096 bytes in 1 block, last reference freed with its holder here: 'ht->name'");
}

TEST(Sentence, OfALossOnAPath) {
  EXPECT_EQ(
      sentence_of(with_loss(leak_of(0, 0), Cause::scope_end, "p"), Engine::check, Place::loss),
      "'p', the last reference, goes out of scope here");
  EXPECT_EQ(
      sentence_of(with_loss(leak_of(0, 16), Cause::overwritten, "p"), Engine::check, Place::loss),
      "'p', the last reference to 16 bytes, is overwritten here");
  EXPECT_EQ(sentence_of(leak_of(0, 0), Engine::check, Place::path_end),
            "the last reference is lost here");
  Leak handle = with_loss(leak_of(0, 0), Cause::scope_end, "f");
  handle.resource = "file";
  EXPECT_EQ(sentence_of(handle, Engine::check, Place::loss),
            "'f', the last reference to a file, goes out of scope here");
}

TEST(Sentence, EveryCauseHasItsWords) {
  std::vector<std::string> seen;
  for (const auto& [cause, name] : kNames<Cause>) {
    seen.push_back(sentence_of(with_loss(leak_of(1, 1), cause), Engine::cc, Place::loss));
  }
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(std::unique(seen.begin(), seen.end()), seen.end());
}

TEST(Sentence, OfAnAllocationWhoseLossIsUnknown) {
  EXPECT_EQ(sentence_of(leak_of(4, 64), Engine::run, Place::allocation),
            "64 bytes in 4 blocks allocated here are never freed and nothing refers to them");
  EXPECT_EQ(sentence_of(leak_of(1, 1), Engine::run, Place::allocation),
            "1 byte in 1 block allocated here is never freed and nothing refers to it");
  EXPECT_EQ(sentence_of(leak_of(1, 8), Engine::run, Place::unknown),
            "8 bytes in 1 block allocated at an unknown place are never freed and nothing refers "
            "to them");
  EXPECT_EQ(sentence_of(leak_of(0, 0), Engine::check, Place::allocation),
            "memory allocated here is never freed on this path");
}

TEST(Sentence, OfWhatIsStillHeld) {
  Leak leak = leak_of(3, 512, Kind::forgotten);
  EXPECT_EQ(sentence_of(leak, Engine::run, Place::allocation),
            "512 bytes in 3 blocks, still reachable at the end");
  leak.holders.resize(2);
  leak.holders[1].name = "g_table";
  EXPECT_EQ(sentence_of(leak, Engine::run, Place::allocation),
            "512 bytes in 3 blocks, still held by 'g_table'");
  leak.kind = Kind::stale;
  EXPECT_EQ(sentence_of(leak, Engine::watch, Place::allocation),
            "512 bytes in 3 blocks allocated here, unused for long but still held");
  leak.age.emplace();  // without a time: touches were not seen
  EXPECT_EQ(sentence_of(leak, Engine::watch, Place::allocation),
            "512 bytes in 3 blocks allocated here, ever more of them alive");
}

TEST(Qualifiers, OnlyWhatIsNotOrdinary) {
  Leak leak;
  leak.when = When::ordinary;
  EXPECT_EQ(qualifiers_of(leak), "");
  leak.when = When::error_path;
  leak.confidence = 0.7;
  EXPECT_EQ(qualifiers_of(leak), " (on an error path, confidence 70%)");
  leak.when.reset();
  leak.confidence = 0.999;
  EXPECT_EQ(qualifiers_of(leak), " (confidence 99%)");
  leak.confidence = 0;
  EXPECT_EQ(qualifiers_of(leak), " (confidence 1%)");
}

TEST(AgeLine, OnlyWhatIsKnown) {
  Age age;
  EXPECT_EQ(age_line(age), "");
  age.idle = 12300000;
  age.growth = -1.256;
  age.drag = 1.29e13;
  EXPECT_EQ(age_line(age),
            "idle for 12,300,000 heap accesses, drag 1.29e+13 (bytes x idle time), growth -1.26");
}

TEST(HiddenReason, SaysWho) {
  Leak leak;
  EXPECT_EQ(hidden_reason(leak), "");
  leak.known = true;
  EXPECT_EQ(hidden_reason(leak), "known: in the baseline");
  leak.suppressed = Suppressed{"a.supp:3", "a bug\nof theirs", {}};
  EXPECT_EQ(hidden_reason(leak), "suppressed by a.supp:3: a bug\\x0aof theirs");
}

}  // namespace
}  // namespace plumb
