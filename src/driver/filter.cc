#include "driver/filter.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "core/accounting.h"
#include "core/filter.h"
#include "driver/judge.h"

namespace plumb {

namespace {

template <typename Test>
bool any_frame(const Leak& leak, const Test& test) {
  const auto in = [&](const Stack& stack) { return std::ranges::any_of(stack, test); };
  if (in(leak.allocation.stack)) return true;
  if (leak.loss && in(leak.loss->stack)) return true;
  if (leak.last_use && in(leak.last_use->stack)) return true;
  return std::ranges::any_of(leak.path, [&](const Step& step) { return test(step.location); });
}

bool path_matches(std::string_view glob, std::string_view path) {
  if (path.empty()) return false;
  return glob_match(glob, path) ||
         (glob.find('/') == std::string_view::npos && glob_match(glob, base_name(path)));
}

}  // namespace

void apply_filters(Report& report, const Settings& settings) {
  const std::uint64_t least = settings.size(Opt::min_size);
  const bool all_options = settings.command() == Command::report;
  const std::vector<std::string> kinds =
      all_options ? settings.list(Opt::kind) : std::vector<std::string>{};
  const std::vector<std::string> ids =
      all_options ? settings.list(Opt::id) : std::vector<std::string>{};
  const std::string file = all_options ? settings.text(Opt::file) : std::string{};
  const std::string function = all_options ? settings.text(Opt::function) : std::string{};
  const std::string module = all_options ? settings.text(Opt::module) : std::string{};
  if (least == 0 && kinds.empty() && ids.empty() && file.empty() && function.empty() &&
      module.empty()) {
    return;
  }

  const std::string with_parameters = function + "(*";
  std::vector<bool> good_module(report.modules.size());
  for (std::size_t i = 0; i < good_module.size(); ++i) {
    good_module[i] = path_matches(module, report.modules[i].path);
  }
  filter_leaks(report, [&](const Leak& leak) {
    if (leak.total().bytes < least) return false;
    if (!kinds.empty() && !has_kind(leak, kinds)) return false;
    if (!ids.empty() &&
        std::ranges::none_of(ids, [&](const std::string& id) { return leak.id.starts_with(id); })) {
      return false;
    }
    if (!file.empty() &&
        !any_frame(leak, [&](const Frame& frame) { return path_matches(file, frame.file); })) {
      return false;
    }
    if (!function.empty() && !any_frame(leak, [&](const Frame& frame) {
          return !frame.function.empty() && (glob_match(function, frame.function) ||
                                             glob_match(with_parameters, frame.function) ||
                                             glob_match(function, frame.linkage));
        })) {
      return false;
    }
    return module.empty() || any_frame(leak, [&](const Frame& frame) {
             return frame.module && frame.module->index < good_module.size() &&
                    good_module[frame.module->index];
           });
  });
  recount_hidden(report);
}

void cut_list(Report& report, std::size_t limit, bool show_hidden) {
  std::size_t kept = 0;
  filter_leaks(report, [&](const Leak& leak) {
    if (kept == limit || (leak.hidden() && !show_hidden)) return false;
    kept += 1;
    return true;
  });
  recount_hidden(report);
}

}  // namespace plumb
