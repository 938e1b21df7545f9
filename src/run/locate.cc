#include "run/locate.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "run/closing_brace.h"
#include "run/next_statement.h"
#include "run/trace_report.h"
#include "trace/variables.h"

namespace plumb {

namespace {

// Addresses of the trace are one past the instruction.
std::uint64_t pc_of(const TraceAddress& address) { return address.offset - 1; }

// A piece of code that ran: its instructions are in one function.
struct Stretch {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

// Registers that a function leaves as they were: its callers' are in them, too.
bool is_kept(unsigned number) {
  return number == 3 || number == 6 || (number >= 12 && number <= 15);
}

class Locating {
 public:
  Locating(const SeenLoss& seen, Symboliser& symbols) : seen_(seen), symbols_(symbols) {}

  Loss run() {
    Loss loss;
    loss.cause = seen_.cause;
    // A result that nobody looked at was dropped by the caller; but what is in
    // the register for results may just have been left there.
    if (seen_.returned && seen_.stack.size() > 1 && may_be_result(seen_.stack.front())) {
      loss.cause = Cause::discarded;
      loss.stack = named_stack({seen_.stack.begin() + 1, seen_.stack.end()}, symbols_);
      return loss;
    }
    loss.stack = named_stack(seen_.stack, symbols_);
    find_holder();
    if (holder_) {
      loss.holder = Holder{holder_->name, holder_->type, holder_->storage, {}, {}};
    }
    if (loss.cause == Cause::holder_freed) skip_deleting_destructors(loss.stack);
    switch (seen_.place.kind) {
      case PLUMB_PLACE_STACK:
        if (loss.cause == Cause::escaped_throw && seen_.place.frame == 0) {
          place_throw(loss);
        } else {
          place_in_frame(loss);
        }
        break;
      case PLUMB_PLACE_REGISTERS:
        if (loss.cause == Cause::escaped_throw) {
          place_throw(loss);
        } else {
          place_in_register(loss);
        }
        break;
      default:
        break;
    }
    if (loss.cause == Cause::scope_end || loss.cause == Cause::discarded) put_not_before_use(loss);
    if (loss.cause == Cause::scope_end) put_behind_use(loss);
    return loss;
  }

 private:
  bool may_be_result(const TraceAddress& address) {
    if (!address.module) return true;
    return symbols_.may_return_pointer({*address.module, address.offset, true}).value_or(true);
  }

  bool is_library(const TraceAddress& address) const {
    return address.module && is_system_library(symbols_.modules()[address.module->index].path);
  }

  // Of the frame's module; null when nothing is known about it.
  Variables* variables_at(std::size_t frame) {
    if (frame >= seen_.stack.size() || !seen_.stack[frame].module) return nullptr;
    return symbols_.variables(*seen_.stack[frame].module);
  }

  void find_holder() {
    const TracePlace& place = seen_.place;
    switch (place.kind) {
      case PLUMB_PLACE_STACK:
        if (place.frame != 0) find_through(1);
        if (Variables* variables = variables_at(place.frame); !holder_ && variables != nullptr) {
          holder_ = variables->on_stack(pc_of(seen_.stack[place.frame]), place.offset);
        }
        break;
      case PLUMB_PLACE_REGISTERS:
        if (Variables* variables = variables_at(0); variables != nullptr) {
          if (!seen_.trail.empty() && seen_.trail.front().module == seen_.stack.front().module) {
            holder_ = variables->in_registers(pc_of(seen_.trail.front()), place.registers);
          }
          if (!holder_) {
            holder_ = variables->in_registers(pc_of(seen_.stack.front()), place.registers);
          }
        }
        break;
      case PLUMB_PLACE_WORD:
        find_word();
        break;
      default:
        break;
    }
  }

  void find_word() {
    if (const TraceAddress& word = seen_.place.word; word.module) {
      find_through(1);
      Variables* variables = symbols_.variables(*word.module);
      if (!holder_ && variables != nullptr) holder_ = variables->globals().at(word.offset);
      return;
    }
    if (seen_.place.offset != 0) {
      for (std::size_t i = 0; i < seen_.stack.size() && !holder_; ++i) {
        Variables* variables = variables_at(i);
        if (variables != nullptr) holder_ = variables->globals().in_thread_at(seen_.place.offset);
      }
      return;
    }
    find_through(seen_.stack.size());
  }

