// What the command put into the program's environment for us, taken out again
// before anybody can see it.
#pragma once

namespace plumb::rt {

// Works on the strings in place: nobody has copied them yet. Returns our
// settings, or null when this library was not preloaded by the command.
const char* clean_environment(char** environment);

}  // namespace plumb::rt
