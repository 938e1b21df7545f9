// A leak: blocks of one kind that share where they were allocated and where
// they were lost (or, for a static finding, the path). All engines fill this
// one type; what an engine cannot know stays empty.
//
// The comments name the JSON member where it is not the field's own name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/extra.h"
#include "core/frame.h"
#include "core/kind.h"

namespace plumb {

// So many blocks, so many bytes.
struct Count {
  std::uint64_t blocks = 0;
  std::uint64_t bytes = 0;
  Extra extra;

  Count& operator+=(const Count& other);
  bool operator==(const Count&) const = default;
};

struct SizeRange {  // `sizes`: smallest and largest block
  std::uint64_t min = 0;
  std::uint64_t max = 0;
  Extra extra;
  bool operator==(const SizeRange&) const = default;
};

struct Allocation {
  Stack stack;
  std::string api;  // "malloc", "operator new[]", ...
  Extra extra;
  bool operator==(const Allocation&) const = default;
};

// What kept a reference, as the source names it.
struct Holder {
  std::string name;                // "ht->name", "cache[3]", "g_table"
  std::string type;                // "char *"
  std::string storage;             // "local", "parameter", "global", "heap", "register", ...
  std::vector<std::string> chain;  // for a forgotten block: from a root to it
  Extra extra;
  bool operator==(const Holder&) const = default;
};

struct Loss {
  std::optional<Cause> cause;
  Stack stack;
  std::optional<Holder> holder;
  Extra extra;
  bool operator==(const Loss&) const = default;
};

struct LastUse {
  Stack stack;
  std::optional<UseKind> what;
  Extra extra;
  Stack burst = {};  // program points passed on the way there, newest first
  bool operator==(const LastUse&) const = default;
};

// Where siblings, blocks from the same site, are freed.
struct SiblingFree {
  Stack stack;
  std::uint64_t blocks = 0;
  Extra extra;
  bool operator==(const SiblingFree&) const = default;
};

// One step of the path of a static finding.
struct Step {
  Frame location;
  std::string event;  // "allocate", "branch", "call", "return", "lose", ...
  std::string text;
  std::string branch;     // "taken", "not taken", "case 3"
  std::string condition;  // as the source has it
  std::string call;       // function called
  Extra extra;
  bool operator==(const Step&) const = default;
};

// A procedure summary that a static finding used, as a graph.
struct SummaryNode {
  std::string id;
  std::string label;
  std::string state;  // "allocated", "freed" or empty
  Extra extra;
  bool operator==(const SummaryNode&) const = default;
};
struct SummaryEdge {
  std::string from;
  std::string to;
  std::string label;    // "*", ".next"
  bool before = false;  // existed before the call
  Extra extra;
  bool operator==(const SummaryEdge&) const = default;
};
struct Summary {
  std::string function;
  std::string text;
  std::vector<SummaryNode> nodes;
  std::vector<SummaryEdge> edges;
  Extra extra;
  bool operator==(const Summary&) const = default;
};

// What the sampled engine knows of a site's blocks.
struct Age {
  std::string unit;                             // of the times: "cpu-seconds"; empty: heap accesses
  std::string verdict;                          // "leak", "cache", "start-up", "few"
  std::optional<std::uint64_t> samples;         // that the figures are scaled up from
  std::optional<double> bytes_low, bytes_high;  // `bytesLow`, `bytesHigh`: 95% interval
  std::optional<double> first, last, active, idle, drag, growth;
  std::vector<double> histogram;        // blocks by power of two of idle time
  std::optional<double> missed_chance;  // `missedChance`
  Extra extra;
  bool operator==(const Age&) const = default;
};

struct Fix {
  std::optional<Frame> place;
  std::string text;
  Extra extra;
  bool operator==(const Fix&) const = default;
};

struct Suppressed {
  std::string by;      // the entry: file and line, or its name
  std::string reason;  // as the entry gives it
  Extra extra;
  bool operator==(const Suppressed&) const = default;
};

struct Leak {
  std::string id;  // fingerprint, 16 hex digits; see fingerprint.h
  Kind kind = Kind::lost;
  double confidence = 1;
  std::string resource = "memory";
  std::optional<When> when;
  Count direct;    // `bytes`, `blocks`
  Count indirect;  // what hangs on them
  std::optional<SizeRange> sizes;
  Allocation allocation;
  std::optional<Loss> loss;
  std::optional<LastUse> last_use;  // `lastUse`
  std::vector<Frame> window;        // program points from last use to loss
  std::vector<SiblingFree> frees;
  std::vector<Holder> holders;
  std::vector<Step> path;
  std::vector<Summary> summaries;
  std::optional<Age> age;
  std::optional<Fix> fix;
  std::optional<Suppressed> suppressed;
  bool known = false;  // in the baseline
  Extra extra;

  // Direct and indirect together.
  Count total() const;
  bool hidden() const { return suppressed.has_value() || known; }
  bool operator==(const Leak&) const = default;
};

// The innermost frame that is not the allocator's own (malloc, operator new,
// strdup, ...). Null for an empty stack.
const Frame* user_frame(const Stack& stack);

}  // namespace plumb
