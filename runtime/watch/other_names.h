// Programs that are linked with jemalloc may free and resize blocks of malloc by
// functions that only jemalloc has (dallocx and friends). One that got a sampled
// block would look for it in its own memory. Which modules call them is in their
// relocations; so that nothing is searched for in a program without jemalloc, the
// functions themselves are asked for first.
//
// Limits: modules that are loaded later, or find the functions by dlsym.
#pragma once

namespace plumb::rt {

struct OtherCall {
  const char* module;  // "" is the program
  const char* function;
};

// The first such call of a module that is loaded; false when there is none.
bool find_other_call(OtherCall& found);

}  // namespace plumb::rt
