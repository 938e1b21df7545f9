#include "common/sites.h"

#include "common/memory.h"
#include "common/threads.h"
#include "common/trace_file.h"

namespace plumb::rt {

PlumbBlockSite* the_sites = nullptr;

namespace {

constexpr uint64_t kMostSites = uint64_t{1} << kSiteBits;
constexpr uint64_t kMostSized = uint64_t{1} << 21;  // of all threads

uint32_t place_for(const SiteTable& table, const SiteKey& key) {
  const uint64_t hash =
      (key.stack ^ (key.size << 28) ^ (uint64_t{key.api} << 60)) * 0x9e3779b97f4a7c15u;
  return static_cast<uint32_t>(hash >> 32) & (table.capacity - 1);
}

SiteKey key_of(const PlumbBlockSite& site) {
  const bool any = (site.flags & PLUMB_SITE_ANY_SIZE) != 0;
  return {any ? PLUMB_WANT_ANY_SIZE : site.size, site.stack, static_cast<PlumbApi>(site.api),
          (site.flags & PLUMB_SITE_BY_CALLER) != 0};
}

bool same(const SiteKey& left, const SiteKey& right) {
  return left.size == right.size && left.stack == right.stack && left.api == right.api &&
         left.by_caller == right.by_caller;
}

bool grow(SiteTable& table) {
  SiteTable larger = table;
  larger.capacity = table.capacity == 0 ? kPage / sizeof(uint32_t) : table.capacity * 2;
  larger.numbers = static_cast<uint32_t*>(own_pages(larger.capacity * sizeof(uint32_t)));
  if (larger.numbers == nullptr) return false;
  for (uint32_t i = 0; i < table.capacity; ++i) {
    const uint32_t number = table.numbers[i];
    if (number == 0) continue;
    uint32_t at = place_for(larger, key_of(site_at(number)));
    while (larger.numbers[at] != 0) at = (at + 1) & (larger.capacity - 1);
    larger.numbers[at] = number;
  }
  if (table.numbers != nullptr) {
    release_own_pages(table.numbers, table.capacity * sizeof(uint32_t));
  }
  table = larger;
  return true;
}

uint32_t find(const SiteTable& table, const SiteKey& key, uint32_t& at) {
  for (at = place_for(table, key);; at = (at + 1) & (table.capacity - 1)) {
    const uint32_t number = table.numbers[at];
    if (number == 0 || same(key_of(site_at(number)), key)) return number;
  }
}

uint32_t make(const ThreadSlot& slot, const SiteKey& key) {
  const uint64_t number = trace().take(PLUMB_SECTION_SITES, 1);
  if (number == 0 || number >= kMostSites) return 0;
  PlumbBlockSite& site = site_at(static_cast<uint32_t>(number));
  const bool any = key.size == PLUMB_WANT_ANY_SIZE;
  site.size = any ? 0 : key.size;
  site.stack = key.stack;
  site.thread = slot.thread;
  site.owner = any ? 0 : slot.owner;  // 0: every free is counted with its bytes
  site.api = static_cast<uint8_t>(key.api);
  site.flags = static_cast<uint8_t>((any ? PLUMB_SITE_ANY_SIZE : 0) |
                                    (key.by_caller ? PLUMB_SITE_BY_CALLER : 0));
  __atomic_store_n(&site.state, 1, __ATOMIC_RELEASE);
  return static_cast<uint32_t>(number);
}

}  // namespace

bool open_sites() {
  the_sites = trace().items<PlumbBlockSite>(PLUMB_SECTION_SITES);
  return true;
}

uint32_t site_end() {
  const PlumbSection& section = trace().header().sections[PLUMB_SECTION_SITES];
  const uint64_t end = section.used < section.capacity ? section.used : section.capacity;
  return static_cast<uint32_t>(end < kMostSites ? end : kMostSites);
}

uint32_t site_for(Inside&, ThreadSlot& slot, const SiteKey& wanted) {
  SiteTable& table = slot.sites;
  SiteKey key = wanted;
  uint32_t at = 0;
  if (table.capacity != 0) {
    if (const uint32_t number = find(table, key, at); number != 0) return number;
  }
  const uint64_t most = trace().header().sections[PLUMB_SECTION_SITES].capacity / 2;
  if (site_end() > (most < kMostSized ? most : kMostSized)) key.size = PLUMB_WANT_ANY_SIZE;
  if (table.used * 2 >= table.capacity && !grow(table)) return 0;
  if (const uint32_t number = find(table, key, at); number != 0) return number;
  const uint32_t number = make(slot, key);
  if (number == 0) return 0;
  ++table.used;
  table.numbers[at] = number;
  return number;
}

void inherit_sites() {
  for (uint32_t i = 1; i < site_end(); ++i) {
    PlumbBlockSite& site = site_at(i);
    site.allocated -= site.freed + site.freed_elsewhere;
    site.freed = site.freed_elsewhere = 0;
    site.flags |= PLUMB_SITE_EXCLUDED;
  }
  forget_sites_of_threads();
}

}  // namespace plumb::rt
