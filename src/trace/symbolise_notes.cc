#include "trace/symbolise_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <tuple>

#include "base/text.h"
#include "trace/debug_package.h"

namespace plumb {
namespace {

constexpr std::size_t kMostNamed = 3;

bool is_system(std::string_view path) {
  return path.starts_with("/usr/") || path.starts_with("/lib");
}

std::string enumerate(const std::vector<std::string>& names) {
  std::string text;
  const std::size_t named =
      names.size() <= kMostNamed + 1 ? names.size() : kMostNamed;  // no "and 1 other"
  for (std::size_t i = 0; i < named; ++i) {
    const bool last = i + 1 == names.size();
    text += (i == 0 ? "" : last ? " and " : ", ") + names[i];
  }
  if (named < names.size()) text += fmt::format(" and {} others", names.size() - named);
  return text;
}

std::vector<std::string> short_names(const std::vector<const ModuleState*>& modules) {
  std::vector<std::string> names;
  for (const ModuleState* module : modules) {
    std::string name(base_name(module->path));
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

template <typename Predicate>
std::vector<const ModuleState*> select(const std::vector<ModuleState>& modules, Predicate wanted) {
  std::vector<const ModuleState*> result;
  for (const ModuleState& module : modules) {
    if (module.asked && wanted(module)) result.push_back(&module);
  }
  return result;
}

void add_no_debug_info(const std::vector<ModuleState>& modules, std::vector<Note>& notes) {
  std::vector<const ModuleState*> bare = select(modules, [](const ModuleState& module) {
    return module.trouble == Trouble::none && module.without_line;
  });
  if (bare.empty()) return;
  // The user's own first: those can be compiled again.
  std::sort(bare.begin(), bare.end(), [](const ModuleState* a, const ModuleState* b) {
    return std::tuple(is_system(a->path), a->path) < std::tuple(is_system(b->path), b->path);
  });
  std::vector<std::string> whole, parts, packages;
  bool own = false, nameless = false;
  for (const ModuleState* module : bare) {
    const bool partial = module->debug == "full" || module->debug == "lines";
    std::string name(base_name(module->path));
    (partial ? parts : whole).push_back(std::move(name));
    nameless |= module->debug == "none";
    if (!is_system(module->path)) {
      own = true;
    } else if (packages.size() < kMostNamed) {
      const std::string package = debug_package_of(module->path);
      if (!package.empty() &&
          std::find(packages.begin(), packages.end(), package) == packages.end()) {
        packages.push_back(package);
      }
    }
  }
  std::string where;
  if (!whole.empty()) where = enumerate(whole);
  if (!parts.empty()) {
    where += (where.empty() ? "parts of " : ", and for parts of ") + enumerate(parts);
  }
  Note note;
  note.code = "no-debug-info";
  note.text = fmt::format("no debug information for {}: {} missing there", where,
                          nameless ? "lines and some function names are" : "lines are");
  if (own) note.remedy = "compile with -g and do not strip, or keep the separate debug file";
  if (!packages.empty()) {
    note.remedy += fmt::format("{}install {}", own ? "; " : "", enumerate(packages));
  }
  if (note.remedy.empty()) note.remedy = "install the -dbgsym package";
  notes.push_back(std::move(note));
}

void add_simple(const std::vector<const ModuleState*>& modules, std::string_view code,
                std::string_view text, std::string_view remedy, std::vector<Note>& notes) {
  if (modules.empty()) return;
  Note note;
  note.code = code;
  note.text = fmt::format(fmt::runtime(text), fmt::arg("modules", enumerate(short_names(modules))),
                          fmt::arg("detail", modules.front()->detail));
  note.remedy = remedy;
  notes.push_back(std::move(note));
}

void add_missing_split(const std::vector<ModuleState>& modules, std::vector<Note>& notes) {
  const std::vector<const ModuleState*> split =
      select(modules, [](const ModuleState& module) { return module.missing_split_units > 0; });
  if (split.empty()) return;
  std::size_t units = 0;
  for (const ModuleState* module : split) units += module->missing_split_units;
  Note note;
  note.code = "no-split-debug";
  note.text = fmt::format(
      "split debug information of {} not found ({} in {}): inlined calls are "
      "missing",
      count_of(units, "unit"), split.front()->missing_split_file, enumerate(short_names(split)));
  note.remedy = "keep the .dwo files where the compiler put them; a .dwp package is not read";
  notes.push_back(std::move(note));
}

}  // namespace

std::vector<Note> symbol_notes(const std::vector<ModuleState>& modules) {
  std::vector<Note> notes;
  const auto with = [&modules](Trouble trouble) {
    return select(modules,
                  [trouble](const ModuleState& module) { return module.trouble == trouble; });
  };
  add_no_debug_info(modules, notes);
  add_missing_split(modules, notes);
  add_simple(with(Trouble::changed), "changed-module",
             "{modules} changed since the run: the build-id differs, so no symbols are taken from "
             "it",
             "run again with the build that is there, or report with the one that ran", notes);
  add_simple(with(Trouble::deleted), "missing-module",
             "{modules} deleted or replaced while the program ran: no symbols for it",
             "keep the file until the report is written", notes);
  add_simple(with(Trouble::unreadable), "missing-module",
             "{modules} cannot be read ({detail}): no symbols for it",
             "make the file readable under the same path, or install its debug file by build-id",
             notes);
  return notes;
}

}  // namespace plumb
