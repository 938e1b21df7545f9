// What the program sees of this library, and what stands behind it.
#pragma once

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#define PLUMB_EXPORT extern "C" __attribute__((visibility("default")))

// glibc's allocator by the names that nobody interposes: no look-up, hence no
// allocation before we are ready.
extern "C" {
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* block, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
void* __libc_valloc(size_t size);
void* __libc_pvalloc(size_t size);
void __libc_free(void* block);
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
