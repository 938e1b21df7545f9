#include "run/wants.h"

#include <algorithm>
#include <cstring>
#include <tuple>

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

}  // namespace

Wants wants_of(const Trace& trace, bool kept) {
  Wants wants;
  std::vector<const TraceLost*> blocks;
  for (const TraceLost& block : trace.lost) blocks.push_back(&block);
  if (kept) {
    for (const TraceLost& block : trace.kept) blocks.push_back(&block);
  }
  const std::size_t share = share_of(blocks, trace.groups.size());
  std::vector<std::size_t> used(trace.groups.size());
  std::vector<PlumbWant> items;
  for (const TraceLost* block : blocks) {
    const TraceName& name = block->name;
    if (name.ordinal == 0 || !name.caller.module || used[block->group] >= share) {
      ++wants.left_out;
      continue;
    }
    ++used[block->group];
    items.push_back({static_cast<std::uint32_t>(name.caller.module->index), name.thread,
                     name.caller.offset, name.size, name.ordinal});
  }
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
  header.strings = strings.size();
  append(wants.list, header);
  for (const PlumbWantModule& module : modules) append(wants.list, module);
  for (const PlumbWant& item : items) append(wants.list, item);
  wants.list += strings;
  wants.watched = items.size();
  return wants;
}

std::string want_all() {
  std::string list;
  append(list, header_for(true));
  return list;
}

}  // namespace plumb
