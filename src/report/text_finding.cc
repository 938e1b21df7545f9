#include "report/text_finding.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "report/text_cells.h"
#include "report/text_excerpt.h"
#include "report/text_path.h"
#include "report/text_stack.h"
#include "report/text_words.h"

namespace plumb {

namespace {

constexpr std::size_t kNarrowest = 20;  // columns; nothing can be laid out in less
constexpr std::size_t kDetail = 2;      // indentation of what follows the headline
constexpr std::size_t kWrapped = 6;     // and of its continuation lines
constexpr std::size_t kSiblingPlaces = 3;
constexpr std::size_t kHolders = 3;
constexpr std::size_t kBurst = 5;  // points of the way to the last use

std::string current_directory() {
  std::error_code error;
  const std::filesystem::path here = std::filesystem::current_path(error);
  return error ? std::string() : here.string();
}

// What the finding starts with.
struct Start {
  const Frame* frame = nullptr;
  Place place = Place::unknown;
};

Start start_of(const Leak& leak, const Report& report) {
  if (leak.loss) {
    if (const Lead lead = lead_of(leak.loss->stack, report); lead.frame != nullptr) {
      return {lead.frame, Place::loss};
    }
  }
  if (!leak.path.empty()) return {&leak.path.back().location, Place::path_end};
  if (const Lead lead = lead_of(leak.allocation.stack, report); lead.frame != nullptr) {
    return {lead.frame, Place::allocation};
  }
  return {};
}

// "operator new[]" -> "new", "__strdup" -> "strdup": the word that a source line
// would have.
std::string_view source_word(std::string_view api) {
  const std::string_view name = api.substr(0, api.find('['));
  const std::string_view word = name.substr(name.rfind(' ') + 1);  // npos + 1 is 0
  return word.substr(std::min(word.find_first_not_of('_'), word.size()));
}

class Writer {
 public:
  Writer(const Leak& leak, TextContext& context)
      : leak_(leak), context_(context), start_(start_of(leak, context.report)) {}

  std::string headline(const Page& page) {
    const Places& places = context_.places;
    Paragraph line(0, 4);
    line.glue(start_.frame != nullptr ? places.column(*start_.frame) : "?", Tone::strong);
    line.glue(": ");
    line.add(fmt::format("leak[{}]", name_of(leak_.kind)), tone_of(leak_.kind));
    // However long the path: kind and amount are on the line that starts with
    // it, for `grep`.
    const std::string sentence = sentence_of(leak_, context_.report.tool.engine, start_.place);
    const std::size_t two_words =
        std::min(sentence.find(' ', sentence.find(' ') + 1), sentence.size());
    line.glue(": " + sentence.substr(0, two_words)).add(sentence.substr(two_words));
    line.add(qualifiers_of(leak_));
    return line.render(page);
  }

  std::string whole() {
    text_ = headline(context_.page);
    if (leak_.hidden()) detail(hidden_reason(leak_), Tone::faint);
    indirect();
    gather_marks();
    if (start_.frame != nullptr) text_ += excerpt_of(start_.frame->file);
    if (start_.place == Place::loss) stack_detail("lost", leak_.loss->stack, Place::loss);
    path();
    allocation();
    last_use();
    holders();
    frees();
    if (leak_.age) detail(age_line(*leak_.age));
    window();
    fix();
    if (context_.verbose) facts();
    if (!leak_.id.empty()) detail("id " + printable(leak_.id), Tone::faint);
    return std::move(text_);
  }

  std::string terse() {
    text_ = headline(context_.page);
    if (leak_.hidden()) detail(hidden_reason(leak_), Tone::faint);
    Paragraph line(kDetail, kWrapped);
    const std::vector<const Frame*> frames = frames_of(leak_.allocation.stack);
    if (const Lead lead = find_lead(leak_.allocation.stack); lead.through != nullptr) {
      line.add("through " + context_.places.function(*lead.through));
    }
    add_chain(line, frames, context_.places, room());
    if (!leak_.id.empty()) {
      if (!frames.empty()) line.add(",", Tone::faint).add(" ");
      line.glue("id " + printable(leak_.id), Tone::faint);
    }
    if (!frames.empty() || !leak_.id.empty()) text_ += line.render(context_.page);
    return std::move(text_);
  }

 private:
  struct Marked {
    std::string file;  // as the report has it
    Mark mark;
  };

  void detail(const std::string& text, Tone tone = Tone::plain) {
    if (text.empty()) return;
    text_ += Paragraph(kDetail, kWrapped).add(text, tone).render(context_.page);
  }

  void indirect() {
    if (leak_.indirect.blocks == 0 && leak_.indirect.bytes == 0) return;
    // The static engine knows the blocks and not their sizes.
    const std::string bytes =
        leak_.indirect.bytes > 0 ? ", " + count_of(leak_.indirect.bytes, "byte") : "";
    detail(fmt::format("and {}{} that only {} held", count_of(leak_.indirect.blocks, "block"),
                       bytes, leak_.direct.blocks > 1 ? "they" : "it"));
  }

