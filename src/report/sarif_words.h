// The sentences of a SARIF result, and how loud it is.
//
// Every name in them comes from outside. It is made printable, cut to a
// sensible length and put in quotes; "](" never appears, since SARIF reads it
// as a link, also in "operator[](unsigned long)".
#pragma once

#include <string>
#include <string_view>

#include "base/names.h"
#include "core/leak.h"

namespace plumb {

enum class SarifLevel { error, warning, note };  // most important first

template <>
inline constexpr auto kNames<SarifLevel> = name_table<SarifLevel>(
    {{SarifLevel::error, "error"}, {SarifLevel::warning, "warning"}, {SarifLevel::note, "note"}});

// A certain loss is an error. Doubt, and losses that cost little, lower it.
SarifLevel sarif_level(const Leak& leak);
SarifLevel sarif_level(Kind kind);  // without any doubt: the rule's default

// Somebody else's sentence, safe to be part of a message; ends with a full
// stop.
std::string sarif_sentence(std::string_view text);

// A name from outside, in single quotes.
std::string sarif_quoted(std::string_view name);

// What happened, where allocated, how much; plain text.
std::string sarif_summary(const Leak& leak, Engine engine);

}  // namespace plumb
