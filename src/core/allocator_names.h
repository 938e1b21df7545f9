// The functions that hand out and take back memory, and those that run before
// and below the program's own code, by name.
//
// One table (allocator_names.cc) says it all; matching a name is a look-up
// after its decoration (interceptor prefixes, parameters, template arguments)
// is removed.
//
// Limit: wrappers of the program's own (xmalloc, a class's operator new) are
// its code, not the allocator's.
#pragma once

#include <string_view>
#include <vector>

#include "core/frame.h"

namespace plumb {

enum class AllocatorRole {
  allocate,  // malloc, operator new: what Valgrind and the sanitizers replace
  derived,   // strdup, asprintf: calls malloc and hands the result on
  plumbing,  // std::allocator<T>::allocate: between a container and operator new
  release,   // free, operator delete
};

// A function of the allocator, in either form of its name.
bool is_allocator_function(std::string_view function);
bool is_allocator_frame(const Frame& frame);

// _start, __libc_start_main, start_thread, clone, ...
bool is_start_up_function(std::string_view function);

// What a stack may call the function that Allocation::api names: "operator
// new" -> "operator new", "operator new(unsigned long)", "_Znwm", ... Always
// contains `api` itself.
std::vector<std::string_view> names_of_api(std::string_view api);

// What Allocation::api calls the function: "_Znwm" -> "operator new". The name itself when
// it is none of the allocator's.
std::string_view api_name(std::string_view function);

// The api gets its memory from malloc ("strdup").
bool is_derived_api(std::string_view api);

}  // namespace plumb
