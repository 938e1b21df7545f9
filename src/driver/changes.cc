#include "driver/changes.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>
#include <tuple>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/source.h"
#include "base/text.h"
#include "core/baseline.h"
#include "core/lead.h"
#include "report/text_flow.h"
#include "report/text_place.h"

namespace plumb {

namespace {

using Json = nlohmann::ordered_json;

bool earlier(const ChangedLeak& one, const ChangedLeak& other) {
  const auto key = [](const ChangedLeak& entry) {
    // Largest difference first.
    return std::tuple(entry.change, entry.leak->kind,
                      std::numeric_limits<std::uint64_t>::max() - entry.difference(),
                      std::string_view(entry.leak->id));
  };
  return key(one) < key(other);
}

std::size_t shown_entries(const Changes& changes, const Settings& settings, bool by_default) {
  const std::uint64_t limit = settings.number(Opt::limit);
  const bool cut = limit > 0 && (by_default || settings.on_command_line(Opt::limit));
  return cut ? std::min<std::size_t>(limit, changes.leaks.size()) : changes.leaks.size();
}

std::string amount(const ChangedLeak& entry) {
  const auto both = [](const Count& count) {
    return fmt::format("{} in {}", count_of(count.bytes, "byte"), count_of(count.blocks, "block"));
  };
  switch (entry.change) {
    case Change::added:
      return both(entry.after);
    case Change::gone:
      return both(entry.before);
    case Change::grown:
    case Change::shrunk:
      return fmt::format("{}, before {}", both(entry.after), both(entry.before));
  }
  return {};
}

Json as_json(const Count& count) { return {{"bytes", count.bytes}, {"blocks", count.blocks}}; }

}  // namespace

std::uint64_t Changes::count(Change change) const {
  return static_cast<std::uint64_t>(std::ranges::count(leaks, change, &ChangedLeak::change));
}

Changes changes_between(const Report& before, const Report& now, std::uint64_t least) {
  Changes changes;
  const std::vector<std::optional<std::size_t>> partners = pair_leaks(before, now);
  std::vector<bool> paired(before.leaks.size());
  const auto add = [&](Change change, const Leak& leak, const Count& old, const Count& fresh) {
    const ChangedLeak entry{change, &leak, old, fresh};
    if (entry.difference() >= least) changes.leaks.push_back(entry);
  };
  for (std::size_t i = 0; i < now.leaks.size(); ++i) {
    const Leak& leak = now.leaks[i];
    if (partners[i]) paired[*partners[i]] = true;
    if (leak.hidden()) continue;
    const Count fresh = leak.total();
    if (!partners[i]) {
      add(Change::added, leak, {}, fresh);
      continue;
    }
    const Count old = before.leaks[*partners[i]].total();
    const std::tuple was(old.bytes, old.blocks);
    const std::tuple is(fresh.bytes, fresh.blocks);
    if (was == is) {
      changes.unchanged += 1;
    } else {
      add(was < is ? Change::grown : Change::shrunk, leak, old, fresh);
    }
  }
  for (std::size_t i = 0; i < before.leaks.size(); ++i) {
    const Leak& leak = before.leaks[i];
    if (!paired[i] && !leak.hidden()) add(Change::gone, leak, leak.total(), {});
  }
  std::ranges::sort(changes.leaks, earlier);
  return changes;
}

std::string changes_as_text(const Changes& changes, const Report& before, const Report& now,
                            const Settings& settings, bool color) {
  const Page page{.color = color};
  SourceCache sources;
  std::error_code problem;
  const std::string here = std::filesystem::current_path(problem).string();
  const bool verbose = settings.flag(Opt::verbose);
  const Places old_places(before, sources, here, verbose);
  const Places new_places(now, sources, here, verbose);
  const std::size_t shown = shown_entries(changes, settings, true);
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) {
    const ChangedLeak& entry = changes.leaks[i];
    const Places& places = entry.change == Change::gone ? old_places : new_places;
    const Frame* frame = primary_frame(*entry.leak, entry.change == Change::gone ? before : now);
    const std::string place = frame != nullptr ? places.column(*frame) : "?";
    const Tone tone = entry.change == Change::added || entry.change == Change::grown
                          ? tone_of(entry.leak->kind)
                          : Tone::help;
    text += fmt::format(
        "{}: {}: {}", page.paint(place, Tone::strong),
        page.paint(fmt::format("{}[{}]", name_of(entry.change), name_of(entry.leak->kind)), tone),
        amount(entry));
    if (frame != nullptr && !frame->function.empty()) {
      text += fmt::format(", in {}", places.function(*frame));
    }
    text += fmt::format(" {}\n", page.paint(fmt::format("({})", entry.leak->id), Tone::faint));
  }
  if (shown < changes.leaks.size()) {
    text += fmt::format("... and {} more; --limit=0 shows all\n",
                        with_commas(changes.leaks.size() - shown));
  }
  text += fmt::format("{} new, {} grown, {} shrunk, {} gone, {} unchanged.\n",
                      with_commas(changes.count(Change::added)),
                      with_commas(changes.count(Change::grown)),
                      with_commas(changes.count(Change::shrunk)),
                      with_commas(changes.count(Change::gone)), with_commas(changes.unchanged));
  return text;
}

std::string changes_as_json(const Changes& changes, const Report& before, const Report& now,
                            const std::vector<std::string>& files, const Settings& settings) {
  Json root;
  root["schema"] = "plumb-diff/1";
  const auto side = [](const std::string& file, const Report& report) {
    return Json{{"file", file},
                {"lost", as_json(report.totals.lost)},
                {"stale", as_json(report.totals.stale)},
                {"forgotten", as_json(report.totals.forgotten)}};
  };
  root["old"] = side(files[0], before);
  root["new"] = side(files[1], now);
  Json counts;
  for (const auto& [change, name] : kNames<Change>)
    counts[std::string(name)] = changes.count(change);
  counts["unchanged"] = changes.unchanged;
  root["counts"] = counts;
  root["leaks"] = Json::array();
  const std::size_t shown = shown_entries(changes, settings, false);
  for (std::size_t i = 0; i < shown; ++i) {
    const ChangedLeak& entry = changes.leaks[i];
    Json leak{{"change", name_of(entry.change)},
              {"id", entry.leak->id},
              {"kind", name_of(entry.leak->kind)}};
    if (entry.change != Change::added) leak["before"] = as_json(entry.before);
    if (entry.change != Change::gone) leak["after"] = as_json(entry.after);
    if (const Frame* frame =
            primary_frame(*entry.leak, entry.change == Change::gone ? before : now)) {
      if (!frame->function.empty()) leak["function"] = frame->function;
      if (!frame->file.empty()) leak["file"] = frame->file;
      if (frame->line) leak["line"] = *frame->line;
      if (frame->column) leak["column"] = *frame->column;
    }
    root["leaks"].push_back(std::move(leak));
  }
  // Names are only bytes: what is no UTF-8 becomes U+FFFD.
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace plumb
