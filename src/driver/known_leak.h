// A program whose leaks are known: what `plumb doctor` runs to see that
// `plumb run` works here from end to end. It is this command, started again
// with a hidden option. Sizes are odd ones, so that nothing else has them.
#pragma once

#include <cstddef>

namespace plumb {

inline constexpr std::size_t kLostBytes = 4801;       // nothing refers to it
inline constexpr std::size_t kHangingBytes = 1603;    // only the lost block does
inline constexpr std::size_t kForgottenBytes = 2203;  // a global does

// Makes the blocks and returns; the caller ends the process.
void make_known_leaks();

}  // namespace plumb