  // The name that the code had for it which worked on it: through a pointer of
  // one of the program's innermost frames.
  void find_through(std::size_t innermost) {
    std::size_t first = 0;
    while (first < seen_.stack.size() && is_library(seen_.stack[first])) ++first;
    innermost += first;
    for (const PlumbAlias& alias : seen_.place.aliases) {
      if (alias.frame >= innermost) continue;
      const bool in_register = alias.in_register != PLUMB_ALIAS_IN_MEMORY;
      const std::size_t frames =
          in_register && is_kept(alias.in_register) ? std::min<std::size_t>(innermost, 3) : 1;
      for (std::size_t i = 0; i < frames && !holder_; ++i) {
        if (alias.frame + i < first) continue;
        Variables* variables = variables_at(alias.frame + i);
        if (variables == nullptr) continue;
        holder_ = variables->through(pc_of(seen_.stack[alias.frame + i]), alias);
      }
      if (holder_) return;
    }
  }

  // Frames at an instruction, from the source function on that has the variable.
  std::optional<Stack> frames_of_holder(std::uint64_t pc, bool is_return) {
    return frames_from(pc, is_return, variables_at(0)->frames_inside(*holder_, pc));
  }
  // The same without the first ones.
  std::optional<Stack> frames_from(std::uint64_t pc, bool is_return,
                                   std::optional<std::size_t> inside) {
    if (!inside) return std::nullopt;
    const std::vector<Frame>& frames =
        symbols_.frames({*seen_.stack.front().module, is_return ? pc + 1 : pc, is_return});
    if (*inside >= frames.size()) return std::nullopt;
    return Stack(frames.begin() + static_cast<std::ptrdiff_t>(*inside), frames.end());
  }

  // Puts these in place of the innermost machine frame's.
  void put_innermost(Stack frames, Loss& loss) {
    Stack rest = named_stack({seen_.stack.begin() + 1, seen_.stack.end()}, symbols_);
    frames.insert(frames.end(), rest.begin(), rest.end());
    loss.stack = std::move(frames);
  }

  bool put_scope_end(Loss& loss) {
    const std::optional<std::uint64_t> end = variables_at(0)->scope_end(*holder_);
    if (!end) return false;
    std::optional<Stack> frames = frames_of_holder(*end, false);
    if (!frames) return false;
    put_innermost(std::move(*frames), loss);
    return true;
  }

  // Where the same machine frame used it last, or called what did; null: it did not.
  const TraceAddress* used_here() {
    const std::size_t outer = seen_.stack.size() - 1;
    if (seen_.use.size() <= outer || !seen_.stack.front().module) return nullptr;
    const TraceAddress& use = seen_.use[seen_.use.size() - 1 - outer];
    if (variables_at(0) == nullptr || use.module != seen_.stack.front().module ||
        !std::ranges::equal(seen_.use.end() - static_cast<std::ptrdiff_t>(outer), seen_.use.end(),
                            seen_.stack.begin() + 1, seen_.stack.end())) {
      return nullptr;
    }
    return &use;
  }

  // The loss came behind the last use: of a source function that used it on a later line, it
  // is there.
  void put_not_before_use(Loss& loss) {
    const TraceAddress* address = used_here();
    if (address == nullptr) return;
    const Stack rest = named_stack({seen_.stack.begin() + 1, seen_.stack.end()}, symbols_);
    if (loss.stack.size() <= rest.size()) return;
    const Stack use = symbols_.frames({*address->module, address->offset, true});
    // From the outermost inwards, as long as they are in the same calls.
    std::size_t of_loss = loss.stack.size() - rest.size();
    std::size_t of_use = use.size();
    while (of_loss != 0 && of_use != 0) {
      const Frame& lost = loss.stack[--of_loss];
      const Frame& used = use[--of_use];
      if (lost.function != used.function || lost.file != used.file || !lost.line || !used.line) {
        return;
      }
      if (*used.line == *lost.line) continue;
      if (*used.line > *lost.line) {
        put_innermost(Stack(use.begin() + static_cast<std::ptrdiff_t>(of_use), use.end()), loss);
        loss.cause = Cause::scope_end;
      }
      return;
    }
  }

  // A scope that ended where the block was used last, as far as the code tells: what the
  // source does next was left out by the optimiser.
  void put_behind_use(Loss& loss) {
    if (loss.stack.empty() || !loss.stack.front().line) return;
    const TraceAddress* address = used_here();
    if (address == nullptr) return;
    Frame& lost = loss.stack.front();
    const Stack use = symbols_.frames({*address->module, address->offset, true});
    const bool same = std::ranges::any_of(use, [&](const Frame& frame) {
      return frame.function == lost.function && frame.file == lost.file && frame.line == lost.line;
    });
    if (!same) return;
    const std::optional<std::uint32_t> next = next_statement(sources_, lost.file, *lost.line);
    if (!next) return;
    lost.line = *next;
    lost.column.reset();
  }

