// The sentences of a finding: how many, what happened, how sure.
#pragma once

#include <string>

#include "core/report.h"

namespace plumb {

// "4,096 bytes in 1 block"; "2 sockets"; empty when nothing was counted.
std::string quantity_of(const Leak& leak);

// "lost here (overwritten)", for the mark in an excerpt.
std::string loss_mark(const Loss& loss);

// The sentence after `leak[kind]: `. `place` is what the finding starts with.
enum class Place { loss, path_end, allocation, unknown };
std::string sentence_of(const Leak& leak, Engine engine, Place place);

// " (on an error path, confidence 70%)", or empty.
std::string qualifiers_of(const Leak& leak);

// "idle for 12,000 heap accesses, ..."; empty when nothing is known.
std::string age_line(const Age& age);

// "suppressed by leaks.toml:3: reason" or "known: in the baseline".
std::string hidden_reason(const Leak& leak);

}  // namespace plumb
