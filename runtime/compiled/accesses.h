// last_use=: whether the accesses that a program was compiled to note are wanted.
//
// Code that notes an access compares its address with a number of an arena that its
// module has in a word of its own. The word says which arena, or none: what is not
// wanted costs the comparison alone.
#pragma once

namespace plumb::rt {

// Was anything of the program compiled to note accesses?
bool accesses_are_built();

}  // namespace plumb::rt
