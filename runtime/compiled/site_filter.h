// sites=REPORT: only what is allocated at the sites of a saved report is tracked.
//
// Which stacks are meant is a question of names, which a program does not know of
// itself. A command beside it (`plumb report --site-questions`) reads the report and
// answers, once for each stack that is new. Everything else comes from glibc's own
// allocator and costs nothing at a drop.
// When the command cannot be asked any more (the program closed its files, it is the
// child of a fork), what is new is tracked.
#pragma once

#include <stdint.h>

#include "common/inside.h"

namespace plumb::rt {

extern bool sites_are_chosen;

// Starts the command. False: it could not read the report, and has said so.
bool choose_sites(const char* command, const char* report, char** environment);
// In the child of a fork: the command is the parent's.
void forget_site_command();

bool ask_about_site(Inside& in, uint32_t stack);
inline bool is_chosen_site(Inside& in, uint32_t stack) {
  return __builtin_expect(!sites_are_chosen, 1) || ask_about_site(in, stack);
}

}  // namespace plumb::rt
