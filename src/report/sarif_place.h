// Frames and files as SARIF locations.
//
// A frame with a source line is a physical location in that file; one without
// is an address in its module. The function is the logical location of both.
// Names go through printable(), so that none can move a reader's cursor; for
// messages see sarif_words.h.
//
// Columns are Unicode code points, as the run says (`columnKind`). Compilers
// count bytes, so a column is converted by the source line; where that cannot
// be read, it is right for lines that are ASCII up to there.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/source.h"
#include "core/report.h"
#include "report/sarif_uri.h"

namespace plumb {

using SarifJson = nlohmann::ordered_json;

inline constexpr const char* kSarifSourceRoot = "SRCROOT";  // uriBaseId

// {"text": ...}
SarifJson sarif_message(std::string_view text);

class SarifPlaces {
 public:
  SarifPlaces(const Report& report, std::string_view source_root);

  SarifJson artifact(std::string_view path) const;
  // A directory, or null when the path is not absolute.
  SarifJson directory(std::string_view path) const;

  // `message` is left out when empty.
  SarifJson location(const Frame& frame, std::string_view message = {});
  SarifJson stack(const Stack& stack, std::string_view message);

  // Whether location() of the frame names a file; GitHub refuses those that
  // do not, except in stacks.
  bool has_file(const Frame& frame) const;
  // Whether the frame's source line is in the source tree, if one was given.
  bool in_source_tree(const Frame& frame) const;

  // The path of the frame's module; empty when unknown.
  std::string_view module_path(const Frame& frame) const;

  const UriMaker& uris() const { return uris_; }

 private:
  SarifJson physical(const Frame& frame);

  const Report& report_;
  UriMaker uris_;
  SourceCache sources_;
};

}  // namespace plumb