  // The same machine frame used it last inside a call that was inlined: compilers
  // do not always say where variables of such a call are.
  void place_by_use(Loss& loss) {
    const TraceAddress* address = used_here();
    if (address == nullptr) return;
    const TraceAddress& use = *address;
    Variables* variables = variables_at(0);
    const auto end = variables->inlined_end(pc_of(use));
    if (!end) return;
    const std::vector<Frame>& frames = symbols_.frames({*use.module, end->first, false});
    if (end->second >= frames.size()) return;
    put_innermost(Stack(frames.begin() + static_cast<std::ptrdiff_t>(end->second), frames.end()),
                  loss);
  }

  void place_in_frame(Loss& loss) {
    if (!holder_ && loss.cause == Cause::scope_end) place_by_use(loss);
    if (!holder_ || seen_.place.frame != 0) return;
    if (loss.cause == Cause::scope_end) {
      const std::uint64_t pc = pc_of(seen_.stack.front());
      // Of something inlined whose result nobody took.
      std::optional<Stack> frames =
          frames_from(pc, true, variables_at(0)->frames_given(*holder_, pc));
      if (frames) {
        put_innermost(std::move(*frames), loss);
        loss.cause = Cause::discarded;
        return;
      }
      frames = frames_of_holder(pc, true);
      if (frames) {
        put_closing_brace(pc, frames->front());
        put_innermost(std::move(*frames), loss);
        return;
      }
      // It was inlined, and is over; whoever got its result had the last look.
      const std::optional<std::size_t> after = variables_at(0)->frames_after(*holder_, pc);
      frames = frames_from(pc, true, after);
      if (frames) {
        put_next_line(pc, *after, *frames);
        put_innermost(std::move(*frames), loss);
      } else {
        put_scope_end(loss);
      }
    } else if (loss.cause == Cause::overwritten && loss.stack.front().line &&
               variables_at(0)->is_inner_declaration(*holder_, *loss.stack.front().line)) {
      // Made anew by the next round of a loop: this one's scope had ended.
      if (put_scope_end(loss)) loss.cause = Cause::scope_end;
    }
  }

  // The end of the holder's block, if this is its last instruction.
  void put_closing_brace(std::uint64_t pc, Frame& frame) {
    const std::optional<std::uint32_t> declared = variables_at(0)->ends_block(*holder_, pc);
    if (!declared) return;
    const std::optional<std::uint32_t> brace = closing_brace(sources_, frame.file, *declared);
    if (!brace || !frame.line || *brace < *frame.line) return;
    frame.line = *brace;
    frame.column.reset();
  }

  // The statement behind this instruction, if the next few have one.
  void put_next_line(std::uint64_t pc, std::size_t inside, Stack& frames) {
    constexpr std::uint64_t kFew = 24;
    if (!frames.front().line) return;
    const auto next =
        variables_at(0)->next_line(pc, inside, *frames.front().line, {{pc + 1, pc + 1 + kFew}});
    if (!next) return;
    frames.front().line = static_cast<std::uint32_t>(*next);
    frames.front().column.reset();
  }

  std::vector<Stretch> stretches() const {
    std::vector<Stretch> result;
    for (std::size_t i = 0; i + 1 < seen_.trail.size(); i += 2) {
      if (seen_.trail[i].module != seen_.stack.front().module ||
          seen_.trail[i + 1].module != seen_.trail[i].module) {
        break;
      }
      result.push_back({pc_of(seen_.trail[i]), pc_of(seen_.trail[i + 1])});
    }
    return result;
  }

  // Where the innermost function allocated it, or called what did; nothing when it came
  // from elsewhere.
  std::optional<std::uint64_t> allocated_here() {
    const std::size_t outer = seen_.stack.size() - 1;
    if (variables_at(0) == nullptr || seen_.allocation.size() <= outer) return std::nullopt;
    const TraceAddress& came = seen_.allocation[seen_.allocation.size() - 1 - outer];
    if (came.module != seen_.stack.front().module ||
        !std::ranges::equal(seen_.allocation.end() - static_cast<std::ptrdiff_t>(outer),
                            seen_.allocation.end(), seen_.stack.begin() + 1, seen_.stack.end())) {
      return std::nullopt;
    }
    return pc_of(came);
  }

  // How many of the frames at the last read were inlined calls that did not have
  // the block from the beginning, and only looked at it.
  std::size_t frames_looking() {
    const std::optional<std::uint64_t> came = allocated_here();
    if (!seen_.not_stored || !came) return 0;
    return variables_at(0)->frames_looking(pc_of(seen_.stack.front()), *came);
  }