  void add_mark(const Frame* frame, std::string label, Tone tone) {
    if (frame == nullptr || frame->file.empty() || frame->line.value_or(0) == 0) return;
    marks_.push_back({frame->file, Mark{*frame->line, frame->column, std::move(label), tone}});
  }

  void gather_marks() {
    const Lead allocated = find_lead(leak_.allocation.stack);
    add_mark(allocated.frame, leak_.resource == "memory" ? "allocated here" : "acquired here",
             Tone::allocation);
    if (leak_.last_use) {
      const std::string what =
          leak_.last_use->what ? fmt::format(" ({})", name_of(*leak_.last_use->what)) : "";
      add_mark(find_lead(leak_.last_use->stack).frame, "last used here" + what, Tone::use);
    }
    if (start_.place == Place::loss) {
      add_mark(start_.frame, loss_mark(*leak_.loss), Tone::lost);
    } else if (start_.place == Place::path_end) {
      const bool freed = leak_.kind == Kind::double_free || leak_.kind == Kind::mismatched_free;
      add_mark(start_.frame,
               leak_.loss ? loss_mark(*leak_.loss)
               : freed    ? "freed here"
                          : "lost here",
               Tone::lost);
    }
  }

  // The marks of a file, unless they were shown already.
  std::string excerpt_of(const std::string& file) {
    std::vector<Mark> here;
    for (const Marked& marked : marks_) {
      if (marked.file == file) here.push_back(marked.mark);
    }
    std::erase_if(marks_, [&](const Marked& marked) { return marked.file == file; });
    const std::string readable = here.empty() ? std::string() : context_.places.readable(file);
    if (readable.empty()) return {};
    return write_excerpt(context_.sources, readable, std::move(here), context_.page);
  }

  // True when the reader sees the call in the quoted line anyway.
  bool source_shows(const Frame& frame, std::string_view word) {
    const std::string readable = context_.places.readable(frame.file);
    if (readable.empty() || word.empty()) return false;
    return context_.sources.line(readable, frame.line.value_or(0)).find(word) !=
           std::string_view::npos;
  }

  // "VERB at server.c:51 in grow <- handle (server.c:60) <- main (...)", and
  // the source if it is in another file; whole stacks when verbose.
  void stack_detail(const std::string& verb, const Stack& stack, Place place) {
    const Lead lead = find_lead(stack);
    if (lead.frame == nullptr) return;
    const Places& places = context_.places;
    const bool at_start = place == start_.place;
    Paragraph line(kDetail, kWrapped);
    line.add(verb);
    if (context_.verbose) {
      line.add(at_start ? " here:" : ":");
      text_ += line.render(context_.page);
      text_ += write_frames(stack, places, context_.page, kDetail + 2);
    } else {
      const std::string where = places.line(*lead.frame);
      if (!at_start) line.add(" at ").add(fit(where), Tone::strong);
      if (at_start || places.function(*lead.frame) != where) {
        add_chain(line, new_frames(stack, place), places, room());
      }
      text_ += line.render(context_.page);
    }
    text_ += excerpt_of(lead.frame->file);
  }

  // The frames worth telling: the callers of the last use are as a rule those
  // of the loss, which the reader has just seen.
  std::vector<const Frame*> new_frames(const Stack& stack, Place place) const {
    std::vector<const Frame*> frames = frames_of(stack);
    if (place != Place::unknown || start_.place != Place::loss) return frames;
    const auto same = [](const Frame* a, const Frame* b) { return a->function == b->function; };
    if (std::ranges::equal(frames, frames_of(leak_.loss->stack), same)) frames.resize(1);
    return frames;
  }

  void allocation() {
    const Lead lead = find_lead(leak_.allocation.stack);
    if (lead.frame == nullptr) return;
    std::string verb = leak_.resource == "memory" ? "allocated" : "acquired";
    const std::string& api = leak_.allocation.api;
    if (lead.through != nullptr && !context_.verbose) {
      verb += " by " + (api.empty() ? "a call" : printable(api)) + " through " +
              context_.places.function(*lead.through);
    } else if (!api.empty() && !source_shows(*lead.frame, source_word(api))) {
      verb += " by " + printable(api);
    }
    stack_detail(verb, leak_.allocation.stack, Place::allocation);
  }

  void last_use() {
    if (!leak_.last_use) return;
    const auto& what = leak_.last_use->what;
    const std::string verb = what ? fmt::format("last used ({})", name_of(*what)) : "last used";
    stack_detail(verb, leak_.last_use->stack, Place::unknown);
    if (!leak_.last_use->burst.empty()) burst(leak_.last_use->burst);
  }

  // Not a stack: where the program came by, before it came there.
  void burst(const Stack& points) {
    Paragraph line(kDetail, kWrapped);
    line.add("after passing ");
    const std::size_t shown = context_.verbose ? points.size() : std::min(kBurst, points.size());
    for (std::size_t i = 0; i < shown; ++i) {
      if (i != 0) line.add(", ");
      line.add(context_.places.function(points[i]));
      if (points[i].line) line.add(fmt::format(" ({})", context_.places.line(points[i])));
    }
    if (shown < points.size()) line.add(", ...");
    text_ += line.render(context_.page);
  }

