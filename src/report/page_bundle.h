// The page's own code, as web/build.mjs bundled it: made into a source by
// cmake/EmbedBundle.cmake. Empty when the build had no bundle.
#pragma once

#include <span>
#include <string_view>

namespace plumb {

struct PageBundle {
  // Pieces, since a compiler need not take a string literal of this length.
  std::span<const std::string_view> script;
  std::span<const std::string_view> style;
  std::string_view script_hash;  // "sha256-...", for the Content-Security-Policy
  std::string_view style_hash;
};

const PageBundle& page_bundle();

}  // namespace plumb
