#include "common/environment.h"

#include <string.h>

#include "common/text.h"
#include "trace/record.h"

namespace plumb::rt {

namespace {

// The command puts our library last in LD_PRELOAD; the program sees what the
// user had set.
bool remove_own_preload(char* value) {
  char* last = strrchr(value, ':');
  if (last == nullptr) return true;  // only ours: the variable goes
  *last = 0;
  return false;
}

}  // namespace

const char* clean_environment(char** environment) {
  const char* settings = nullptr;
  for (char** at = environment; *at != nullptr; ++at) {
    if (const char* found = after(*at, PLUMB_RUNTIME_VARIABLE "="); found != nullptr) {
      settings = found;
    }
  }
  if (settings == nullptr) return nullptr;  // preloaded by somebody else
  char** to = environment;
  for (char** at = environment; *at != nullptr; ++at) {
    const bool ours = after(*at, PLUMB_RUNTIME_VARIABLE "=") != nullptr;
    const bool preload =
        after(*at, "LD_PRELOAD=") != nullptr && remove_own_preload(*at + strlen("LD_PRELOAD="));
    if (!ours && !preload) *to++ = *at;
  }
  *to = nullptr;
  return settings;
}

}  // namespace plumb::rt
