#include "core/filter.h"

#include <optional>
#include <utility>
#include <vector>

#include "core/accounting.h"

namespace plumb {

namespace {

// Null: blocks of this kind are in no total.
std::optional<Count>* omitted(Totals& totals, Kind kind) {
  switch (kind) {
    case Kind::lost:
      return &totals.omitted_lost;
    case Kind::stale:
      return &totals.omitted_stale;
    case Kind::forgotten:
      return &totals.omitted_forgotten;
    case Kind::double_free:
    case Kind::mismatched_free:
      break;
  }
  return nullptr;
}

}  // namespace

void filter_leaks(Report& report, const std::function<bool(const Leak&)>& keep) {
  std::vector<Leak> kept;
  kept.reserve(report.leaks.size());
  for (Leak& leak : report.leaks) {
    if (keep(leak)) {
      kept.push_back(std::move(leak));
      continue;
    }
    std::optional<Count>* rest = omitted(report.totals, leak.kind);
    if (rest == nullptr) continue;
    if (!*rest) rest->emplace();
    **rest += leak.total();
  }
  report.leaks = std::move(kept);
  recount_hidden(report);
}

}  // namespace plumb
