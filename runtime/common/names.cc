#include "common/names.h"

#include "common/memory.h"
#include "common/modules.h"
#include "common/stack_depot.h"
#include "common/threads.h"
#include "common/watcher.h"
#include "trace/record.h"

namespace plumb::rt {

namespace {

constexpr uint32_t kFirstCapacity = 4 * kPage / sizeof(Name);
constexpr uint32_t kMostNames = 1u << 16;    // with sizes
constexpr uint32_t kMostCallers = 3u << 15;  // in all

uint32_t round_to_power(uint32_t value) {
  uint32_t power = 64;
  while (power * 2 <= value) power *= 2;
  return power;
}

bool grow(NameTable& table) {
  NameTable larger = table;
  larger.capacity = table.capacity == 0 ? round_to_power(kFirstCapacity) : table.capacity * 2;
  larger.entries = static_cast<Name*>(own_pages(larger.capacity * sizeof(Name)));
  if (larger.entries == nullptr) return false;
  for (uint32_t i = 0; i < table.capacity; ++i) {
    const Name& name = table.entries[i];
    if (name.caller == 0) continue;
    uint32_t at = name_place(larger, name.caller, name.size);
    while (larger.entries[at].caller != 0) at = (at + 1) & (larger.capacity - 1);
    larger.entries[at] = name;
  }
  if (table.entries != nullptr) {
    release_own_pages(table.entries, table.capacity * sizeof(Name));
  }
  table = larger;
  return true;
}

// Null when there is no room for a new one.
__attribute__((noinline)) Name* find_or_add(Inside& in, ThreadSlot& slot, uintptr_t caller,
                                            uint64_t size, uint32_t most) {
  NameTable& table = slot.names;
  if (Name* name = find_name(table, caller, size); name != nullptr) return name;
  if (table.used >= most) return nullptr;
  if (table.used * 2 >= table.capacity && !grow(table)) return nullptr;
  uint32_t at = name_place(table, caller, size);
  while (table.entries[at].caller != 0) at = (at + 1) & (table.capacity - 1);
  Name& name = table.entries[at];
  ++table.used;
  name = {caller, size, 0, 0, 0, 0, 0, 0};
  if (watching()) find_wants(in, slot.thread, name);
  return &name;
}

}  // namespace

void NameTable::clear() {
  if (entries != nullptr) release_own_pages(entries, capacity * sizeof(Name));
  *this = {};
}

Named take_name(Inside& in, uintptr_t caller, uint64_t size) {
  SlotUse slot(in);
  Named named;
  Name* name = find_name(slot->names, caller, size);
  if (__builtin_expect(name == nullptr, 0)) {
    name = find_or_add(in, *slot, caller, size, kMostNames);
  }
  if (__builtin_expect(name == nullptr, 0)) {
    named.by_caller = true;
    name = find_or_add(in, *slot, caller, PLUMB_WANT_ANY_SIZE, kMostCallers);
    if (name == nullptr) return named;
  }
  const uint32_t epoch = module_epoch();
  if (__builtin_expect(name->epoch != epoch, 0)) {
    name->stack = stack_id(in, &caller, 1);
    name->epoch = module_epoch();
  }
  named.stack = name->stack;
  uint32_t& ordinal = name->site == 0 ? name->ordinal : site_at(name->site).ordinal;
  named.ordinal = ++ordinal;
  if (__builtin_expect(named.ordinal == name->next_wanted, 0)) {
    named.wanted = true;
    named.kept = name->next_kept != 0;
    find_wants(in, slot->thread, *name);
  }
  return named;
}

}  // namespace plumb::rt
