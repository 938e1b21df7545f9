#include <algorithm>
#include <iterator>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "base/text.h"
#include "core/accounting.h"
#include "core/fingerprint.h"
#include "core/merge.h"
#include "core/merge_rules.h"
#include "core/order.h"

namespace plumb {

namespace {

void rename_module(Frame& frame, const std::vector<ModuleId>& renamed) {
  if (!frame.module) return;
  if (frame.module->index < renamed.size()) {
    frame.module = renamed[frame.module->index];
  } else {
    frame.module.reset();
  }
}

void rename_modules(Stack& stack, const std::vector<ModuleId>& renamed) {
  for (Frame& frame : stack) rename_module(frame, renamed);
}

// The modules of all reports, each once.
class ModuleTable {
 public:
  // Adds a report's modules; the new index of each.
  std::vector<ModuleId> add(std::vector<Module>&& modules) {
    std::vector<ModuleId> renamed;
    renamed.reserve(modules.size());
    for (Module& module : modules) {
      std::string key = fmt::format("{}:{}{}", module.path.size(), module.path, module.build_id);
      const auto [entry, added] =
          index_.try_emplace(std::move(key), static_cast<std::uint32_t>(table_.size()));
      if (added) {
        table_.push_back(std::move(module));
      } else if (table_[entry->second].debug.empty()) {
        table_[entry->second].debug = std::move(module.debug);
      }
      renamed.push_back(ModuleId::of(entry->second));
    }
    return renamed;
  }
  std::vector<Module> take() { return std::move(table_); }

 private:
  std::vector<Module> table_;
  std::unordered_map<std::string, std::uint32_t> index_;
};

template <typename T>
void add_optional(std::optional<T>& into, const std::optional<T>& from) {
  if (!from) return;
  if (!into) into.emplace();
  *into += *from;
}

void unite_stages(std::vector<Stage>& stages) {
  std::unordered_map<std::string, std::size_t> first;
  std::vector<Stage> kept;
  for (Stage& stage : stages) {
    const auto [entry, added] = first.try_emplace(stage.name, kept.size());
    if (added) {
      kept.push_back(std::move(stage));
    } else {
      kept[entry->second].in += stage.in;
      kept[entry->second].out += stage.out;
    }
  }
  stages = std::move(kept);
}

template <typename T>
void append(std::vector<T>& into, std::vector<T>&& from) {
  into.insert(into.end(), std::make_move_iterator(from.begin()),
              std::make_move_iterator(from.end()));
}

void add_totals(Totals& into, Totals&& from) {
  into.allocated += from.allocated;
  into.freed += from.freed;
  into.lost += from.lost;
  into.stale += from.stale;
  into.forgotten += from.forgotten;
  into.excluded += from.excluded;
  add_optional(into.omitted_lost, from.omitted_lost);
  add_optional(into.omitted_stale, from.omitted_stale);
  add_optional(into.omitted_forgotten, from.omitted_forgotten);
  add_optional(into.functions, from.functions);
  add_optional(into.units, from.units);
  add_optional(into.undecided, from.undecided);
  add_optional(into.skipped_units, from.skipped_units);
  append(into.stages, std::move(from.stages));
  append(into.omitted_extra, std::move(from.omitted_extra));
  append(into.extra, std::move(from.extra));
}

void unite_notes(std::vector<Note>& notes) {
  std::unordered_set<std::string> seen;
  std::erase_if(notes, [&](const Note& note) {
    return !seen.insert(fmt::format("{}:{}{}", note.code.size(), note.code, note.text)).second;
  });
}

Note merged_note(std::size_t reports) {
  return {.code = "merged",
          .text = fmt::format("{} are merged here; the command shown is the first's",
                              count_of(reports, "report")),
          .remedy = {},
          .extra = {}};
}

}  // namespace

void rename_modules(Leak& leak, const std::vector<ModuleId>& renamed) {
  rename_modules(leak.allocation.stack, renamed);
  if (leak.loss) rename_modules(leak.loss->stack, renamed);
  if (leak.last_use) rename_modules(leak.last_use->stack, renamed);
  if (leak.last_use) rename_modules(leak.last_use->burst, renamed);
  rename_modules(leak.window, renamed);
  for (SiblingFree& sibling : leak.frees) rename_modules(sibling.stack, renamed);
  for (Step& step : leak.path) rename_module(step.location, renamed);
  if (leak.fix && leak.fix->place) rename_module(*leak.fix->place, renamed);
}

Report merge_reports(std::vector<Report> reports) {
  PLUMB_CHECK(!reports.empty());
  if (reports.size() == 1) return std::move(reports.front());

  const auto check = std::ranges::find(reports, Engine::check,
                                       [](const Report& report) { return report.tool.engine; });
  const Tool tool = check == reports.end() ? reports.front().tool : check->tool;

  Report merged = std::move(reports.front());
  merged.tool = tool;
  merged.series.clear();
  ModuleTable modules;
  const std::vector<ModuleId> first_renamed = modules.add(std::move(merged.modules));
  for (Leak& leak : merged.leaks) rename_modules(leak, first_renamed);
  merge_leaks(merged.leaks);

  for (Report& report : std::span(reports).subspan(1)) {
    const std::vector<ModuleId> renamed = modules.add(std::move(report.modules));
    for (Leak& leak : report.leaks) rename_modules(leak, renamed);
    merge_leaks(report.leaks);
    append(merged.leaks, std::move(report.leaks));
    append(merged.notes, std::move(report.notes));
    append(merged.extra, std::move(report.extra));
    add_totals(merged.totals, std::move(report.totals));
    merged.schema_minor = std::max(merged.schema_minor, report.schema_minor);
    report = Report{};
  }
  merged.modules = modules.take();
  // From here on every frame refers to the united table.
  merge_leaks(merged.leaks, SiblingRule::several_processes);
  unite_stages(merged.totals.stages);
  unite_extra(merged.totals.omitted_extra);
  unite_extra(merged.totals.extra);
  unite_extra(merged.extra);
  unite_notes(merged.notes);
  merged.notes.push_back(merged_note(reports.size()));
  recount_hidden(merged);
  assign_ids(merged);
  sort_leaks(merged);
  return merged;
}

}  // namespace plumb
