// What the command put into the program's environment for us, taken out again
// before anybody can see it. Works on the strings in place: nobody has copied
// them yet.
#pragma once

namespace plumb::rt {

// Our settings, or null when this library was not preloaded by the command.
const char* own_settings(char** environment);

// Takes out our variable, our library in LD_PRELOAD, and what `also` says is
// ours as well (null: nothing).
void clean_environment(char** environment, bool (*also)(const char* entry) = nullptr);

}  // namespace plumb::rt
