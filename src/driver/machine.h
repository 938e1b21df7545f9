// Facts about the machine that `plumb doctor` tells.
#pragma once

#include <string>
#include <vector>

namespace plumb {

// The build-id of the C library of this process, in hexadecimal, or empty.
std::string libc_build_id();

// Runs a program and takes the version out of what it prints; empty when
// there is no such program or no version in its output.
std::string version_of_program(const std::vector<std::string>& command);

// "Z3 version 4.8.12 - 64 bit" -> "4.8.12"; empty when there is none.
std::string version_in(std::string_view text);

}  // namespace plumb
