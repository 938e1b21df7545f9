#include "check/check.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "base/demangle.h"
#include "base/parallel.h"
#include "base/text.h"
#include "check/cache/content.h"
#include "check/cache/unit_cache.h"
#include "check/finding.h"
#include "check/model/far_throws.h"
#include "check/model/given_functions.h"
#include "check/model/program.h"
#include "check/model/twins.h"
#include "check/model/unit_file.h"
#include "check/model/virtual_calls.h"
#include "check/one_finding.h"
#include "check/prove/prove.h"
#include "check/summary/bystanders.h"
#include "check/summary/function_run.h"
#include "check/summary/kept_results.h"
#include "check/summary/settable_allocators.h"
#include "check/summary_graph.h"
#include "core/fingerprint.h"
#include "core/function_name.h"
#include "core/order.h"
#include "core/suggestion.h"

namespace plumb::check {

namespace {

constexpr int kCycleRounds = 2;          // of a call cycle: enough for base case and step
constexpr std::size_t kSmallCycle = 32;  // functions
constexpr std::size_t kFirstRuns = 6;    // per function of a cycle, for the base case
constexpr int kResultsVersion = 8;

struct Units {
  std::vector<Unit> units;
  std::vector<std::string> results;  // by unit: where results about it are kept
  std::vector<Error> skipped;
  std::uint64_t from_cache = 0;
  std::string cache_problem;
};

void drop_twins(Units& units) {
  const std::vector<bool> twins = find_twins(units.units);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < twins.size(); ++i) {
    if (twins[i]) continue;
    if (kept != i) {
      units.units[kept] = std::move(units.units[i]);
      units.results[kept] = std::move(units.results[i]);
    }
    ++kept;
  }
  units.units.resize(kept);
  units.results.resize(kept);
}

// Reads and compiles in parallel; the order of the units is that of the options.
Units load_units(const CheckOptions& options, std::string_view context) {
  UnitCache cache(options.cache);
  const std::size_t files = options.units.size();
  std::vector<Result<Unit>> results(files + options.jobs.size(), fail("", "not compiled"));
  in_parallel(results.size(), options.threads, [&](std::size_t i) {
    results[i] = i < files ? read_unit(options.units[i]) : cache.unit(options.jobs[i - files]);
  });
  Units out;
  out.from_cache = cache.found();
  out.cache_problem = cache.problem();
  if (cache.found() < options.jobs.size()) cache.trim();
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i]) {
      out.skipped.push_back(std::move(results[i].error()));
      continue;
    }
    out.units.push_back(std::move(*results[i]));
    out.results.push_back(i < files ? cache.results_path(options.units[i], context)
                                    : cache.results_path(options.jobs[i - files], context));
  }
  drop_twins(out);
  return out;
}

// All that decides a result besides the program: this program, and what it was asked.
std::string context_of(const CheckOptions& options) {
  struct stat self{};
  if (stat("/proc/self/exe", &self) != 0) return {};
  std::string models = options.models.text + options.containers.text;
  if (!options.also.empty()) models += options.resources.text;
  for (const std::string& each : options.also) models += '\0' + each;
  for (const ModelText& each : options.declared) models += '\0' + each.text;
  return fmt::format("{} {} {}.{} oom={} globals={} {}", kResultsVersion, self.st_size,
                     self.st_mtim.tv_sec, self.st_mtim.tv_nsec, options.oom, options.globals,
                     hash_of(models));
}

bool is_asked(const CheckOptions& options, std::string_view what) {
  return std::ranges::find(options.also, what) != options.also.end();
}

Result<Library> read_models(const CheckOptions& options) {
  Library library;
  if (Result<void> added = library.add(options.models, false); !added) {
    return std::unexpected(added.error());
  }
  if (Result<void> added = library.add_resources(options.resources, options.also); !added) {
    return std::unexpected(added.error());
  }
  if (Result<void> added = library.add_containers(options.containers); !added) {
    return std::unexpected(added.error());
  }
  for (const ModelText& each : options.declared) {
    if (Result<void> added = library.add(each, true); !added) {
      return std::unexpected(added.error());
    }
  }
  return library;
}

