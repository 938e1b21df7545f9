#include "run/trace_notes.h"

#include <array>
#include <csignal>
#include <cstring>
#include <string_view>

#include <fmt/format.h>

#include "base/text.h"

namespace plumb {

namespace {

constexpr std::string_view kUnknownReach =
    "what was not freed is listed as forgotten: whether it was still reachable is not known";

Note end_note(const Trace& trace) {
  if (trace.phase == PLUMB_PHASE_SCANNING) {
    return {
        "no-scan", fmt::format("the program was ended during the scan; {}", kUnknownReach), "", {}};
  }
  return {"no-scan",
          fmt::format("the program ended without a scan (killed, out of stack, or by a system call "
                      "of its own); {}",
                      kUnknownReach),
          "",
          {}};
}

std::string_view problem_words(PlumbProblem problem) {
  switch (problem) {
    case PLUMB_PROBLEM_NONE:
      return "";
    case PLUMB_PROBLEM_OTHER_MALLOC:
      return "the program brings its own malloc";
    case PLUMB_PROBLEM_OUT_OF_MEMORY:
      return "there was no memory for plumb's tables";
    case PLUMB_PROBLEM_TABLE_FULL:
      return "there were more live blocks than plumb's table has room for";
    case PLUMB_PROBLEM_SCAN_FAULT:
      return "the scan failed inside plumb's own code";
    case PLUMB_PROBLEM_NO_MAPS:
      return "the program's memory map could not be read";
    case PLUMB_PROBLEM_NO_TOOL:
      return "it did not run under plumb's Valgrind tool";
    case PLUMB_PROBLEM_SANDBOX:
      return "the program forbade itself system calls that the scan needs (seccomp)";
  }
  return "";
}

std::string_view remedy_for(PlumbProblem problem) {
  switch (problem) {
    case PLUMB_PROBLEM_OUT_OF_MEMORY:
      return "raise the limits on address space and file size (ulimit -v, ulimit -f)";
    case PLUMB_PROBLEM_SCAN_FAULT:
      return "please report it, with the trace (--keep-trace)";
    case PLUMB_PROBLEM_NO_MAPS:
      return "the program needs to see /proc until its end";
    case PLUMB_PROBLEM_SANDBOX:
      return "run it without its sandbox, if it has an option for that";
    default:
      return "";
  }
}

struct LimitWords {
  std::uint32_t bit;
  const char* code;
  const char* text;
};
constexpr std::array<LimitWords, 9> kLimits = {{
    {PLUMB_LIMIT_STACKS_FULL, "stacks-full",
     "there were more allocation stacks than there is room for: later ones are unknown"},
    {PLUMB_LIMIT_MODULES_FULL, "modules-full",
     "there were more modules than there is room for: later ones are unknown"},
    {PLUMB_LIMIT_NESTED, "nested-allocation",
     "a signal handler used malloc while malloc was at work: those blocks were not tracked"},
    {PLUMB_LIMIT_THREAD_CAP, "running-thread",
     "a thread did not stop for the scan: its stack was taken whole, its registers are unknown"},
    {PLUMB_LIMIT_MAIN_ARENA, "unknown-libc",
     "this libc's own bookkeeping was not recognised: a few leaks may look reachable"},
    {PLUMB_LIMIT_CUSTOM_FULL, "custom-blocks-full",
     "there was no room for some of the blocks that PLUMB_ALLOC announced"},
    {PLUMB_LIMIT_NOT_DIVERTED, "not-diverted",
     "a function of --alloc-fn or --free-fn was not found, or begins with code that cannot be "
     "moved: its calls were not seen (nor those of --alloc-fn, if it was one of --free-fn)"},
    {PLUMB_LIMIT_SHORT_STACKS, "short-stacks",
     "stacks differed too often to be walked whole: some have their innermost frames only"},
    {PLUMB_LIMIT_SITES, "sites",
     "only what was allocated at the sites of the report that sites= names was tracked"},
}};

}  // namespace

std::vector<Note> notes_of(const Trace& trace) {
  std::vector<Note> notes;
  switch (trace.phase) {
    case PLUMB_PHASE_NONE:
    case PLUMB_PHASE_REFUSED:
      break;
    case PLUMB_PHASE_RUNNING:
    case PLUMB_PHASE_SCANNING:
      notes.push_back(end_note(trace));
      break;
    case PLUMB_PHASE_GAVE_UP:
      notes.push_back({"gave-up",
                       fmt::format("tracking stopped before the program's end: {}; what it leaked "
                                   "is not known",
                                   problem_words(trace.problem)),
                       std::string(remedy_for(trace.problem)),
                       {}});
      break;
    case PLUMB_PHASE_DONE:
      if (trace.problem != PLUMB_PROBLEM_NONE) {
        notes.push_back(
            {"no-scan",
             fmt::format("no scan: {}; {}", problem_words(trace.problem), kUnknownReach),
             std::string(remedy_for(trace.problem)),
             {}});
      }
      break;
  }
  if (trace.end == PLUMB_END_EXEC) {
    notes.push_back({"exec",
                     fmt::format("the program replaced itself with {}: this report is about what "
                                 "came before",
                                 trace.end_program),
                     "run that program directly under plumb",
                     {}});
  }
  if (trace.threads_unanswered != 0) {
    notes.push_back({"threads-asleep",
                     fmt::format("{} slept with all signals blocked: its registers are unknown",
                                 count_of(trace.threads_unanswered, "thread")),
                     "",
                     {}});
  }
  for (const LimitWords& limit : kLimits) {
    if ((trace.limits & limit.bit) != 0) notes.push_back({limit.code, limit.text, "", {}});
  }
  if (trace.adjusted && trace.phase == PLUMB_PHASE_DONE &&
      (trace.limits & PLUMB_LIMIT_NESTED) == 0) {
    notes.push_back({"counters",
                     "the counters of allocations do not fit the blocks found; the "
                     "total is taken from the blocks",
                     "please report it, with the trace (--keep-trace)",
                     {}});
  }
  return notes;
}

}  // namespace plumb