  // Of inlined calls that made it and whose result is a pointer it was the result, if they
  // were the last to have it: the caller dropped it.
  bool put_discarded(Loss& loss) {
    const std::optional<std::uint64_t> came = allocated_here();
    if (!came) return false;
    const std::uint64_t read = pc_of(seen_.stack.front());
    const std::size_t giving = variables_at(0)->frames_giving(read, *came);
    if (giving == 0) return false;
    if (holder_ && variables_at(0)->frames_inside(*holder_, read).value_or(0) >= giving) {
      return false;
    }
    std::optional<Stack> frames = frames_from(read, true, giving);
    if (!frames) return false;
    put_innermost(std::move(*frames), loss);
    loss.cause = Cause::discarded;
    return true;
  }

  // Without inlined calls that did not have it: what they threw went through the one that
  // had.
  void place_throw(Loss& loss) {
    if (!seen_.stack.front().module || variables_at(0) == nullptr) return;
    const std::uint64_t pc = pc_of(seen_.stack.front());
    std::optional<Stack> frames;
    if (holder_ && holder_->function != 0) frames = frames_of_holder(pc, true);
    if (const auto came = allocated_here(); !frames && came) {
      const std::size_t without = variables_at(0)->frames_without(pc, *came);
      frames = frames_from(pc, true, without);
      // Nothing that was inlined here had it: it was over before, in what used it last.
      const TraceAddress* use = used_here();
      if (frames && frames->size() == 1 && without != 0 && use != nullptr) {
        const std::size_t inside = variables_at(0)->frames_without(pc_of(*use), *came);
        std::optional<Stack> used = frames_from(pc_of(*use), true, inside);
        if (used && used->size() > 1) {
          put_next_line(pc_of(*use), inside, *used);
          loss.cause = Cause::scope_end;
          frames = std::move(used);
        }
      }
    }
    if (frames) put_innermost(std::move(*frames), loss);
  }

  // What freed it is written by the compiler where the source has `delete`.
  void skip_deleting_destructors(Stack& stack) const {
    const auto found = std::ranges::find_if(stack, [](const Frame& frame) { return !!frame.line; });
    if (found == stack.end() || found + 1 == stack.end()) return;
    // Of one that was inlined only the object's type tells.
    const std::size_t end = found->function.find("::~");
    const bool own = found->inlined && end != std::string::npos && holder_ &&
                     holder_->type == found->function.substr(0, end) + " *";
    if (!found->linkage.ends_with("D0Ev") && !own) return;
    stack.erase(stack.begin(), found + 1);
  }

  void place_in_register(Loss& loss) {
    if (!seen_.last_read || !seen_.stack.front().module) return;
    const std::vector<Stretch> trail = stretches();
    if (put_discarded(loss)) return;
    // A variable of a function that was over when the block was read.
    if (holder_ && !frames_of_holder(pc_of(seen_.stack.front()), true)) {
      holder_.reset();
      loss.holder.reset();
    }
    if (!holder_) {
      step_behind(trail, loss);
    } else if (!put_where_set(trail, loss) && !put_set_by_read(loss)) {
      put_end_of_trail(trail, loss);
    }
    if (seen_.thrown && loss.cause == Cause::scope_end) loss.cause = Cause::escaped_throw;
  }

  bool put_where_set(const std::vector<Stretch>& trail, Loss& loss) {
    for (std::size_t i = 0; i < trail.size(); ++i) {
      // Right behind the read, registers still have the old value.
      const std::optional<std::uint64_t> behind =
          i == 0 ? variables_at(0)->set_between(*holder_, trail[i].first, trail[i].last, true)
                 // A call's result is there when the code behind it begins.
                 : variables_at(0)->set_between(*holder_, trail[i].first - 1, trail[i].last, false);
      if (!behind) continue;
      const std::uint64_t setter = *behind - 1;
      std::optional<Stack> frames =
          frames_from(setter, true, variables_at(0)->frames_of_setter(*holder_, setter));
      if (!frames) continue;
      put_innermost(std::move(*frames), loss);
      loss.cause = Cause::overwritten;
      return true;
    }
    return false;
  }

  // What read it last put its result into the same variable, in the same statement.
  bool put_set_by_read(Loss& loss) {
    std::optional<Stack> frames = frames_of_holder(pc_of(seen_.stack.front()), true);
    if (!frames || !frames->front().line ||
        !sets_from_itself(sources_, frames->front().file, *frames->front().line, holder_->name)) {
      return false;
    }
    put_innermost(std::move(*frames), loss);
    loss.cause = Cause::overwritten;
    return true;
  }