// What the user says of a function counts for more than its body.
void heed_models(Program& program, Library& library) {
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < program.symbols(); ++i) {
    names.push_back(program.symbol(ProgramSymbolId::of(i)).name);
  }
  library.find_by_source_name(names);
  for (std::uint32_t i = 0; i < names.size(); ++i) {
    const LibraryModel* model = library.find(names[i]);
    if (model && model->declared) program.forget_definition(ProgramSymbolId::of(i));
  }
}

bool calls_itself(const Program& program, FunctionId id) {
  const std::vector<FunctionId> callees = program.callees(id);
  return std::ranges::find(callees, id) != callees.end();
}

struct Analysed {
  std::vector<Summary> summaries;
  std::vector<Candidate> candidates;
  std::uint64_t over_budget = 0;  // functions
};

// Components of the call graph by height: one calls only such as are lower, so
// all of a height can be run at once.
std::vector<std::vector<std::uint32_t>> by_height(
    const Program& program, const std::vector<std::vector<FunctionId>>& components) {
  std::vector<std::uint32_t> component_of(program.functions().size());
  for (std::uint32_t c = 0; c < components.size(); ++c) {
    for (const FunctionId id : components[c]) component_of[id.index] = c;
  }
  std::vector<std::uint32_t> height(components.size(), 0);
  std::vector<std::vector<std::uint32_t>> out;
  for (std::uint32_t c = 0; c < components.size(); ++c) {
    for (const FunctionId id : components[c]) {
      for (const FunctionId callee : program.callees(id)) {
        const std::uint32_t other = component_of[callee.index];
        if (other != c) height[c] = std::max(height[c], height[other] + 1);
      }
    }
    if (out.size() <= height[c]) out.resize(height[c] + 1);
    out[height[c]].push_back(c);
  }
  return out;
}

// A block in a global is a finding when nothing of what is checked takes it out
// again.
void keep_what_nothing_frees(const Program& program, Analysed& analysed) {
  std::vector<bool> taken(program.symbols(), false);
  std::vector<bool> below(program.symbols(), false);
  for (const Summary& summary : analysed.summaries) {
    for (const std::uint32_t symbol : summary.taken_from) taken[symbol] = true;
    for (const std::uint32_t symbol : summary.taken_below) below[symbol] = true;
  }
  std::erase_if(analysed.candidates, [&](const Candidate& candidate) {
    if (candidate.parked == kNotParked) return false;
    const Global* global = program.symbol(ProgramSymbolId::of(candidate.parked)).global;
    const bool is_taken = candidate.below ? below[candidate.parked] : taken[candidate.parked];
    return is_taken || !global || !global->defined;
  });
}

// What a function of a cycle does without going round, as the start of the
// search for what it does at all. The conditions are those of the shortest way
// and say nothing of the others.
void widen(Summary& summary, const Function& body) {
  const auto forget_guards = [](Case& each) {
    each.guards.clear();
    each.ways.clear();
    each.ways_lost = true;
  };
  if (!summary.effect.returns && !body.noreturn) summary = {};
  summary.effect.meanings.clear();
  for (NewBlock& block : summary.blocks) {
    for (Case& each : block.cases) forget_guards(each);
  }
  for (Input& input : summary.inputs) {
    for (Case& each : input.cases) forget_guards(each);
  }
}

// Functions of a cycle call each other: what one takes out of globals, all may.
void share_what_is_taken(const std::vector<FunctionId>& component,
                         std::vector<Summary>& summaries) {
  if (component.size() < 2) return;
  std::set<std::uint32_t> taken;
  for (const FunctionId id : component) {
    taken.insert(summaries[id.index].may_take.begin(), summaries[id.index].may_take.end());
  }
  for (const FunctionId id : component) {
    summaries[id.index].may_take.assign(taken.begin(), taken.end());
  }
}

