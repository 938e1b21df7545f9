#include "core/fingerprint.h"

#include <xxhash.h>

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "core/allocator_names.h"
#include "core/place.h"

namespace plumb {

namespace {

// Names recur in almost every leak: each is normalised once.
class NameCache {
 public:
  // The word for a function in an identity; empty when it is left out.
  const std::string& word(const std::string& function) {
    const auto [entry, added] = words_.try_emplace(function);
    if (added && !is_allocator_function(function) && !is_start_up_function(function)) {
      entry->second = normalised_function(function);
    }
    return entry->second;
  }

 private:
  std::unordered_map<std::string, std::string> words_;
};

// Words are lines of the identity: whatever a holder or a module is called,
// it must stay on its own.
void append_word(std::string& text, std::string_view word) {
  for (const char c : word) text += c == '\n' ? ' ' : c;
}

// A frame without a name: where it lies in its module, else in which file.
std::string unnamed_place(const Frame& frame, const Report& report) {
  const Module* module = module_of(frame, report);
  if (module != nullptr && frame.offset) {
    return fmt::format("{}+{:#x}", base_name(module->path), *frame.offset);
  }
  if (!frame.file.empty()) return std::string(base_name(frame.file));
  return module != nullptr ? std::string(base_name(module->path)) : "?";
}

void append_stack(std::string& text, std::string_view label, const Stack& stack,
                  const Report& report, NameCache& names) {
  std::string before;
  for (const Frame& frame : stack) {
    const std::string& function = frame.function.empty() ? frame.linkage : frame.function;
    const std::string word = function.empty() ? unnamed_place(frame, report) : names.word(function);
    if (word.empty() || word == before) continue;
    text += label;
    append_word(text, word);
    text += '\n';
    before = word;
  }
}

void write_identity(std::string& text, const Leak& leak, const Report& report, NameCache& names) {
  text += name_of(leak.kind);
  text += ' ';
  append_word(text, leak.resource);
  text += '\n';
  append_stack(text, "allocated ", leak.allocation.stack, report, names);
  if (!leak.loss) return;
  append_stack(text, "lost ", leak.loss->stack, report, names);
  if (leak.loss->cause) text += fmt::format("cause {}\n", name_of(*leak.loss->cause));
  if (leak.loss->holder && !leak.loss->holder->name.empty()) {
    text += "holder ";
    append_word(text, leak.loss->holder->name);
    text += '\n';
  }
}

std::string digest(std::string_view text) {
  XXH128_canonical_t bytes;
  XXH128_canonicalFromHash(&bytes, XXH3_128bits(text.data(), text.size()));
  return std::string(reinterpret_cast<const char*>(bytes.digest), sizeof bytes.digest);
}

std::string id_of(const std::string& key, std::size_t ordinal) {
  return fmt::format("{:016x}", XXH3_64bits_withSeed(key.data(), key.size(), ordinal));
}

}  // namespace

std::string identity(const Leak& leak, const Report& report) {
  NameCache names;
  std::string text;
  write_identity(text, leak, report, names);
  return text;
}

IdentityGroups group_by_identity(const Report& report) {
  IdentityGroups groups;
  NameCache names;
  std::string text;
  groups.keys.reserve(report.leaks.size());
  for (std::size_t i = 0; i < report.leaks.size(); ++i) {
    text.clear();
    write_identity(text, report.leaks[i], report, names);
    groups.keys.push_back(digest(text));
    groups.members[groups.keys.back()].push_back(i);
  }
  const auto earlier = [&](std::size_t a, std::size_t b) {
    const auto by = compare_places({&report.leaks[a], &report}, {&report.leaks[b], &report});
    return by != 0 ? by < 0 : a < b;
  };
  for (auto& [key, members] : groups.members) std::ranges::sort(members, earlier);
  return groups;
}

void assign_ids(Report& report) {
  const IdentityGroups groups = group_by_identity(report);
  for (const auto& [key, members] : groups.members) {
    for (std::size_t ordinal = 0; ordinal < members.size(); ++ordinal) {
      report.leaks[members[ordinal]].id = id_of(key, ordinal);
    }
  }
}

}  // namespace plumb
