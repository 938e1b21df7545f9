// The order of a report. Kind always comes first (lost, stale, forgotten),
// then the key, then the fingerprint, so that equal input gives equal bytes.
// Bytes and blocks are those of the leak with all that hangs on it; the
// largest comes first. A leak without the figure (drag, growth) or without a
// file comes last, by bytes.
#pragma once

#include "base/names.h"
#include "core/report.h"

namespace plumb {

enum class SortKey { bytes, blocks, drag, growth, file };

template <>
inline constexpr auto kNames<SortKey> = name_table<SortKey>({{SortKey::bytes, "bytes"},
                                                             {SortKey::blocks, "blocks"},
                                                             {SortKey::drag, "drag"},
                                                             {SortKey::growth, "growth"},
                                                             {SortKey::file, "file"}});

void sort_leaks(Report& report, SortKey key = SortKey::bytes);

}  // namespace plumb
