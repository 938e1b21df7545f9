#include <dlfcn.h>

#include "preload/export.h"

namespace plumb::rt {

namespace {

Real functions;
int ready = 0;

template <typename Function>
void look_up(Function& function, const char* name) {
  function = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

// Two threads may do this at once: they write the same values.
const Real& real() {
  if (__atomic_load_n(&ready, __ATOMIC_ACQUIRE) == 0) {
    look_up(functions.pthread_create, "pthread_create");
    look_up(functions.exit, "exit");
    look_up(functions.quick_exit, "quick_exit");
    look_up(functions.abort, "abort");
    look_up(functions.dlclose, "dlclose");
    look_up(functions.malloc_trim, "malloc_trim");
    look_up(functions.execve, "execve");
    look_up(functions.execvpe, "execvpe");
    look_up(functions.fexecve, "fexecve");
    look_up(functions.execveat, "execveat");
    look_up(functions.signal, "signal");
    look_up(functions.start_main, "__libc_start_main");
    __atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
  }
  return functions;
}

}  // namespace plumb::rt
