// What a runtime wants to hand from a thread to those that it starts; both may be
// null.
#pragma once

#include <stdint.h>

namespace plumb::rt {

struct ThreadHooks {
  uint64_t (*creating)();         // in the thread that starts another
  void (*started)(uint64_t was);  // in the new one, with what `creating` said
};
extern ThreadHooks thread_hooks;

}  // namespace plumb::rt