  // The last that ran of the function that had it.
  void put_end_of_trail(const std::vector<Stretch>& trail, Loss& loss) {
    const std::uint64_t read = pc_of(seen_.stack.front());
    std::optional<Stack> best = frames_of_holder(read, true);
    for (const Stretch& stretch : trail) {
      for (const std::uint64_t pc : {stretch.first, stretch.last}) {
        std::optional<Stack> frames = frames_of_holder(pc, false);
        if (!frames || !frames->front().line ||
            !variables_at(0)->is_own_line(*holder_, *frames->front().line)) {
          continue;
        }
        if (!best || !best->front().line || *frames->front().line >= *best->front().line) {
          best = std::move(frames);
        }
      }
    }
    if (!best) return;
    // A statement that follows and of which nothing is left is where it ended, if anything is.
    const std::optional<std::size_t> inside = variables_at(0)->frames_inside(*holder_, read);
    const std::optional<Stack> at_read = frames_of_holder(read, true);
    if (inside && at_read && at_read->front().line) {
      if (const auto next =
              variables_at(0)->next_line(read, *inside, *at_read->front().line, ran(trail));
          next) {
        best = at_read;
        best->front().line = static_cast<std::uint32_t>(*next);
        best->front().column.reset();
      }
    }
    put_innermost(std::move(*best), loss);
  }

  static std::vector<CodeRange> ran(const std::vector<Stretch>& trail) {
    std::vector<CodeRange> ranges;
    for (std::size_t i = 0; i < trail.size(); ++i) {
      // The first begins with the read itself.
      ranges.push_back({i == 0 ? trail[i].first + 1 : trail[i].first, trail[i].last + 1});
    }
    return ranges;
  }

  // The place where nothing refers to it any more is behind the last read, if
  // that is a later line of the same function. When there is none, and what read it
  // only looked at its object, the block is the caller's.
  void step_behind(const std::vector<Stretch>& trail, Loss& loss) {
    const TraceAddress& address = seen_.stack.front();
    Stack read = symbols_.frames({*address.module, address.offset, true});
    // The C++ library's own functions work for whoever called them.
    while (read.size() > 1 && read.front().file.find("/include/c++/") != std::string::npos) {
      read.erase(read.begin());
    }
    if (put_later_line(trail, read, loss)) return;
    const std::size_t looking = frames_looking();
    if (looking == 0 || looking >= read.size()) return;
    read.erase(read.begin(), read.begin() + static_cast<std::ptrdiff_t>(looking));
    if (!put_later_line(trail, read, loss)) put_innermost(std::move(read), loss);
  }

  bool put_later_line(const std::vector<Stretch>& trail, const Stack& read, Loss& loss) {
    const TraceAddress& address = seen_.stack.front();
    const std::vector<Frame>& there = symbols_.frames({*address.module, address.offset, true});
    if (Variables* variables = variables_at(0);
        variables != nullptr && read.front().line && there.size() >= read.size()) {
      std::optional<std::uint64_t> line = variables->next_line(
          pc_of(address), there.size() - read.size(), *read.front().line, ran(trail));
      // What comes first in the source, if the optimiser left nothing of it.
      if (const auto next = next_statement(sources_, read.front().file, *read.front().line);
          next && (!line || *next < *line)) {
        line = *next;
      }
      if (line) {
        Stack frames = read;
        frames.front().line = static_cast<std::uint32_t>(*line);
        frames.front().column.reset();
        put_innermost(std::move(frames), loss);
        return true;
      }
    }
    std::vector<std::uint64_t> next = {address.offset};
    for (std::size_t i = 0; i < trail.size(); ++i) {
      if (i != 0) next.push_back(trail[i].first);
      next.push_back(trail[i].last);
    }
    for (const std::uint64_t pc : next) {
      const std::vector<Frame>& all = symbols_.frames({*address.module, pc, false});
      if (all.size() < read.size()) continue;
      // Of a call that was inlined, the call itself.
      const Stack frames(all.end() - static_cast<std::ptrdiff_t>(read.size()), all.end());
      const bool same = std::ranges::equal(read, frames, {}, &Frame::function, &Frame::function) &&
                        read.front().file == frames.front().file;
      if (!same || !read.front().line || !frames.front().line ||
          *frames.front().line <= *read.front().line) {
        continue;
      }
      put_innermost(frames, loss);
      return true;
    }
    return false;
  }

  const SeenLoss& seen_;
  Symboliser& symbols_;
  std::optional<FoundVariable> holder_;
  SourceCache sources_;
};

}  // namespace

Loss locate(const SeenLoss& seen, Symboliser& symbols) { return Locating(seen, symbols).run(); }

}  // namespace plumb
