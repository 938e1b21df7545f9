#include "common/environment.h"

#include <string.h>

#include "common/text.h"
#include "trace/record.h"

namespace plumb::rt {

namespace {

// The command puts our library last in LD_PRELOAD, and Valgrind its own first;
// the program sees what the user had set.
bool remove_own_preload(char*& entry) {
  constexpr size_t kPrefix = sizeof "LD_PRELOAD=" - 1;
  char* value = entry + kPrefix;
  char* last = strrchr(value, ':');
  if (last == nullptr) return true;  // only ours: the variable goes
  *last = 0;
  // The one that skips frees comes right before ours.
  char* before = strrchr(value, ':');
  char* second = before == nullptr ? value : before + 1;
  if (strstr(second, "/libplumb_drop.so") != nullptr) {
    if (before == nullptr) return true;
    *before = 0;
  }
  char* first_end = strchr(value, ':');
  if (first_end != nullptr) *first_end = 0;
  const bool valgrinds = strstr(value, "/vgpreload_core-") != nullptr;
  if (first_end != nullptr) *first_end = ':';
  if (!valgrinds) return false;
  if (first_end == nullptr) return true;
  entry = first_end + 1 - kPrefix;
  __builtin_memmove(entry, "LD_PRELOAD=", kPrefix);
  return false;
}

}  // namespace

const char* own_settings(char** environment) {
  const char* settings = nullptr;
  for (char** at = environment; *at != nullptr; ++at) {
    if (const char* found = after(*at, PLUMB_RUNTIME_VARIABLE "="); found != nullptr) {
      settings = found;
    }
  }
  return settings;
}

void clean_environment(char** environment, bool (*also)(const char* entry)) {
  char** to = environment;
  for (char** at = environment; *at != nullptr; ++at) {
    const bool ours =
        after(*at, PLUMB_RUNTIME_VARIABLE "=") != nullptr || (also != nullptr && also(*at));
    const bool preload = after(*at, "LD_PRELOAD=") != nullptr && remove_own_preload(*at);
    if (!ours && !preload) *to++ = *at;
  }
  *to = nullptr;
}

}  // namespace plumb::rt
