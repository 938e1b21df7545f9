// What a call that was inlined could do to the variables of its caller, by the types
// of its parameters.
#pragma once

#include <elfutils/libdw.h>

#include <string>

namespace plumb {

// Of a member function that does not change its object, and so ends nothing that the
// object holds.
bool is_const_member(Dwarf_Die call);

// A parameter points or refers to something of this type. The function is asked: the
// call itself does not list those that the optimiser left out.
bool is_given(Dwarf_Die call, const std::string& type);

// Its result is a pointer, or it can put one where its caller wants it.
bool gives_pointer(Dwarf_Die call);

}  // namespace plumb
