// Ids are types: a ModuleId cannot be passed where a FrameId is meant.
//
//   struct ModuleId : Id<ModuleId> {};
#pragma once

#include <compare>
#include <cstdint>

namespace plumb {

template <typename Tag>
struct Id {
  std::uint32_t index = 0;

  static constexpr Tag of(std::uint32_t index) {
    Tag id;
    id.index = index;
    return id;
  }
  friend constexpr auto operator<=>(const Id&, const Id&) = default;
};

}  // namespace plumb
