// Virtual calls of which the classes of the program say where they lead.
//
// A class hierarchy is known by the tables of functions that its objects point to. Where
// all that are derived from the class of a call have the same function there, the call is
// one of that function: an interface with one implementation, a destructor that nobody
// overrides. Others are told apart where they are met, by the table that the object has
// (virtual_call.cc of the summaries).
//
// Limits: a class whose own table is in another library may have relatives that are not
// seen; its calls stay what they are. So does one of a function that does nothing and that
// nobody overrides: it is there to be overridden.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "check/model/program.h"

namespace plumb::check {

// By its symbol.
bool is_destructor(std::string_view symbol);

void resolve_virtual_calls(Program& program);

// Where the call may lead, each function once: nothing when the program cannot tell, or has
// nothing there but functions that are there to be overridden.
std::vector<ProgramSymbolId> virtual_targets(const Program& program, ProgramSymbolId type,
                                             std::int64_t place);

}  // namespace plumb::check
