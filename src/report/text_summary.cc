#include "report/text_summary.h"

#include <map>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "report/text_cells.h"

namespace plumb {

namespace {

constexpr std::size_t kNotes = 5;

struct Tally {
  std::uint64_t leaks = 0;
  Count sum;
};

// What the list holds, by kind, and what of it is hidden.
struct Tallies {
  std::map<Kind, Tally> shown;
  std::uint64_t suppressed = 0;
  std::uint64_t known = 0;
  bool only_memory = true;

  explicit Tallies(const Report& report) {
    for (const Leak& leak : report.leaks) {
      if (leak.suppressed) {
        ++suppressed;
      } else if (leak.known) {
        ++known;
      } else {
        Tally& tally = shown[leak.kind];
        ++tally.leaks;
        tally.sum += leak.total();
        only_memory = only_memory && leak.resource == "memory";
      }
    }
  }
};

std::vector<std::string> hidden_parts(const Tallies& tallies) {
  std::vector<std::string> parts;
  if (tallies.suppressed > 0) parts.push_back(with_commas(tallies.suppressed) + " suppressed");
  if (tallies.known > 0) parts.push_back(with_commas(tallies.known) + " known");
  return parts;
}

std::string lost_part(const Tally& lost, bool only_memory) {
  const std::string leaks = count_of(lost.leaks, "leak");
  if (!only_memory && lost.sum.bytes == 0) return leaks;
  std::string text = fmt::format("{}, {} lost", leaks, count_of(lost.sum.bytes, "byte"));
  if (lost.sum.blocks > 1) text += " in " + count_of(lost.sum.blocks, "block");
  return text;
}

// Why there is nothing to tell.
std::string clean_sentence(const Totals& totals) {
  if (totals.allocated.blocks == 0) return "No leaks: no allocation was seen.";
  const std::string allocated = count_of(totals.allocated.blocks, "block");
  if (totals.freed.blocks == totals.allocated.blocks) {
    return fmt::format("No leaks: {} allocated, all freed.", allocated);
  }
  std::string text =
      fmt::format("No leaks: {} allocated, {} freed", allocated, with_commas(totals.freed.blocks));
  if (totals.forgotten.blocks > 0)
    text += fmt::format(", {} still held", with_commas(totals.forgotten.blocks));
  if (totals.excluded.blocks > 0)
    text += fmt::format(", {} excluded", with_commas(totals.excluded.blocks));
  return text + ".";
}

// Of a watched program what is held at its end is only counted, never listed.
std::optional<Count> held_by_watched(const Report& report) {
  if (report.tool.engine != Engine::watch) return std::nullopt;
  return report.totals.omitted_forgotten;
}

// Leaks that somebody filtered out of the list.
std::string omitted_part(const Report& report) {
  const Totals& totals = report.totals;
  Count sum;
  for (const auto& omitted : {totals.omitted_lost, totals.omitted_stale}) {
    if (omitted) sum += *omitted;
  }
  if (totals.omitted_forgotten && !held_by_watched(report)) sum += *totals.omitted_forgotten;
  if (sum.blocks == 0) return {};
  return fmt::format("{} ({}) filtered out", count_of(sum.blocks, "block"),
                     count_of(sum.bytes, "byte"));
}

std::string run_summary(const Report& report, Tallies& tallies) {
  std::vector<std::string> parts;
  if (tallies.shown[Kind::lost].leaks > 0) {
    parts.push_back(lost_part(tallies.shown[Kind::lost], tallies.only_memory));
  }
  for (const Kind kind : {Kind::stale, Kind::forgotten}) {
    const Tally& tally = tallies.shown[kind];
    if (tally.leaks == 0) continue;
    if (parts.empty()) parts.emplace_back("Nothing lost");
    parts.push_back(fmt::format("{} {} ({})", with_commas(tally.leaks), name_of(kind),
                                count_of(tally.sum.bytes, "byte")));
  }
  const std::vector<std::string> hidden = hidden_parts(tallies);
  const std::string omitted = omitted_part(report);
  if (parts.empty() && hidden.empty() && omitted.empty()) return clean_sentence(report.totals);
  if (parts.empty()) parts.emplace_back("No leaks to show");
  if (!hidden.empty()) parts.push_back(fmt::format("{}", fmt::join(hidden, ", ")));
  if (!omitted.empty()) parts.push_back(omitted);
  if (const std::optional<Count> held = held_by_watched(report); held && held->blocks > 0) {
    parts.push_back(fmt::format("{} ({}) still held", count_of(held->blocks, "block"),
                                count_of(held->bytes, "byte")));
  }
  return fmt::format("{}.", fmt::join(parts, "; "));
}

std::string check_summary(const Report& report, const Tallies& tallies) {
  const Totals& totals = report.totals;
  std::uint64_t findings = 0;
  for (const auto& [kind, tally] : tallies.shown) findings += tally.leaks;
  std::string text = findings == 0 ? "No findings" : count_of(findings, "finding");
  const std::optional<std::uint64_t> units = totals.units ? totals.units : report.subject.units;
  if (totals.functions) text += " in " + count_of(*totals.functions, "function");
  if (units) text += (totals.functions ? " of " : " in ") + count_of(*units, "unit");
  std::vector<std::string> parts = {text};
  const std::vector<std::string> hidden = hidden_parts(tallies);
  if (!hidden.empty()) parts.push_back(fmt::format("{}", fmt::join(hidden, ", ")));
  if (totals.undecided.value_or(0) > 0) {
    parts.push_back(with_commas(*totals.undecided) + " undecided");
  }
  if (totals.skipped_units.value_or(0) > 0) {
    parts.push_back(count_of(*totals.skipped_units, "unit") + " skipped");
  }
  return fmt::format("{}.", fmt::join(parts, "; "));
}

}  // namespace

std::string summary_line(const Report& report) {
  Tallies tallies(report);
  return report.tool.engine == Engine::check ? check_summary(report, tallies)
                                             : run_summary(report, tallies);
}

std::string write_notes(const Report& report, const Page& page, bool all) {
  // In the order of their first appearance.
  std::map<std::tuple<std::string_view, std::string_view>, std::size_t> index;
  std::vector<std::pair<const Note*, std::uint64_t>> notes;
  for (const Note& note : report.notes) {
    const auto [at, fresh] = index.try_emplace({note.text, note.remedy}, notes.size());
    if (fresh) notes.emplace_back(&note, 0);
    ++notes[at->second].second;
  }
  std::string text;
  for (std::size_t i = 0; i < notes.size(); ++i) {
    if (!all && i == kNotes && notes.size() > kNotes + 1) {
      text +=
          Paragraph(0, 4)
              .add(fmt::format("{}: --verbose shows them", count_of(notes.size() - i, "more note")),
                   Tone::faint)
              .render(page);
      break;
    }
    const auto& [note, times] = notes[i];
    Paragraph line(0, 4);
    line.add("note:", Tone::strong).add(" " + printable(note->text));
    if (times > 1) line.add(fmt::format(" ({} times)", with_commas(times)), Tone::faint);
    text += line.render(page);
    if (!note->remedy.empty()) {
      text += Paragraph(2, 6)
                  .add("remedy:", Tone::help)
                  .add(" " + printable(note->remedy))
                  .render(page);
    }
  }
  return text;
}

std::string subject_line(const Report& report) {
  const Tool& tool = report.tool;
  const Subject& subject = report.subject;
  std::string text = printable(tool.name);
  if (!tool.version.empty()) text += " " + printable(tool.version);
  text += fmt::format(" {}", name_of(tool.engine));
  if (!tool.mode.empty()) text += " (" + printable(tool.mode) + ")";
  if (!subject.command.empty()) {
    text += ": " + shortened(printable(fmt::format("{}", fmt::join(subject.command, " "))), 200);
  }
  if (subject.pid) text += fmt::format("; pid {}", *subject.pid);
  if (subject.status && subject.status->code)
    text += fmt::format("; exit status {}", *subject.status->code);
  if (subject.status && subject.status->signal)
    text += fmt::format("; ended by signal {}", *subject.status->signal);
  if (subject.duration) text += fmt::format("; {} s", number_text(*subject.duration));
  return text;
}

}  // namespace plumb
