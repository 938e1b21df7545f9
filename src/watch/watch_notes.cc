#include "watch/watch_notes.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/text.h"

namespace plumb {

namespace {

struct LimitWords {
  std::uint32_t bit;
  const char* code;
  const char* text;
  const char* remedy;
};
constexpr LimitWords kLimits[] = {
    {PLUMB_WATCH_NO_TOUCHES, "growth-only",
     "this kernel does not show which pages a process touched: sites are judged by their growth "
     "alone, which is right in about half of the cases",
     "/proc must be mounted and show the process's own page map"},
    {PLUMB_WATCH_ARENA_FULL, "samples-full",
     "there was no room for some samples: figures of later blocks are too low",
     "sample less (--sample=1M), or raise the limit of address space (ulimit -v)"},
    {PLUMB_WATCH_NO_LARGE, "large-blocks",
     "the program's malloc is not glibc's: blocks above 256 kB are not sampled", ""},
    {PLUMB_WATCH_NEW_PASSES, "operator-new",
     "the program's allocator has an operator new of its own, which is not seen: C++ objects are "
     "missing",
     "run it with glibc's malloc"},
    {PLUMB_WATCH_SITES_FULL, "sites-full", "more allocation sites than fit; the later ones are one",
     ""},
    {PLUMB_WATCH_SHUT_IN, "shut-in",
     "the program forbade itself system calls that watching needs (seccomp): what came after that "
     "is not in this report",
     "allow mmap, munmap, mremap, madvise, futex and getpid, or run it without the filter"},
    {PLUMB_WATCH_STACKS_FULL, "stacks-full", "later allocation stacks are unknown", ""},
};

std::string sum_words(const VerdictCounts::Sum& sum, std::string_view what) {
  return fmt::format("{} with {} idle bytes {}", count_of(sum.sites, "site"),
                     with_commas(static_cast<std::uint64_t>(std::llround(sum.bytes))), what);
}

// With epochs of which the run would have had enough.
std::string remedy_of_short_run(double now, double times_active) {
  const double enough = now / (3 * std::max(times_active, 1.0)) * 1000;
  for (const int milliseconds : {1000, 500, 200, 100, 50, 20, 10, 5}) {
    if (milliseconds <= enough) {
      return fmt::format("let it run longer, or shorten the epochs (--epoch={}ms)", milliseconds);
    }
  }
  return "let it run longer";
}

}  // namespace

void VerdictCounts::add(const SiteJudgement& judged) {
  if (judged.stale_samples == 0) return;
  Sum* sum = nullptr;
  switch (judged.verdict) {
    case SiteVerdict::leak:
      return;
    case SiteVerdict::cache:
      sum = &cache;
      break;
    case SiteVerdict::start_up:
      sum = &start_up;
      break;
    case SiteVerdict::few:
      sum = &few;
      break;
  }
  ++sum->sites;
  sum->bytes += judged.stale_bytes;
}

std::vector<Note> notes_of(const WatchSnapshot& snapshot, const VerdictCounts& counts,
                           const StalePolicy& policy) {
  std::vector<Note> notes;
  for (const LimitWords& limit : kLimits) {
    if ((snapshot.limits & limit.bit) != 0) {
      notes.push_back({limit.code, limit.text, limit.remedy, {}});
    }
  }
  if (snapshot.search == PLUMB_WATCH_TOO_LARGE) {
    notes.push_back({"not-searched",
                     "the program had more memory at its end than is read then: what is lost of "
                     "it is not told from what is held",
                     "--search=4G reads more",
                     {}});
  } else if (snapshot.search == PLUMB_WATCH_SEARCH_FAILED) {
    notes.push_back({"not-searched",
                     "the program's memory could not be read at its end: what is lost of it is "
                     "not told from what is held",
                     "",
                     {}});
  }
  // What is idle for less than this cannot be told from what rests.
  const double needed = policy.times_active * snapshot.epoch;
  if (snapshot.now < 3 * needed && (snapshot.limits & PLUMB_WATCH_NO_TOUCHES) == 0) {
    notes.push_back(
        {"short-run",
         fmt::format("the program used {} s of CPU time; a block is stale after {} s at "
                     "the earliest",
                     number_text(snapshot.now), number_text(needed)),
         remedy_of_short_run(snapshot.now, policy.times_active),
         {}});
  }
  if (counts.parted > 0) {
    notes.push_back({"freed-at-end",
                     fmt::format("of what is stale, {} bytes were freed as the program ended: "
                                 "they are reported as they were until then",
                                 with_commas(static_cast<std::uint64_t>(counts.parted))),
                     "",
                     {}});
  }
  const std::string hint = policy.list_all ? "" : "--all-sites lists them";
  if (counts.cache.sites != 0) {
    notes.push_back({"caches",
                     sum_words(counts.cache,
                               "look like caches: used again, or mostly in "
                               "use"),
                     hint,
                     {}});
  }
  if (counts.start_up.sites != 0) {
    notes.push_back({"start-up",
                     sum_words(counts.start_up,
                               "look like start-up data: filled once, not "
                               "growing"),
                     hint,
                     {}});
  }
  if (counts.few.sites != 0) {
    notes.push_back({"few-samples",
                     sum_words(counts.few, "have too few samples to judge"),
                     "let it run longer, or sample more (--sample=16k)",
                     {}});
  }
  return notes;
}

}  // namespace plumb