// Callees first, so that a call finds the summary of what it calls. In a cycle
// the first round leaves calls to those out that have no way out as yet; each later
// one knows what the one before found. What has no way out of the cycle at all counts
// as unknown code.
void run_component(const Program& program, const Library& library, const Limits& limits,
                   Known known, std::vector<Summary>& summaries,
                   std::vector<Candidate>& candidates) {
  const std::vector<FunctionId>& component = known.component;
  const bool cycle = component.size() > 1 || calls_itself(program, component[0]);
  if (cycle) {
    known.first_round = true;
    // A large cycle goes through a program's main loop: its base cases are taken as
    // those of one call, not pieced together.
    const bool small = component.size() <= kSmallCycle;
    std::vector<std::pair<FunctionId, Summary>> kept_back;
    std::vector<FunctionId> open = component;
    std::size_t budget = kFirstRuns * component.size();
    for (bool more = true; more;) {
      more = false;
      std::erase_if(open, [&](FunctionId id) {
        if (budget == 0) return false;
        --budget;
        std::vector<Candidate> unused;
        Summary found = FunctionRun(program, library, known, id, limits).run(unused);
        widen(found, *program.functions()[id.index].body);
        if (!found.known) return false;
        if (small) {
          summaries[id.index] = std::move(found);
        } else {
          kept_back.emplace_back(id, std::move(found));
        }
        more = small;
        return true;
      });
    }
    for (auto& [id, found] : kept_back) summaries[id.index] = std::move(found);
    known.first_round = false;
  }
  for (int round = cycle ? kCycleRounds : 1; round > 0; --round) {
    candidates.clear();
    for (const FunctionId id : component) {
      summaries[id.index] = FunctionRun(program, library, known, id, limits).run(candidates);
    }
  }
  share_what_is_taken(component, summaries);
}

Analysed analyse(const Program& program, const Library& library, const Limits& limits,
                 KeptResults* kept, unsigned threads) {
  Analysed out;
  out.summaries.resize(program.functions().size());
  const std::vector<std::vector<FunctionId>> components = program.components();
  std::vector<std::vector<Candidate>> found(components.size());
  std::vector<bool> done(program.functions().size(), false);
  for (const std::vector<std::uint32_t>& level : by_height(program, components)) {
    in_parallel(level.size(), threads, [&](std::size_t i) {
      const std::vector<FunctionId>& component = components[level[i]];
      std::vector<Candidate>& candidates = found[level[i]];
      std::optional<ComponentResult> known;
      if (kept) known = kept->find(component, out.summaries, done);
      if (known) {
        for (std::size_t f = 0; f < component.size(); ++f) {
          out.summaries[component[f].index] = std::move(known->summaries[f]);
        }
        candidates = std::move(known->candidates);
        return;
      }
      Reads reads;
      run_component(program, library, limits,
                    Known{out.summaries, done, component, false, kept ? &reads : nullptr},
                    out.summaries, candidates);
      if (!kept) return;
      ComponentResult result;
      for (const FunctionId id : component) result.summaries.push_back(out.summaries[id.index]);
      result.candidates = candidates;
      kept->keep(component, result, done, reads);
    });
    for (const std::uint32_t c : level) {
      for (const FunctionId id : components[c]) done[id.index] = true;
    }
  }
  for (const Summary& summary : out.summaries) out.over_budget += summary.over_budget;
  for (std::vector<Candidate>& each : found) {
    std::ranges::move(each, std::back_inserter(out.candidates));
  }
  keep_what_nothing_frees(program, out);
  return out;
}

