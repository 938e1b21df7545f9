#include "run/wants.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <tuple>

#include "run/trace_report.h"
#include "trace/symbolise.h"
#include "trace/variables.h"

namespace plumb {

namespace {

PlumbWantHeader header_for(bool all) {
  PlumbWantHeader header{};
  std::memcpy(header.magic, PLUMB_WANT_MAGIC, sizeof header.magic);
  header.version = PLUMB_TRACE_VERSION;
  header.all = all ? 1 : 0;
  return header;
}

template <typename T>
void append(std::string& list, const T& item) {
  list.append(reinterpret_cast<const char*>(&item), sizeof item);
}

bool in_order(const PlumbWant& left, const PlumbWant& right) {
  return std::tie(left.module, left.thread, left.caller, left.size, left.ordinal) <
         std::tie(right.module, right.thread, right.caller, right.size, right.ordinal);
}

// How many blocks of each group may be watched: all, or so many that the groups
// with few blocks are whole.
std::size_t share_of(const std::vector<const TraceLost*>& blocks, std::size_t groups) {
  std::vector<std::size_t> counts(groups);
  for (const TraceLost* block : blocks) ++counts[block->group];
  std::ranges::sort(counts);
  std::size_t room = kMaxWatched;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const std::size_t rest = counts.size() - i;
    if (counts[i] > room / rest) return std::max<std::size_t>(room / rest, 1);
    room -= counts[i];
  }
  return kMaxWatched;
}

constexpr std::size_t kMostScopeWords = 4'000'000;

void append_scopes(std::uint32_t module, const CodeRange& code,
                   const std::vector<ScopedSlot>& slots, std::vector<std::uint64_t>& words) {
  words.insert(words.end(), {module, code.begin, code.end, slots.size()});
  for (const ScopedSlot& slot : slots) {
    words.insert(words.end(),
                 {static_cast<std::uint64_t>(slot.offset), slot.size, slot.live.size()});
    for (const CodeRange& range : slot.live) words.insert(words.end(), {range.begin, range.end});
  }
}

}  // namespace

std::vector<std::uint64_t> scopes_of(const Trace& trace) {
  std::vector<std::uint64_t> words;
  Symboliser symbols(trace.modules);
  // One unit has many functions: those that were listed are not asked for again.
  std::map<std::uint32_t, std::vector<CodeRange>> known;
  std::set<std::uint32_t> stacks;
  for (const TraceLost& lost : trace.lost) stacks.insert(trace.groups[lost.group].stack);
  for (const std::uint32_t stack : stacks) {
    for (const TraceAddress& address : trace.stacks[stack]) {
      if (!address.module || is_system_library(trace.modules[address.module->index].path)) continue;
      std::vector<CodeRange>& listed = known[address.module->index];
      const std::uint64_t pc = address.offset - 1;
      if (std::ranges::any_of(listed, [&](const CodeRange& range) { return range.has(pc); })) {
        continue;
      }
      Variables* variables = symbols.variables(*address.module);
      if (variables == nullptr) continue;
      listed.push_back({pc, pc + 1});
      for (const ScopedFunction& function : variables->scoped_slots(pc)) {
        for (const CodeRange& code : function.code) {
          listed.push_back(code);
          append_scopes(address.module->index, code, function.slots, words);
        }
        if (words.size() > kMostScopeWords) return words;
      }
    }
  }
  return words;
}

Wants wants_of(const Trace& trace, bool kept, const std::vector<std::uint64_t>& scopes) {
  Wants wants;
  std::vector<const TraceLost*> blocks;
  for (const TraceLost& block : trace.lost) blocks.push_back(&block);
  const std::size_t lost = blocks.size();
  if (kept) {
    for (const TraceLost& block : trace.kept) blocks.push_back(&block);
  }
  const std::size_t share = share_of(blocks, trace.groups.size());
  std::vector<std::size_t> used(trace.groups.size());
  std::vector<PlumbWant> items;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const TraceLost* block = blocks[i];
    const TraceName& name = block->name;
    if (name.ordinal == 0 || !name.caller.module || used[block->group] >= share) {
      ++wants.left_out;
      continue;
    }
    ++used[block->group];
    items.push_back({static_cast<std::uint32_t>(name.caller.module->index), name.thread,
                     name.caller.offset, name.size, name.ordinal, i < lost ? 0u : 1u});
  }
  // So that the program gets the same answers when it asks again.
  for (const TraceLost& block : trace.excused) {
    const TraceName& name = block.name;
    if (name.ordinal == 0 || !name.caller.module || items.size() >= kMaxWatched) continue;
    items.push_back({static_cast<std::uint32_t>(name.caller.module->index), name.thread,
                     name.caller.offset, name.size, name.ordinal, 0});
  }
  wants.watched = items.size();
  std::ranges::sort(items, in_order);
  PlumbWantHeader header = header_for(false);
  std::string strings;
  std::vector<PlumbWantModule> modules;
  for (const Module& module : trace.modules) {
    modules.push_back({static_cast<std::uint32_t>(strings.size()),
                       static_cast<std::uint32_t>(module.path.size())});
    strings += module.path;
  }
  header.modules = static_cast<std::uint32_t>(modules.size());
  header.wants = static_cast<std::uint32_t>(items.size());
  header.scopes = scopes.size();
  header.strings = strings.size();
  append(wants.list, header);
  for (const PlumbWantModule& module : modules) append(wants.list, module);
  for (const PlumbWant& item : items) append(wants.list, item);
  for (const std::uint64_t word : scopes) append(wants.list, word);
  wants.list += strings;
  return wants;
}

std::string want_all() {
  std::string list;
  append(list, header_for(true));
  return list;
}

}  // namespace plumb
