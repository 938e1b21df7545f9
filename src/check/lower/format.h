// Calls with a format, as `report("no such file: %s", name)`.
#pragma once

#include <cstdint>

namespace llvm {
class CallBase;
}

namespace plumb::check {

// The first argument that a format names, when what is passed from there on is only
// looked at; 0: no such call.
std::uint16_t formatted_from(const llvm::CallBase& call);

}  // namespace plumb::check
