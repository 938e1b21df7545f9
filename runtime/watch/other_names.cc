#include "watch/other_names.h"

#include <dlfcn.h>
#include <link.h>

#include "common/relocations.h"

namespace plumb::rt {

namespace {

constexpr const char* kNames[] = {"dallocx", "sdallocx", "rallocx", "xallocx", "sallocx"};

const char* known_name(const char* name) {
  for (const char* known : kNames) {
    if (__builtin_strcmp(name, known) == 0) return known;
  }
  return nullptr;
}

// jemalloc's own are defined where they are.
const char* called_by(const link_map& module) {
  const char* known = nullptr;
  Relocations(module).for_each([&](const char* name, void**) {
    known = known_name(name);
    return known == nullptr;
  });
  return known;
}

}  // namespace

bool find_other_call(OtherCall& found) {
  bool any = false;
  for (const char* name : kNames) any = any || dlsym(RTLD_DEFAULT, name) != nullptr;
  dl_find_object here{};
  if (!any || _dl_find_object(reinterpret_cast<void*>(&find_other_call), &here) != 0) return false;
  const link_map* module = here.dlfo_link_map;
  while (module->l_prev != nullptr) module = module->l_prev;
  for (; module != nullptr; module = module->l_next) {
    if (const char* function = called_by(*module); function != nullptr) {
      found = {module->l_name, function};
      return true;
    }
  }
  return false;
}

}  // namespace plumb::rt
