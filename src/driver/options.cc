#include "driver/options.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "core/kind.h"
#include "core/order.h"
#include "driver/shown_summary.h"
#include "report/format.h"

namespace plumb {

namespace {

template <typename Enum>
constexpr auto words_of() {
  std::array<std::string_view, kNames<Enum>.size()> words;
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = kNames<Enum>[i].second;
  return words;
}

constexpr auto kFormats = words_of<Format>();
constexpr auto kHtmlSources = words_of<HtmlSources>();
constexpr auto kSortKeys = words_of<SortKey>();
constexpr auto kSummaryForms = words_of<SummaryForm>();
constexpr auto kKinds = words_of<Kind>();
constexpr auto kWhens = words_of<When>();
constexpr std::array<std::string_view, 6> kAlso = {"file",    "directory",   "descriptor",
                                                   "mapping", "double-free", "mismatched-free"};
constexpr std::array<std::string_view, 2> kPlainFormats = {"text", "json"};
constexpr std::array<std::string_view, 3> kColors = {"auto", "always", "never"};
constexpr std::array<std::string_view, 2> kFollows = {"none", "children"};
constexpr std::array<std::string_view, 5> kOnLeaks = {"report", "report-now", "stop", "abort",
                                                      "gdb"};
constexpr std::array<std::string_view, 4> kDumps = {"man", "bash", "zsh", "fish"};

constexpr CommandSet kEvery = {Command::check, Command::run,     Command::watch, Command::report,
                               Command::diff,  Command::explain, Command::doctor};
constexpr CommandSet kListing = {Command::check, Command::run, Command::watch, Command::report,
                                 Command::diff};
constexpr CommandSet kReports = {Command::check, Command::run, Command::watch, Command::report};
// What is a leak is judged again when a snapshot is read.
constexpr CommandSet kJudging = {Command::watch, Command::report};

constexpr auto kOptions = std::to_array<OptionSpec>({
    {.opt = Opt::format,
     .name = "format",
     .letter = 'f',
     .type = ValueType::choice,
     .value_name = "FORMAT",
     .default_value = "text",
     .commands = kReports,
     .help = "text, json, sarif, html, junit, folded or pprof; by default as the name of the "
             "output file ends (.json, .sarif, .html, .xml, .folded, .pb.gz), else text",
     .choices = kFormats,
     .runtime_key = "format"},
    {.opt = Opt::plain_format,
     .name = "format",
     .letter = 'f',
     .type = ValueType::choice,
     .value_name = "FORMAT",
     .default_value = "text",
     .commands = {Command::diff, Command::doctor},
     .help = "text or json",
     .choices = kPlainFormats},
    {.opt = Opt::output,
     .name = "output",
     .letter = 'o',
     .type = ValueType::file,
     .value_name = "FILE",
     .commands = {Command::check, Command::run, Command::watch, Command::report, Command::diff,
                  Command::doctor},
     .help = "write to FILE, whole or not at all; for run and watch, %p is the process id",
     .runtime_key = "output"},
    {.opt = Opt::sort,
     .name = "sort",
     .type = ValueType::choice,
     .value_name = "KEY",
     .default_value = "bytes",
     .commands = kReports,
     .help = "order within a kind: bytes, blocks, drag, growth or file",
     .choices = kSortKeys,
     .runtime_key = "sort"},
    {.opt = Opt::limit,
     .name = "limit",
     .letter = 'n',
     .type = ValueType::number,
     .value_name = "N",
     .default_value = "20",
     .commands = kListing,
     .help = "show the first N leaks in full and count the rest; 0 shows all. Other formats than "
             "text are cut only when this stands on the command line",
     .runtime_key = "limit"},
    {.opt = Opt::min_size,
     .name = "min-size",
     .type = ValueType::size,
     .value_name = "BYTES",
     .default_value = "0",
     .commands = kListing,
     .help = "leave out leaks smaller than this (4k, 1M)",
     .runtime_key = "min-size"},
    {.opt = Opt::suppressions,
     .name = "suppressions",
     .letter = 's',
     .type = ValueType::file,
     .value_name = "FILE",
     .commands = kListing,
     .help = "hide what FILE lists: Plumb's own TOML, Valgrind or LeakSanitizer entries; may be "
             "repeated",
     .repeatable = true,
     .runtime_key = "suppressions"},
    {.opt = Opt::baseline,
     .name = "baseline",
     .letter = 'b',
     .type = ValueType::file,
     .value_name = "REPORT",
     .commands = kReports,
     .help = "hide what this JSON report already had",
     .runtime_key = "baseline"},
    {.opt = Opt::budget,
     .name = "budget",
     .type = ValueType::size,
     .value_name = "BYTES",
     .default_value = "0",
     .commands = kListing,
     .help = "so many bytes are no finding (for diff: of new and grown leaks)",
     .runtime_key = "budget"},
    {.opt = Opt::fail_on,
     .name = "fail-on",
     .type = ValueType::choices,
     .value_name = "KINDS",
     .default_value = "lost,stale,double-free,mismatched-free",
     .commands = kListing,
     .help =
         "the kinds that are findings for the exit status: lost, stale, forgotten, double-free, "
         "mismatched-free",
     .choices = kKinds,
     .runtime_key = "fail-on"},
    {.opt = Opt::show_hidden,
     .name = "show-hidden",
     .commands = kReports,
     .help = "show suppressed and known leaks, too"},
    {.opt = Opt::source_root,
     .name = "source-root",
     .type = ValueType::directory,
     .value_name = "DIR",
     .default_value = ".",
     .commands = kReports,
     .help = "paths below DIR become relative in SARIF"},
    {.opt = Opt::html_sources,
     .name = "html-sources",
     .type = ValueType::choice,
     .value_name = "WHICH",
     .default_value = "needed",
     .commands = kReports,
     .help = "source text in the page of --format=html: the lines needed, whole files or none",
     .choices = kHtmlSources},
    {.opt = Opt::project,
     .name = "project",
     .letter = 'p',
     .type = ValueType::directory,
     .value_name = "DIR",
     .commands = {Command::check},
     .help = "check the units of DIR/compile_commands.json"},
    {.opt = Opt::cflags,
     .name = "cflags",
     .type = ValueType::text,
     .value_name = "FLAGS",
     .commands = {Command::check},
     .help = "compiler flags for the FILEs named on the command line (\"-Iinclude -DX=1\")"},
    {.opt = Opt::jobs,
     .name = "jobs",
     .letter = 'j',
     .type = ValueType::number,
     .value_name = "N",
     .default_value = "0",
     .commands = {Command::check},
     .help = "work on N units at a time; 0 is one per processor. The result is the same",
     .most = 1024},
    {.opt = Opt::cache,
     .name = "cache",
     .type = ValueType::directory,
     .value_name = "DIR",
     .commands = {Command::check},
     .help = "keep compiled units in DIR instead of the user's cache folder (~/.cache/plumb)"},
    {.opt = Opt::no_cache,
     .name = "no-cache",
     .commands = {Command::check},
     .help = "compile every unit anew and keep none"},
    {.opt = Opt::oom,
     .name = "oom",
     .commands = {Command::check},
     .help = "follow failed allocations, too: leaks that happen only when memory runs out"},
    {.opt = Opt::globals,
     .name = "globals",
     .commands = {Command::check},
     .help = "report blocks, too, that are put in a global out of which nothing is freed"},
    {.opt = Opt::undecided,
     .name = "undecided",
     .commands = {Command::check},
     .help = "show findings, too, of which it is not known whether their path can be taken"},
    {.opt = Opt::certain,
     .name = "certain",
     .commands = {Command::check},
     .help = "show only findings whose path takes little for granted"},
    {.opt = Opt::also,
     .name = "also",
     .type = ValueType::choices,
     .value_name = "DEFECTS",
     .commands = {Command::check},
     .help = "look for these, too: resources that are not given back, and blocks that are freed "
             "twice or in another way than they were made",
     .choices = kAlso},
    {.opt = Opt::model,
     .name = "model",
     .type = ValueType::text,
     .value_name = "\"NAME EFFECT...\"",
     .commands = {Command::check},
     .help =
         "what a function does to memory, like \"pool_take alloc\", whatever its body says; may "
         "be repeated",
     .repeatable = true},
    {.opt = Opt::models,
     .name = "models",
     .type = ValueType::file,
     .value_name = "FILE",
     .commands = {Command::check},
     .help = "a file of such lines; may be repeated",
     .repeatable = true},
    {.opt = Opt::when,
     .name = "when",
     .type = ValueType::choices,
     .value_name = "KINDS",
     .default_value = "ordinary,error-path,throw,main-exit,oom,global",
     .commands = {Command::check},
     .help = "the ways to lose memory that are reported",
     .choices = kWhens},
    {.opt = Opt::show_summary,
     .name = "show-summary",
     .type = ValueType::text,
     .value_name = "FUNCTION",
     .commands = {Command::check},
     .help = "print what the analysis knows of this function, instead of the findings",
     .configurable = false},
    {.opt = Opt::summary_as,
     .name = "summary-as",
     .type = ValueType::choice,
     .value_name = "FORM",
     .default_value = "text",
     .commands = {Command::check},
     .help = "how --show-summary prints it: text, json or dot (a graph for Graphviz)",
     .choices = kSummaryForms,
     .configurable = false},
    {.opt = Opt::error_exitcode,
     .name = "error-exitcode",
     .type = ValueType::number,
     .value_name = "N",
     .commands = {Command::run, Command::watch},
     .help = "end with status N when there are findings",
     .least = 1,
     .most = 255,
     .runtime_key = "exitcode"},
    {.opt = Opt::stacks,
     .name = "stacks",
     .type = ValueType::number,
     .value_name = "DEPTH",
     .default_value = "30",
     .commands = {Command::run, Command::watch},
     .help = "frames kept per allocation; 1 is the caller only (run: without it, few are)",
     .least = 1,
     .most = 200},
    {.opt = Opt::no_forgotten,
     .name = "no-forgotten",
     .commands = {Command::run},
     .help = "do not list what is still reachable at the end"},
    {.opt = Opt::once,
     .name = "once",
     .commands = {Command::run},
     .help = "look for the places of loss in the first run: slower, but no second one"},
    {.opt = Opt::no_rerun,
     .name = "no-rerun",
     .commands = {Command::run},
     .help = "do not run the program a second time to find the places of loss"},
    {.opt = Opt::last_use,
     .name = "last-use",
     .commands = {Command::run},
     .help = "in the second run, also say where what is still reachable was used last, and what "
             "points to it"},
    {.opt = Opt::pointer_mask,
     .name = "pointer-mask",
     .type = ValueType::text,
     .value_name = "MASK",
     .commands = {Command::run},
     .help = "bits of a word that are an address, like 0xffffffffffff: words with tags in the "
             "other bits are references, too"},
    {.opt = Opt::report_every,
     .name = "report-every",
     .type = ValueType::duration,
     .value_name = "TIME",
     .commands = {Command::run},
     .help = "a report every so often while the program runs, and when SIGUSR1 is sent to plumb; "
             "0: only then"},
    {.opt = Opt::on_leak,
     .name = "on-leak",
     .type = ValueType::choice,
     .value_name = "ACTION",
     .default_value = "report",
     .commands = {Command::run},
     .help = "at the moment of a loss (second run, or --once): tell it, stop or abort the program "
             "there, or wait for gdb",
     .choices = kOnLeaks},
    {.opt = Opt::leak_threshold,
     .name = "leak-threshold",
     .type = ValueType::size,
     .value_name = "BYTES",
     .default_value = "1",
     .commands = {Command::run},
     .help = "--on-leak acts when that much is lost"},
    {.opt = Opt::sites,
     .name = "sites",
     .type = ValueType::file,
     .value_name = "REPORT",
     .commands = {Command::run},
     .help = "look only for the leaks of a saved report: plumb's JSON, LeakSanitizer's text, "
             "memcheck's text or XML",
     .configurable = false},
    {.opt = Opt::alloc_fn,
     .name = "alloc-fn",
     .type = ValueType::text,
     .value_name = "NAME[:size=ARG]",
     .commands = {Command::run},
     .help = "a function of the program's that allocates, and which argument is the size (1); may "
             "be repeated",
     .repeatable = true},
    {.opt = Opt::free_fn,
     .name = "free-fn",
     .type = ValueType::text,
     .value_name = "NAME[:ptr=ARG]",
     .commands = {Command::run},
     .help = "a function of the program's that frees, and which argument is the block (1); may be "
             "repeated",
     .repeatable = true},
    {.opt = Opt::drop_frees,
     .name = "drop-frees",
     .type = ValueType::text,
     .value_name = "PERCENT[:SEED]",
     .commands = {Command::run},
     .help = "skip that share of the program's frees, to see whether the leaks are found",
     .configurable = false},
    {.opt = Opt::keep_trace,
     .name = "keep-trace",
     .type = ValueType::file,
     .value_name = "FILE",
     .commands = {Command::run},
     .help = "keep the raw records in FILE for `plumb report`"},
    {.opt = Opt::snapshot,
     .name = "snapshot",
     .commands = {Command::watch},
     .help = "with a PID: one report, then end; otherwise a view that goes on",
     .configurable = false},
    {.opt = Opt::snapshot_file,
     .name = "snapshot-file",
     .type = ValueType::file,
     .value_name = "FILE",
     .commands = {Command::watch},
     .help = "keep the last snapshot in FILE for `plumb report`, also when the program is killed; "
             "%p is the process id"},
    {.opt = Opt::metrics,
     .name = "metrics",
     .type = ValueType::number,
     .value_name = "PORT",
     .commands = {Command::watch},
     .help =
         "with a PID: serve http://127.0.0.1:PORT/metrics for Prometheus until the program ends",
     .most = 65535},
    {.opt = Opt::serve,
     .name = "serve",
     .type = ValueType::text,
     .value_name = "ADDR:PORT",
     .commands = {Command::watch},
     .help = "serve the page of --format=html, live; without a value on a free port of "
             "127.0.0.1. The address, with a random token, is printed",
     .bare_value = "127.0.0.1:0",
     .configurable = false},
    {.opt = Opt::sample,
     .name = "sample",
     .type = ValueType::size,
     .value_name = "BYTES",
     .default_value = "64k",
     .commands = {Command::watch},
     .help = "one sample in so many bytes allocated, on the average; more bytes for a larger heap"},
    {.opt = Opt::search,
     .name = "search",
     .type = ValueType::size,
     .value_name = "BYTES",
     .default_value = "256M",
     .commands = {Command::watch},
     .help =
         "at the program's end, read up to so much of its memory to tell what is lost; 0: none"},
    {.opt = Opt::epoch,
     .name = "epoch",
     .type = ValueType::duration,
     .value_name = "TIME",
     .default_value = "1s",
     .commands = {Command::watch},
     .help = "look for touched blocks after so much CPU time"},
    {.opt = Opt::interval,
     .name = "interval",
     .type = ValueType::duration,
     .value_name = "TIME",
     .default_value = "10s",
     .commands = {Command::watch},
     .help = "time between two snapshots, and between two views of a running program"},
    {.opt = Opt::follow,
     .name = "follow",
     .type = ValueType::choice,
     .value_name = "WHOM",
     .default_value = "none",
     .commands = {Command::run, Command::watch},
     .help = "children: what the program forks and starts, too; the report is of all, and there is "
             "one for each where --output (or --snapshot-file) has %p",
     .choices = kFollows},
    {.opt = Opt::times_active,
     .name = "times-active",
     .type = ValueType::number,
     .value_name = "N",
     .default_value = "10",
     .commands = kJudging,
     .help = "a block is stale when it was idle for N times as long as it was in use; 0: only "
             "--least-idle counts",
     .least = 0},
    {.opt = Opt::least_idle,
     .name = "least-idle",
     .type = ValueType::duration,
     .value_name = "TIME",
     .default_value = "0s",
     .commands = kJudging,
     .help = "and for at least so much CPU time"},
    {.opt = Opt::least_samples,
     .name = "least-samples",
     .type = ValueType::number,
     .value_name = "N",
     .default_value = "3",
     .commands = kJudging,
     .help = "a site needs N stale samples to be called a leak",
     .least = 1},
    {.opt = Opt::never_used,
     .name = "never-used",
     .commands = kJudging,
     .help = "only blocks that were not touched after the epoch of their birth are stale"},
    {.opt = Opt::no_growth,
     .name = "no-growth",
     .commands = kJudging,
     .help = "a site may be a leak although it does not grow"},
    {.opt = Opt::all_sites,
     .name = "all-sites",
     .commands = kJudging,
     .help = "list sites with idle memory that look like caches or start-up data, too"},
    {.opt = Opt::kind,
     .name = "kind",
     .letter = 'k',
     .type = ValueType::choices,
     .value_name = "KINDS",
     .commands = {Command::report},
     .help = "only these kinds: lost, stale, forgotten",
     .choices = kKinds},
    {.opt = Opt::file,
     .name = "file",
     .type = ValueType::text,
     .value_name = "GLOB",
     .commands = {Command::report},
     .help = "only leaks with a frame in such a file; without a / the base name is compared"},
    {.opt = Opt::function,
     .name = "function",
     .type = ValueType::text,
     .value_name = "GLOB",
     .commands = {Command::report},
     .help = "only leaks with a frame in such a function, its parameters may be left out"},
    {.opt = Opt::module,
     .name = "module",
     .type = ValueType::text,
     .value_name = "GLOB",
     .commands = {Command::report},
     .help = "only leaks with a frame in such a program or library"},
    {.opt = Opt::id,
     .name = "id",
     .type = ValueType::text,
     .value_name = "ID",
     .commands = {Command::report},
     .help = "only the leak with this fingerprint, or its first digits; may be repeated",
     .repeatable = true},
    {.opt = Opt::gen_suppressions,
     .name = "gen-suppressions",
     .commands = {Command::report},
     .help = "print a suppression for each leak shown, instead of the report",
     .configurable = false},
    {.opt = Opt::ended_program,
     .name = "ended-program",
     .commands = {Command::report},
     .help = "for a program that plumb cc built, as it ends: report as PLUMB_OPTIONS says",
     .configurable = false,
     .hidden = true},
    {.opt = Opt::site_questions,
     .name = "site-questions",
     .commands = {Command::report},
     .help = "for a program that plumb cc built: which stacks are sites of this report",
     .configurable = false,
     .hidden = true},
    {.opt = Opt::color,
     .name = "color",
     .type = ValueType::choice,
     .value_name = "WHEN",
     .default_value = "auto",
     .commands = kEvery,
     .help = "auto (on a terminal, unless NO_COLOR is set), always or never",
     .choices = kColors,
     .runtime_key = "color"},
    {.opt = Opt::quiet,
     .name = "quiet",
     .letter = 'q',
     .commands = kEvery,
     .help = "no notes and no progress; run prints nothing when it finds nothing",
     .runtime_key = "quiet"},
    {.opt = Opt::verbose,
     .name = "verbose",
     .letter = 'v',
     .commands = kEvery,
     .help = "whole stacks and all notes",
     .runtime_key = "verbose"},
    {.opt = Opt::stats,
     .name = "stats",
     .commands = kListing,
     .help = "say on standard error what the work took and which suppressions were used"},
    {.opt = Opt::config,
     .name = "config",
     .type = ValueType::file,
     .value_name = "FILE",
     .commands = kEvery,
     .help = "read FILE instead of the plumb.toml found upward from here",
     .configurable = false},
    {.opt = Opt::show_config,
     .name = "show-config",
     .commands = kEvery,
     .help = "print each value and where it came from, and stop",
     .configurable = false},
    {.opt = Opt::help,
     .name = "help",
     .letter = 'h',
     .commands = kEvery,
     .help = "print this help",
     .configurable = false},
    {.opt = Opt::version,
     .name = "version",
     .letter = 'V',
     .help = "print the version, and those of LLVM, Z3 and Valgrind",
     .configurable = false},
    {.opt = Opt::dump,
     .name = "dump",
     .type = ValueType::choice,
     .value_name = "WHAT",
     .help = "print the manual page or a shell's completions",
     .choices = kDumps,
     .configurable = false,
     .hidden = true},
});

consteval bool rows_follow_enum() {
  for (std::size_t i = 0; i < kOptions.size(); ++i) {
    if (static_cast<std::size_t>(kOptions[i].opt) != i) return false;
  }
  return true;
}
static_assert(rows_follow_enum());

constexpr std::string_view kFindingStatus =
    "0: nothing above the budget. 1: findings. 2: wrong usage or unreadable input. 3: the "
    "analysis could not finish; what it has is still written.";

constexpr auto kCommands = std::to_array<CommandSpec>({
    {.command = Command::check,
     .summary = "find leaks in source code, without running it",
     .arguments = "[FILE...] [-- BUILD...]",
     .description =
         "Analyses a whole program or library across its files: each path from an allocation to "
         "the place where the last reference goes is a finding. No main function is needed.\n\n"
         "The units come from a compilation database (-p DIR), from a build that is run and "
         "watched (after --; it must compile what is to be checked, so start from clean), or are "
         "named: C and C++ sources, LLVM bitcode (.bc) or IR (.ll), files of `plumb model` "
         "(.unit). "
         "A unit that does not compile with clang-19 is named and left out. Units that did not "
         "change since the last time are taken from a cache.",
     .example = "plumb check -p build\n"
                "plumb check -- make -j8\n"
                "plumb check --cflags='-Iinclude -DNDEBUG' src/*.c",
     .status = kFindingStatus},
    {.command = Command::model,
     .summary = "compile a source to the file that check analyses",
     .arguments = "COMPILER-ARGUMENTS... [-o FILE]",
     .description =
         "The first step of check by itself, called as a compiler is, for build systems and build "
         "farms: one source, its flags, one output file (.unit by default), which depends on "
         "nothing else. `plumb check FILE.unit...` does the rest. plumb-model is the same as a "
         "single word.",
     .example = "plumb model -Iinclude -c src/a.c -o a.unit\n"
                "distcc plumb-model -Iinclude -c src/a.c -o a.unit",
     .status = "0: the file is written. 2: the source does not compile, or wrong usage."},
    {.command = Command::run,
     .summary = "run a program and report what it leaked",
     .arguments = "[--] PROGRAM [ARGS...]",
     .description =
         "Runs an unmodified, dynamically linked program with a library preloaded that notes every "
         "allocation, and scans the memory when the program ends: what no chain of references "
         "reaches is lost, what is still reachable was forgotten.\n\n"
         "The program keeps its standard streams, its behaviour and its exit status. The report "
         "goes to standard error, or to the file of --output. Options stand before the program; "
         "what follows its name belongs to it.",
     .example = "plumb run ./server --port 80\n"
                "plumb run --error-exitcode=9 --output=leaks.sarif -- make test",
     .status = "The program's own; a program that a signal ended ends plumb by the same signal. "
               "With --error-exitcode=N: N when there are findings and no signal, 3 when the "
               "analysis could not finish. 2: wrong usage, or the program could not be started."},
    {.command = Command::cc,
     .summary = "cc, c++: compile with the loss tracker built in",
     .arguments = "[-fplumb=LEVEL] COMPILER-ARGUMENTS...",
     .description =
         "Takes clang's place in a build: every word goes to clang 19 as it is, a pass plugin and "
         "a "
         "runtime library are added. The program then reports by itself, when it ends, where "
         "each lost block was allocated, where its last reference went, and what held it.\n\n"
         "-fplumb=full (the default) and -fplumb=partial track references; -fplumb=stacks takes "
         "the calls of every drop along as well, -fplumb=access the last access to each block, "
         "-fplumb=stacks,access both; "
         "-fplumb=minimal tracks allocations only. PLUMB_OPTIONS=mode=...:output=FILE:exitcode=N "
         "is read by the "
         "program. Compile with -g for names and lines. plumb-cc and plumb-c++ are the same as "
         "single words.",
     .example = "plumb cc -g leak.c && ./a.out\n"
                "./configure CC=\"plumb cc\" CXX=\"plumb c++\"",
     .status = "clang's own."},
    {.command = Command::watch,
     .summary = "find what a running program no longer uses",
     .arguments = "[--] PROGRAM [ARGS...] | PID",
     .description =
         "Runs an unmodified, dynamically linked program with a library preloaded that takes a "
         "sample of its blocks and sees which of them are still touched. What is idle for long and "
         "keeps growing is stale: a leak, reachable or not. Made for long-running programs.\n\n"
         "The program keeps its standard streams, its behaviour and its exit status. The report "
         "goes to standard error, or to the file of --output. With a PID, a program that was "
         "started this way is looked at while it runs.",
     .example = "plumb watch --snapshot-file=server.snapshot -- ./server --port 80\n"
                "plumb watch --snapshot 4242",
     .status = "As for run; with a PID as for report."},
    {.command = Command::report,
     .summary = "show, convert, merge and filter saved reports",
     .arguments = "FILE...",
     .description =
         "Reads JSON reports and raw traces, told apart by content; - is standard input. Several "
         "are merged into one. What filters leave out stays in the totals.\n\n"
         "Leaks that a suppression or the baseline covers are hidden, not dropped: --show-hidden "
         "shows them, and JSON and SARIF always have them. Suppressions that match nothing are "
         "named on standard error.",
     .example = "plumb report leaks.json\n"
                "plumb report --kind=lost --file='src/*' -o leaks.sarif leaks.json\n"
                "plumb report --gen-suppressions leaks.json >> plumb.supp.toml",
     .status = kFindingStatus},
    {.command = Command::diff,
     .summary = "show what changed between two reports",
     .arguments = "OLD NEW",
     .description =
         "Pairs the leaks of two reports by fingerprint and lists those that are new, gone, grown "
         "or shrunk. Lines that moved and other directories make no difference.",
     .example = "plumb diff yesterday.json today.json",
     .status = "0: nothing new or grown above the budget. 1: something is. 2: wrong usage or "
               "unreadable input."},
    {.command = Command::explain,
     .summary = "explain a kind, a cause or one leak of a report",
     .arguments = "WORD | ID REPORT",
     .description =
         "With a word of a report (lost, holder-freed, error-path ...) says what it means and what "
         "to do. With a leak's id, or its first digits, and the report that has it, shows that "
         "leak in full and explains its kind and cause.",
     .example = "plumb explain holder-freed\n"
                "plumb explain 5f3a9c0d11e2b478 leaks.json",
     .status = "0: explained. 2: no such word or leak."},
    {.command = Command::doctor,
     .summary = "check whether this machine is ready",
     .arguments = "",
     .description =
         "Checks what the commands need, runs a small program that leaks and compares the result. "
         "Each line says ok, missing or absent, and the remedy; only what is missing keeps a "
         "command from working.",
     .example = "plumb doctor",
     .status = "0: ready. 1: something that a command needs is missing. 2: wrong usage."},
});

consteval bool commands_follow_enum() {
  for (std::size_t i = 0; i < kCommands.size(); ++i) {
    if (static_cast<std::size_t>(kCommands[i].command) != i) return false;
  }
  return kCommands.size() == kNames<Command>.size();
}
static_assert(commands_follow_enum());

}  // namespace

std::span<const OptionSpec> option_table() { return kOptions; }
std::span<const CommandSpec> command_table() { return kCommands; }

const OptionSpec& spec_of(Opt opt) { return kOptions[static_cast<std::size_t>(opt)]; }
const CommandSpec& spec_of(Command command) { return kCommands[static_cast<std::size_t>(command)]; }

const OptionSpec* find_option(Command command, std::string_view name) {
  const auto found = std::ranges::find_if(kOptions, [&](const OptionSpec& option) {
    return option.name == name && option.commands.has(command);
  });
  return found == kOptions.end() ? nullptr : &*found;
}

const OptionSpec* find_global_option(std::string_view name) {
  const auto found = std::ranges::find_if(kOptions, [&](const OptionSpec& option) {
    return option.name == name && (option.commands.empty() || option.opt == Opt::help);
  });
  return found == kOptions.end() ? nullptr : &*found;
}

std::vector<const OptionSpec*> options_of(Command command) {
  std::vector<const OptionSpec*> options;
  for (const OptionSpec& option : kOptions) {
    if (option.commands.has(command)) options.push_back(&option);
  }
  return options;
}

std::vector<std::string_view> command_names() {
  std::vector<std::string_view> names;
  for (const auto& [command, name] : kNames<Command>) names.push_back(name);
  return names;
}

std::vector<Command> commands_with(std::string_view name) {
  std::vector<Command> commands;
  for (const auto& [command, word] : kNames<Command>) {
    if (find_option(command, name) != nullptr) commands.push_back(command);
  }
  return commands;
}

}  // namespace plumb
