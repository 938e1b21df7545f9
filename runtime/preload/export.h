// What the program sees of this library, and what stands behind it.
#pragma once

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "common/libc_malloc.h"

#define PLUMB_EXPORT extern "C" __attribute__((visibility("default")))

extern "C" {
void* __sbrk(intptr_t increment);
}

// The malloc of this library, whatever the name means elsewhere.
extern "C" __attribute__((visibility("hidden"))) void* plumb_rt_malloc(size_t size);

namespace plumb::rt {

// Functions that we stand in front of, looked up once.
struct Real {
  int (*pthread_create)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  void (*exit)(int);
  void (*quick_exit)(int);
  void (*abort)();
  int (*dlclose)(void*);
  int (*malloc_trim)(size_t);
  int (*execve)(const char*, char* const*, char* const*);
  int (*execvpe)(const char*, char* const*, char* const*);
  int (*fexecve)(int, char* const*, char* const*);
  int (*execveat)(int, const char*, char* const*, char* const*, int);
  void (*(*signal)(int, void (*)(int)))(int);
  int (*start_main)(int (*)(int, char**, char**), int, char**, void (*)(), void (*)(), void (*)(),
                    void*);
};
// Ready also before the constructor ran: looks up on first use.
const Real& real();

}  // namespace plumb::rt
