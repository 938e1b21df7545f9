// Adds our questions to the program's code.
#pragma once

#include "valgrind/vg.h"

namespace plumb::vg {

// Accesses to watched blocks are noted, too.
extern bool note_uses;

IRSB* instrument(VgCallbackClosure* closure, IRSB* in, const VexGuestLayout* layout,
                 const VexGuestExtents* extents, const VexArchInfo* archinfo, IRType guest_word,
                 IRType host_word);

}  // namespace plumb::vg
