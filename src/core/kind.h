// The closed sets of words that every engine and every report uses.
#pragma once

#include "base/names.h"

namespace plumb {

enum class Engine { check, run, cc, watch };
// In the order of the report. The last two are no leaks: a block that is freed again, or in
// another way than it was made; the static engine finds them when asked to.
enum class Kind { lost, stale, forgotten, double_free, mismatched_free };

// Why no chain of references existed any more.
enum class Cause {
  overwritten,
  scope_end,
  holder_freed,
  holder_lost,
  unmapped,
  thread_end,
  discarded,
  escaped_throw,
};

// On which kind of path a static finding lies; each can be switched.
enum class When { ordinary, error_path, throwing, main_exit, oom, global };

// What the last use of a block was.
enum class UseKind { access, copy, call, arithmetic };

template <>
inline constexpr auto kNames<Engine> = name_table<Engine>(
    {{Engine::check, "check"}, {Engine::run, "run"}, {Engine::cc, "cc"}, {Engine::watch, "watch"}});
template <>
inline constexpr auto kNames<Kind> = name_table<Kind>({{Kind::lost, "lost"},
                                                       {Kind::stale, "stale"},
                                                       {Kind::forgotten, "forgotten"},
                                                       {Kind::double_free, "double-free"},
                                                       {Kind::mismatched_free, "mismatched-free"}});
template <>
inline constexpr auto kNames<Cause> = name_table<Cause>({{Cause::overwritten, "overwritten"},
                                                         {Cause::scope_end, "scope-end"},
                                                         {Cause::holder_freed, "holder-freed"},
                                                         {Cause::holder_lost, "holder-lost"},
                                                         {Cause::unmapped, "unmapped"},
                                                         {Cause::thread_end, "thread-end"},
                                                         {Cause::discarded, "discarded"},
                                                         {Cause::escaped_throw, "escaped-throw"}});
template <>
inline constexpr auto kNames<When> = name_table<When>({{When::ordinary, "ordinary"},
                                                       {When::error_path, "error-path"},
                                                       {When::throwing, "throw"},
                                                       {When::main_exit, "main-exit"},
                                                       {When::oom, "oom"},
                                                       {When::global, "global"}});
template <>
inline constexpr auto kNames<UseKind> = name_table<UseKind>({{UseKind::access, "access"},
                                                             {UseKind::copy, "copy"},
                                                             {UseKind::call, "call"},
                                                             {UseKind::arithmetic, "arithmetic"}});

}  // namespace plumb
