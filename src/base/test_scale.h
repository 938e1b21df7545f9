// For tests that show that something large is quick, or does no harm: how large. What
// the sanitizers insert makes the same work ten to fifty times slower, and they are not
// there to measure.
#pragma once

#include <cstdint>

namespace plumb::test {

#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr std::uint32_t kScale = 10;
#else
inline constexpr std::uint32_t kScale = 1;
#endif

}  // namespace plumb::test