// The functions of which to know more would help most.
void note_unknown_functions(Report& report, const Program& program,
                            const std::vector<Summary>& summaries) {
  constexpr std::size_t kNamed = 5;
  std::map<std::string, std::uint64_t> blocks;
  std::uint64_t all = 0;
  for (const Summary& summary : summaries) {
    all += summary.handed_to.size();
    for (const std::uint32_t symbol : summary.handed_to) {
      ++blocks[program.symbol(ProgramSymbolId::of(symbol)).name];
    }
  }
  if (all == 0) return;
  std::vector<std::pair<std::string, std::uint64_t>> order(blocks.begin(), blocks.end());
  std::ranges::sort(order, [](const auto& a, const auto& b) {
    return std::tie(b.second, a.first) < std::tie(a.second, b.first);
  });
  Demangler demangle;
  std::string names;
  for (std::size_t i = 0; i < order.size() && i < kNamed; ++i) {
    const std::string name = demangle(order[i].first);
    names += fmt::format("{}{} ({})", i ? ", " : "", name.empty() ? order[i].first : name,
                         order[i].second);
  }
  if (order.size() > kNamed) names += fmt::format(" and {} more", order.size() - kNamed);
  report.notes.push_back(
      {"unknown-functions",
       fmt::format("{} went out of sight in functions of which nothing is known: {}",
                   count_of(all, "block"), names),
       "--model=\"NAME EFFECT...\", or model = [...] in plumb.toml, says what one does",
       {}});
}

void add_notes(Report& report, const Units& units, const Analysed& analysed) {
  for (const Error& error : units.skipped) {
    report.notes.push_back(
        {"skipped-unit", fmt::format("{}: {}", error.where, error.what), error.hint, {}});
  }
  if (!units.cache_problem.empty()) {
    report.notes.push_back({"cache",
                            fmt::format("units could not be kept: {}", units.cache_problem),
                            "--cache=DIR names another folder, --no-cache does without",
                            {}});
  }
  if (analysed.over_budget) {
    report.notes.push_back(
        {"budget",
         fmt::format("{} too large for the budget: what they do is taken as unknown",
                     count_of(analysed.over_budget, "function")),
         "",
         {}});
  }
}

// Functions by the limit that they hit.
std::vector<std::pair<std::string, std::uint64_t>> count_cuts(
    const std::vector<Summary>& summaries) {
  constexpr std::array<const char*, kCuts> kNames = {"work",  "cells",  "states",
                                                     "cases", "blocks", "inputs"};
  std::vector<std::pair<std::string, std::uint64_t>> out;
  for (std::size_t i = 0; i < kCuts; ++i) {
    const auto hit = [&](const Summary& summary) { return (summary.cuts >> i & 1) != 0; };
    out.emplace_back(kNames[i], static_cast<std::uint64_t>(std::ranges::count_if(summaries, hit)));
  }
  return out;
}

std::vector<ShownSummary> asked_summaries(const Program& program,
                                          const std::vector<Summary>& summaries,
                                          const std::string& name) {
  std::vector<ShownSummary> out;
  if (name.empty()) return out;
  for (std::size_t i = 0; i < summaries.size(); ++i) {
    const ProgramFunction& function = program.functions()[i];
    const std::string source_name = normalised_function(function.body->display);
    if (function.body->display != name && program.symbol(function.symbol).name != name &&
        function_stem(source_name) != name) {
      continue;
    }
    const FunctionId id = FunctionId::of(static_cast<std::uint32_t>(i));
    out.push_back({program.file(function.unit, function.body->location.file),
                   function.body->location.line, summary_graph(program, id, summaries[i]),
                   categories_of(program, id, summaries[i])});
  }
  return out;
}

const char* hint_when_nothing_is_left(std::string_view what) {
  const bool header = what.find("file not found") != std::string_view::npos;
  return header
             ? "no unit is left to analyse; say where headers are: --cflags=\"-IDIR -DNAME\", or "
               "let Plumb see the build: `plumb check -- make`, `plumb check -p BUILD`"
             : "no unit is left to analyse";
}

}  // namespace

