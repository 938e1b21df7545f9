// Which package gives the debug information of an installed file.
#pragma once

#include <string>

namespace plumb {

// "libc6-dbg", "libssl3-dbgsym"; empty when no package owns the file. Looks
// in dpkg's own list of files.
std::string debug_package_of(const std::string& path,
                             const std::string& dpkg_info = "/var/lib/dpkg/info");

}  // namespace plumb
