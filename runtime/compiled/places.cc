#include "compiled/places.h"

#include <dlfcn.h>
#include <link.h>

#include "common/spin_lock.h"
#include "compiled/layout.h"
#include "preload/export.h"

namespace plumb::rt {

namespace {

struct Table {
  const char* begin;
  const char* end;
  uint32_t first;  // number of `begin`
  const link_map* module;
};
constexpr unsigned kMaxTables = 4096;
Table tables[kMaxTables];
unsigned table_count = 0;
uint32_t next_number = sizeof(PlumbSite);  // 0 is "none"
SpinLock tables_lock;

const link_map* module_at(const void* address) {
  dl_find_object object{};
  return _dl_find_object(const_cast<void*>(address), &object) == 0 ? object.dlfo_link_map : nullptr;
}

}  // namespace

uint32_t place_number(const PlumbSite* site) {
  const char* at = reinterpret_cast<const char*>(site);
  for (unsigned i = 0; i < __atomic_load_n(&table_count, __ATOMIC_ACQUIRE); ++i) {
    if (at >= tables[i].begin && at < tables[i].end) {
      return tables[i].first + static_cast<uint32_t>(at - tables[i].begin);
    }
  }
  return 0;
}

const PlumbDetail* place_detail(uint32_t number) {
  for (unsigned i = 0; i < table_count; ++i) {
    const Table& table = tables[i];
    if (number < table.first ||
        number - table.first >= static_cast<uint32_t>(table.end - table.begin)) {
      continue;
    }
    // Unloaded meanwhile: what lies there is something else.
    if (module_at(table.begin) != table.module) return nullptr;
    const auto* site = reinterpret_cast<const PlumbSite*>(table.begin + (number - table.first));
    return follow<PlumbDetail>(site->detail);
  }
  return nullptr;
}

}  // namespace plumb::rt

using namespace plumb::rt;

// Called by each module before its other constructors. `bias` is what the
// module subtracts from a place's address to get its number.
PLUMB_EXPORT void __plumb_register_3(const PlumbSite* begin, const PlumbSite* end, uint64_t* bias) {
  const uint64_t bytes = static_cast<uint64_t>(reinterpret_cast<const char*>(end) -
                                               reinterpret_cast<const char*>(begin));
  Inside in;
  tables_lock.lock();
  if (table_count < kMaxTables && bytes != 0 && next_number + bytes < kFirstNote) {
    tables[table_count] = {reinterpret_cast<const char*>(begin), reinterpret_cast<const char*>(end),
                           next_number, module_at(begin)};
    *bias = reinterpret_cast<uint64_t>(begin) - next_number;
    next_number += static_cast<uint32_t>(bytes);
    __atomic_store_n(&table_count, table_count + 1, __ATOMIC_RELEASE);
  }
  tables_lock.unlock();
}
