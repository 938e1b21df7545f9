#include "check/check.h"

#include <atomic>
#include <mutex>
#include <thread>

#include <fmt/format.h>

#include "base/text.h"
#include "check/finding.h"
#include "check/model/program.h"
#include "check/summary/function_run.h"
#include "check/summary/print.h"
#include "core/fingerprint.h"
#include "core/order.h"

namespace plumb::check {

namespace {

constexpr int kCycleRounds = 2;  // of a call cycle: enough for base case and step

struct Units {
  std::vector<Unit> units;
  std::vector<Error> skipped;
};

// Compiles in parallel; the order of the units is that of the jobs.
Units compile_all(const CheckOptions& options) {
  const std::size_t all = options.jobs.size();
  std::vector<Result<Unit>> results(all, fail("", "not compiled"));
  std::atomic<std::size_t> next = 0;
  std::mutex telling;
  std::size_t done = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < all; i = next++) {
      results[i] = compile_unit(options.jobs[i]);
      const std::lock_guard lock(telling);
      ++done;
      if (options.progress) options.progress(done, all);
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < options.threads; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  Units out;
  for (Result<Unit>& result : results) {
    if (result) {
      out.units.push_back(std::move(*result));
    } else {
      out.skipped.push_back(std::move(result.error()));
    }
  }
  return out;
}

bool calls_itself(const Program& program, FunctionId id) {
  const ProgramFunction& where = program.functions()[id.index];
  for (const Operation& o : where.body->operations) {
    if (o.op == Op::call && o.a.kind() == OperandKind::symbol &&
        program.symbol(program.resolve(where.unit, SymbolId::of(o.a.index()))).function == id) {
      return true;
    }
  }
  return false;
}

struct Analysed {
  std::vector<Summary> summaries;
  std::vector<Candidate> candidates;
  std::uint64_t truncated = 0;
};

// Callees first, so that a call finds the summary of what it calls. In a cycle
// a function that has none yet counts as unknown code; the second round knows
// what the first one found.
Analysed analyse(const Program& program, const Library& library, const Limits& limits) {
  Analysed out;
  out.summaries.resize(program.functions().size());
  for (const std::vector<FunctionId>& component : program.components()) {
    const bool cycle = component.size() > 1 || calls_itself(program, component[0]);
    const int rounds = cycle ? kCycleRounds : 1;
    for (int round = 0; round < rounds; ++round) {
      for (const FunctionId id : component) {
        std::vector<Candidate> found;
        out.summaries[id.index] =
            FunctionRun(program, library, out.summaries, id, limits).run(found);
        if (round + 1 < rounds) continue;
        out.truncated += out.summaries[id.index].over_budget;
        out.candidates.insert(out.candidates.end(), found.begin(), found.end());
      }
    }
  }
  return out;
}

void add_notes(Report& report, const Units& units, const Analysed& analysed) {
  for (const Error& error : units.skipped) {
    report.notes.push_back(
        {"skipped-unit", fmt::format("{}: {}", error.where, error.what), error.hint, {}});
  }
  if (analysed.truncated) {
    report.notes.push_back(
        {"budget",
         fmt::format("{} too large for the budget: what they do is taken as unknown",
                     count_of(analysed.truncated, "function")),
         "",
         {}});
  }
}

std::string asked_summaries(const Program& program, const std::vector<Summary>& summaries,
                            const std::string& name) {
  std::string out;
  if (name.empty()) return out;
  for (std::size_t i = 0; i < summaries.size(); ++i) {
    const ProgramFunction& function = program.functions()[i];
    if (function.body->display != name && program.symbol(function.symbol).name != name) continue;
    out += fmt::format("{} ({}:{})\n", function.body->display,
                       program.file(function.unit, function.body->location.file),
                       function.body->location.line);
    out += summary_text(program, summaries[i]);
  }
  return out;
}

}  // namespace

Result<CheckOutcome> check_program(const CheckOptions& options) {
  Library library;
  if (Result<void> added = library.add(options.models, "models/c.models"); !added) {
    return std::unexpected(added.error());
  }
  Units units = compile_all(options);
  if (units.units.empty()) {
    return units.skipped.empty()
               ? fail("", "nothing to check", "name source files")
               : fail(units.skipped[0].where, units.skipped[0].what, "no unit is left to analyse");
  }
  const std::size_t count = units.units.size();
  const Program program(std::move(units.units));
  // LLVM is gone. From here on no function or block is added.
  Limits limits;
  limits.oom = options.oom;
  const Analysed analysed = analyse(program, library, limits);

  CheckOutcome outcome;
  outcome.summaries = asked_summaries(program, analysed.summaries, options.show_summary);
  Report& report = outcome.report;
  report.tool.engine = Engine::check;
  report.tool.mode = "summaries";
  report.subject.units = count;
  report.leaks = make_findings(program, analysed.summaries, analysed.candidates);
  report.totals.functions = program.functions().size();
  report.totals.units = count;
  report.totals.skipped_units = units.skipped.size();
  report.totals.stages.push_back(
      {"summaries", analysed.candidates.size(), report.leaks.size(), {}});
  add_notes(report, units, analysed);
  assign_ids(report);
  sort_leaks(report);
  return outcome;
}

}  // namespace plumb::check
