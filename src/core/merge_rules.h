// How the members of two leaks that are one become the members of one.
#pragma once

#include <vector>

#include "core/leak.h"

namespace plumb {

// Leaks of one site in one process both list all freed siblings of the site;
// those of two processes list different ones.
enum class SiblingRule { same_process, several_processes };

// Adds `from` to `into`, which has the same key (merge.h). Lists are appended
// as they are, so that absorbing many leaks stays linear: call unite_lists
// after the last.
void absorb(Leak& into, Leak&& from);

// Makes one entry of those that say the same: freed siblings, holders,
// summaries, unknown members.
void unite_lists(Leak& leak, SiblingRule siblings);

// merge_leaks (merge.h) with the rule for freed siblings.
void merge_leaks(std::vector<Leak>& leaks, SiblingRule siblings);

// Keeps the first of those with the same name.
void unite_extra(Extra& members);

}  // namespace plumb