  void path() { text_ += write_path(leak_.path, context_.places, context_.page, context_.verbose); }

  void holders() {
    const std::size_t shown =
        context_.verbose ? leak_.holders.size() : std::min(kHolders, leak_.holders.size());
    for (std::size_t i = 0; i < shown; ++i) {
      const Holder& holder = leak_.holders[i];
      Paragraph line(kDetail, kWrapped);
      line.add("held by ").add(printable(holder.name.empty() ? "?" : holder.name), Tone::strong);
      if (!holder.storage.empty()) line.add(" (" + printable(holder.storage) + ")");
      for (std::size_t k = 0; k < holder.chain.size(); ++k) {
        line.add(k == 0 ? ": " : " -> ", Tone::faint).add(printable(holder.chain[k]));
      }
      text_ += line.render(context_.page);
    }
    if (shown < leak_.holders.size()) {
      detail(fmt::format("and by {} more", leak_.holders.size() - shown));
    }
  }

  void frees() {
    const std::size_t shown =
        context_.verbose ? leak_.frees.size() : std::min(kSiblingPlaces, leak_.frees.size());
    for (std::size_t i = 0; i < shown; ++i) {
      const SiblingFree& sibling = leak_.frees[i];
      const Lead lead = find_lead(sibling.stack);
      if (lead.frame == nullptr) continue;
      const std::string where = context_.places.line(*lead.frame);
      const std::string function = context_.places.function(*lead.frame);
      Paragraph line(kDetail, kWrapped);
      line.add("freed elsewhere at ").add(fit(where), Tone::strong);
      if (function != where) line.add(" in ").add(function);
      if (sibling.blocks > 0) line.add(fmt::format(" ({})", count_of(sibling.blocks, "block")));
      text_ += line.render(context_.page);
      if (context_.verbose) {
        text_ += write_frames(sibling.stack, context_.places, context_.page, kDetail + 2);
      }
    }
    if (shown < leak_.frees.size()) {
      detail(fmt::format("and freed in {}", count_of(leak_.frees.size() - shown, "more place")));
    }
  }

  void window() {
    if (leak_.window.empty()) return;
    const std::string first = fit(context_.places.line(leak_.window.front()));
    const std::string last = fit(context_.places.line(leak_.window.back()));
    detail(first == last ? "fix window: " + first
                         : fmt::format("fix window: {} .. {}", first, last));
  }

  void fix() {
    if (!leak_.fix || leak_.fix->text.empty()) return;
    Paragraph line(kDetail, kWrapped);
    line.add("suggestion: ", Tone::help).add(printable(leak_.fix->text));
    if (leak_.fix->place && (start_.frame == nullptr || *leak_.fix->place != *start_.frame)) {
      const std::string where = context_.places.line(*leak_.fix->place);
      if (leak_.fix->text.find(where) == std::string::npos) line.add(" (" + fit(where) + ")");
    }
    text_ += line.render(context_.page);
  }

  // What is rarely wanted.
  void facts() {
    if (leak_.sizes && leak_.sizes->min != leak_.sizes->max) {
      detail(fmt::format("blocks of {} to {}", with_commas(leak_.sizes->min),
                         count_of(leak_.sizes->max, "byte")));
    }
    if (!leak_.loss || !leak_.loss->holder) return;
    const Holder& holder = *leak_.loss->holder;
    std::vector<std::string> words;
    for (const std::string* word : {&holder.type, &holder.storage}) {
      if (!word->empty()) words.push_back(printable(*word));
    }
    if (!words.empty()) {
      detail(fmt::format("last held by '{}': {}", printable(holder.name), fmt::join(words, ", ")));
    }
  }

  // A place in the middle of a line; the one at its start is never cut.
  std::string fit(const std::string& where) const {
    return context_.verbose ? where : shortened(where, room());
  }

  Lead find_lead(const Stack& stack) const { return lead_of(stack, context_.report); }
  std::vector<const Frame*> frames_of(const Stack& stack) const {
    return telling_frames(stack, context_.report);
  }

  // Columns of a continuation line.
  std::size_t room() const { return context_.page.width - kWrapped; }

  const Leak& leak_;
  TextContext& context_;
  Start start_;
  std::vector<Marked> marks_;
  std::string text_;
};

}  // namespace

TextContext::TextContext(const Report& the_report, const RenderOptions& options)
    : report(the_report),
      verbose(options.verbose),
      page{std::max<std::size_t>(options.width, kNarrowest), options.color},
      places(report, sources, current_directory(), options.verbose) {}

const Frame* start_frame(const Leak& leak, const Report& report) {
  return start_of(leak, report).frame;
}

std::string headline_of(const Leak& leak, TextContext& context) {
  const Page endless{std::numeric_limits<std::size_t>::max(), false};
  std::string line = Writer(leak, context).headline(endless);
  line.pop_back();
  return line;
}

std::string write_finding(const Leak& leak, TextContext& context) {
  return Writer(leak, context).whole();
}

std::string write_terse_finding(const Leak& leak, TextContext& context) {
  return Writer(leak, context).terse();
}

}  // namespace plumb
