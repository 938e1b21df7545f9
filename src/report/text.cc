// The report for people: findings in the order of the report, most important
// first, then notes, then one line that sums it up. Only what is shown is
// rendered, so a report of 100,000 leaks costs no more than its top.
#include "report/text.h"

#include <algorithm>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "report/text_finding.h"
#include "report/text_summary.h"

namespace plumb {

namespace {

// Forgotten blocks are noise to most readers: beside real losses they take at
// most this part of the limit.
constexpr std::size_t kForgottenPart = 4;

struct Selection {
  std::vector<const Leak*> shown;
  std::uint64_t more = 0;
  Count rest;
};

// The first `limit` leaks of a kind set; the others are counted.
Selection select(const Report& report, const RenderOptions& options, bool forgotten,
                 std::size_t limit) {
  Selection selection;
  for (const Leak& leak : report.leaks) {
    if ((leak.kind == Kind::forgotten) != forgotten) continue;
    if (leak.hidden() && !options.show_hidden) continue;
    if (selection.shown.size() < limit) {
      selection.shown.push_back(&leak);
    } else {
      ++selection.more;
      selection.rest += leak.total();
    }
  }
  return selection;
}

std::string more_line(const Selection& selection, std::string_view noun, const Page& page) {
  if (selection.more == 0) return {};
  const std::string bytes =
      selection.rest.bytes > 0 ? ", " + count_of(selection.rest.bytes, "byte") : "";
  return Paragraph(0, 4)
      .add(fmt::format("{}{}: --limit=0 shows all", count_of(selection.more, noun), bytes),
           Tone::faint)
      .render(page);
}

}  // namespace

std::string write_text(const Report& report, const RenderOptions& options) {
  TextContext context(report, options);
  constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
  const std::size_t limit = options.limit == 0 ? kAll : options.limit;
  std::string text;
  if (options.verbose)
    text += Paragraph(0, 4).add(subject_line(report)).render(context.page) + '\n';

  const Selection leaks = select(report, options, false, limit);
  for (const Leak* leak : leaks.shown) text += write_finding(*leak, context) + '\n';
  const std::string more = more_line(leaks, "more leak", context.page);
  if (!more.empty()) text += more + '\n';

  std::size_t room = limit == kAll ? kAll : limit - leaks.shown.size();
  if (room != kAll && !leaks.shown.empty() && !options.verbose) {
    room = std::min(room, std::max<std::size_t>(1, limit / kForgottenPart));
  }
  const Selection forgotten = select(report, options, true, room);
  if (!forgotten.shown.empty()) {
    text += Paragraph(0, 4)
                .add("Not freed, but still reachable at the end:", Tone::strong)
                .render(context.page);
  }
  for (const Leak* leak : forgotten.shown) {
    text += options.verbose ? write_finding(*leak, context) + '\n'
                            : write_terse_finding(*leak, context);
  }
  text += more_line(forgotten, forgotten.shown.empty() ? "forgotten leak" : "more forgotten leak",
                    context.page);
  if (!text.empty() && !text.ends_with("\n\n")) text += '\n';

  const std::string notes = write_notes(report, context.page, options.verbose);
  if (!notes.empty()) text += notes + '\n';

  // Never wrapped: it is one line for people and for `tail -n 1`.
  return text + context.page.paint(summary_line(report), Tone::strong) + '\n';
}

}  // namespace plumb
