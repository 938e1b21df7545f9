// What to do about a leak, in a sentence: which call, on what, before what.
//
// It follows from how the last reference went and from how the block was made;
// where siblings of the block are freed, their function is named instead of the
// allocator's own. It is a suggestion: whether somebody else still needs the
// block on another path, only its author knows.
#pragma once

#include <optional>

#include "core/report.h"

namespace plumb {

// Nothing for a leak of which no loss is known.
std::optional<Fix> suggested_fix(const Leak& leak, const Report& report);

// Gives one to each leak that has none.
void suggest_fixes(Report& report);

}  // namespace plumb
