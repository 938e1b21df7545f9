// How the text report names places: files relative to where the reader is,
// functions short enough to read, frames without source by module and offset.
//
// Everything returned is printable (text_cells.h).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/source.h"
#include "core/report.h"

namespace plumb {

// "void ns::Map<std::string, int>::put(int) const" -> "ns::Map<…>::put": no
// result type, no parameters, no template arguments where the name is long.
std::string short_function(std::string_view function);

class Places {
 public:
  // `here` is the directory that shown paths are relative to; also the
  // subject's own directory is cut off. Whole names and paths when `verbose`.
  Places(const Report& report, SourceCache& sources, std::string here, bool verbose);

  // A path as it is shown.
  std::string file(const std::string& file) const;
  // "server.c:88", "libz.so.1+0x2f10", "?"; never cut: editors read it.
  std::string line(const Frame& frame) const;
  // "server.c:88:13"
  std::string column(const Frame& frame) const;
  // "grow", "libz.so.1+0x2f10", "?"
  std::string function(const Frame& frame) const;
  // "libz.so.1+0x2f10", or empty when neither is known.
  std::string address(const Frame& frame) const;

  // The path at which the source can be read now; empty when it cannot.
  std::string readable(const std::string& file) const;

 private:
  std::string below_subject(const std::string& file) const;

  const Report& report_;
  SourceCache& sources_;
  std::string here_;
  bool verbose_;
};

}  // namespace plumb