Result<CheckOutcome> check_program(const CheckOptions& options) {
  Result<Library> said = read_models(options);
  if (!said) return std::unexpected(said.error());
  Library& library = *said;
  const std::string context = context_of(options);
  Units units = load_units(options, context);
  if (units.units.empty()) {
    if (units.skipped.empty()) return fail("", "nothing to check", "name source files");
    const Error& first = units.skipped[0];
    return fail(first.where, first.what, hint_when_nothing_is_left(first.what));
  }
  const std::size_t count = units.units.size();
  Program linked(std::move(units.units), units.skipped.empty());
  heed_models(linked, library);
  call_first_allocators(linked, library);
  resolve_virtual_calls(linked);
  forget_far_throws(linked);
  copy_for_given_functions(linked);
  linked.note_bystanders(find_bystanders(linked, library));
  const Program& program = linked;
  // LLVM is gone. From here on no function or block is added.
  Limits limits;
  limits.oom = options.oom;
  limits.globals = options.globals;
  limits.double_free = is_asked(options, "double-free");
  limits.mismatched_free = is_asked(options, "mismatched-free");
  std::optional<KeptResults> kept;
  if (!options.cache.empty() && !context.empty()) {
    kept.emplace(program, units.results, units.results, options.threads);
  }
  Analysed analysed = analyse(program, library, limits, kept ? &*kept : nullptr, options.threads);

  CheckOutcome outcome;
  outcome.units_from_cache = units.from_cache;
  outcome.cuts = count_cuts(analysed.summaries);
  outcome.summaries = asked_summaries(program, analysed.summaries, options.show_summary);
  Report& report = outcome.report;
  report.tool.engine = Engine::check;
  report.tool.mode = "summaries";
  report.subject.units = count;
  std::vector<Candidate> parked;  // nothing to replay: nothing is lost
  std::ranges::copy_if(analysed.candidates, std::back_inserter(parked),
                       [](const Candidate& each) { return each.parked != kNotParked; });
  std::erase_if(analysed.candidates,
                [](const Candidate& each) { return each.parked != kNotParked; });
  std::vector<Candidate> indirect;  // go with those that hold them
  std::ranges::copy_if(analysed.candidates, std::back_inserter(indirect),
                       [](const Candidate& each) { return each.indirect; });
  std::erase_if(analysed.candidates, [](const Candidate& each) { return each.indirect; });
  const std::uint64_t found = analysed.candidates.size();
  Proved proved = prove(program, library, analysed.summaries, std::move(analysed.candidates),
                        limits, ProveLimits{}, kept ? &*kept : nullptr, options.threads);
  if (kept) {
    outcome.components_from_cache = kept->found();
    if (const Result<void> saved = kept->save(); !saved && units.cache_problem.empty()) {
      units.cache_problem = fmt::format("{}: {}", saved.error().where, saved.error().what);
    }
  }
  std::ranges::move(parked, std::back_inserter(proved.candidates));
  report.leaks = make_findings(program, library, analysed.summaries, proved.candidates, indirect);
  keep_one_of_each(report.leaks);
  report.totals.functions = program.functions().size() - program.copies();
  report.totals.units = count;
  report.totals.skipped_units = units.skipped.size();
  const std::uint64_t feasible = proved.sites - proved.no_path;
  report.totals.stages.push_back({"summaries", found, proved.sites, {}});
  report.totals.stages.push_back({"replay", proved.sites, feasible, {}});
  const std::uint64_t satisfiable = feasible - proved.unsatisfiable;
  report.totals.stages.push_back({"solver", feasible, satisfiable, {}});
  report.totals.stages.push_back({"callees", satisfiable, satisfiable - proved.by_callees, {}});
  report.totals.undecided = proved.undecided;
  add_notes(report, units, analysed);
  note_unknown_functions(report, program, analysed.summaries);
  assign_ids(report);
  suggest_fixes(report);
  sort_leaks(report);
  return outcome;
}

}  // namespace plumb::check
