// A unit as a file: what the lowering plugin writes and the analysis reads, and
// what the cache keeps.
//
// The bytes are a pure function of the unit. A checksum stands in front: a file
// that was cut or damaged is an Error, never a wrong unit. Integers are as in
// memory (x86-64); another version of the format is refused.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "check/model/unit.h"

namespace plumb::check {

inline constexpr std::string_view kUnitEnding = ".unit";

std::string unit_bytes(const Unit& unit);
Result<void> write_unit(const Unit& unit, const std::string& path);

// `name` is for messages.
Result<Unit> parse_unit(std::string_view bytes, const std::string& name);
Result<Unit> read_unit(const std::string& path);

}  // namespace plumb::check
