// Runs one function on symbolic values.
//
// First once as a whole, all paths that meet merged: that gives the function's
// plain effect, the places where it gets a block, and the inputs that it frees,
// keeps or hands on. Then once for each such block, from where it comes to
// life, following that block alone. States are merged where paths meet only
// when the block is held by the same places: what decides the block's fate
// stays apart, all else is joined. So a run costs little more than a pass over
// the function, and the number of states does not grow with the number of
// blocks.
//
// A block is lost when no variable in scope, no value still in use and nothing
// that the caller can see leads to it. Reachability decides, not counting.
//
// The run is optimistic: what merging, a budget or unknown code makes unclear
// is taken as safe.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "check/model/program.h"
#include "check/summary/by_value.h"
#include "check/summary/export.h"
#include "check/summary/grounds.h"
#include "check/summary/library.h"
#include "check/summary/reads.h"
#include "check/summary/shape.h"
#include "check/summary/state.h"
#include "check/summary/summary.h"

namespace plumb::check {

struct Limits {
  unsigned states = 16;            // per block of a run
  unsigned cases = 6;              // per tracked block
  unsigned visits = 4;             // of a loop head, per state of the tracked block
  unsigned inputs = 12;            // tracked per function
  unsigned blocks = 8;             // handed out per function
  unsigned cells = 2000;           // known places per state
  std::uint64_t run_work = 20000;  // operations per run
  std::uint64_t work = 400000;     // operations per function
  bool oom = false;                // follow failed allocations
  bool globals = false;            // blocks that are parked in globals
  bool double_free = false;        // blocks that are freed again
  bool mismatched_free = false;    // blocks that are freed in another way than they were made
};

// The summaries that a run may look at. Others may be in the making on another
// thread: a call through a pointer can lead anywhere.
struct Known {
  const std::vector<Summary>& summaries;     // by FunctionId
  const std::vector<bool>& done;             // by FunctionId
  const std::vector<FunctionId>& component;  // of the function, sorted
  // What a function does without calling those of its component that have no way out
  // is being found out: such calls do not come back.
  bool first_round = false;
  Reads* reads = nullptr;  // takes down what was asked for

  bool is_own(FunctionId id) const {
    return std::binary_search(component.begin(), component.end(), id);
  }
  const Summary* find(FunctionId id) const {
    if (reads) reads->summaries.add(id.index);
    return done[id.index] || is_own(id) ? &summaries[id.index] : nullptr;
  }
};

enum class LossKind : std::uint8_t {
  overwritten,
  scope_end,
  returned,
  holder_freed,
  discarded,
  thrown,
  parked,
  freed_twice,
  freed_wrongly,
};

// What is wrong with a block: each is looked for, proved and reported by itself.
enum class Defect : std::uint8_t { leak, double_free, mismatched_free };
inline Defect defect_of(LossKind kind) {
  return kind == LossKind::freed_twice     ? Defect::double_free
         : kind == LossKind::freed_wrongly ? Defect::mismatched_free
                                           : Defect::leak;
}

// The place that held the last reference: `offset` bytes (if not negative) into
// what the operand is the address of. It gets its name when somebody asks.
struct LastHolder {
  Operand address;  // unknown: no name
  std::int64_t offset = -1;
};

// One step of a path.
struct TrailStep {
  std::uint32_t operation = 0;
  std::int8_t branch = -1;  // of a branch: 1 taken, 0 not taken; -1: a call
  Grounds rests = 0;        // of a path that was replayed: what is assumed here
  std::uint16_t way = 0;    // of a switch that takes a case: which one of its pool

  static constexpr std::int8_t kThrows = -2;  // a call that ends by an exception
};

enum class Verdict : std::uint8_t { undecided, proved, refuted };

struct Candidate {
  std::uint32_t function = 0;
  Origin origin;
  std::uint32_t operation = 0;  // where it is lost, as the source has it
  std::uint32_t lost_at = 0;    // the operation at which that was seen
  std::uint32_t used_at = 0;    // the last use before that; 0: none
  LossKind kind = LossKind::scope_end;
  std::string holder;
  std::vector<TrailStep> trail;
  bool merged = false;
  bool later = false;                 // only a round of a loop that is not the first loses it
  bool oom = false;                   // on a path where an allocation failed
  std::uint32_t parked = kNotParked;  // not lost: in this global, a ProgramSymbolId
  bool below = false;                 // in a block that the global has
  Verdict verdict = Verdict::undecided;
  std::uint32_t freed_at = 0;  // freed twice: the operation of the first time
  FamilyId family = 0;         // freed wrongly: of the block,
  FamilyId freed_by = 0;       // and how it was freed
  // Lost with the block that holds it: where that one comes from.
  bool indirect = false;
  Origin held_by;
};

// The branches of a path, in the numbers of the function that was looked at first.
// `top` and `own` are for a body into which callees were put: what an operation is there,
// and whether it is the function's own.
struct Guide {
  std::vector<TrailStep> branches;
  const std::vector<std::uint32_t>* top = nullptr;
  const std::vector<bool>* own = nullptr;
};

// A body made for the analysis of several functions: its symbols are those of the
// program, not of a unit.
struct LinkedBody {
  const Function& body;
};

enum class ReplayEnd : std::uint8_t {
  stopped,    // by the one who asked
  exhausted,  // no other path, with loops run a few times
  truncated,  // there are more paths than the budget allows
};

// What a call passes for a parameter.
struct Passed {
  static constexpr std::uint32_t kNone = ~0u;
  Fact fact = {};
  std::uint32_t param = kNone;  // of the caller, when that is what is passed
};

// Called at a call of a function that is defined, once for each state that comes there.
using OnCall = std::function<void(std::uint32_t operation, FunctionId callee,
                                  const std::vector<Passed>& arguments)>;

// Called with what is known on a path that loses the block, all of it; true: stop.
using OnLoss = std::function<bool(const Values&, const State&, const Candidate&)>;

class FunctionRun {
 public:
  FunctionRun(const Program& program, const Library& library, const Known& known,
              FunctionId function, const Limits& limits);
  FunctionRun(const Program& program, const Library& library, const Known& known,
              FunctionId function, const LinkedBody& linked, const Limits& limits);

  // Candidates are appended.
  Summary run(std::vector<Candidate>& candidates);

  // Follows the block of `site` path by path, from the function's entry, without
  // merging states, as far as paths lead to one of the operations `goals`; those
  // with few decisions first.
  // `guide`: if it has branches, no other path is followed.
  ReplayEnd replay(const Origin& site, Defect defect, const std::vector<std::uint32_t>& goals,
                   const Guide& guide, const OnLoss& on_loss);

  // What is known of the parameters, by number: holds for replays.
  void suppose(std::vector<Fact> params) { supposed_ = std::move(params); }

  // All paths merged, for what they pass. False: some were not followed.
  bool follow_calls(const OnCall& on_call);

 private:
  // A call that hands out a block: block `inner` of the callee, or the
  // allocator's own.
  struct Site {
    std::uint32_t operation = 0;
    std::uint32_t callee = Origin::kNone;
    std::uint32_t inner = 0;
    auto operator<=>(const Site&) const = default;
  };

  class Instance;  // a callee's summary at a call

  // function_run.cc: which runs there are.
  void run_plain();
  void note_call(const State& state, std::uint32_t index, FunctionId callee,
                 const std::vector<ValueId>& arguments) const;
  void note_site(const Site& site, const State& before);
  void run_site(const Site& site, const State& before);
  void follow_site(const Site& site, State before);
  void follow_later_rounds(const Site& site);
  std::optional<Origin> made_further_down(const Site& site) const;
  void run_inputs();
  void run_input(ValueId input);
  void cut(Cut why) {
    summary_.cuts |= static_cast<std::uint8_t>(1u << static_cast<unsigned>(why));
  }

  // explore.cc: one run over the blocks.
  void begin();
  void explore();
  void process(BlockIndex block, std::vector<State> states, std::uint32_t from);
  void send(BlockIndex from, BlockIndex to, State state);
  bool enter_loop(BlockIndex block, State& state);
  void leave_round(BlockIndex block, State& state);
  bool mentions_round(ValueId id, std::uint32_t block, int depth) const;
  std::uint64_t key_of(const State& state, std::uint32_t at) const;  // entering block `at`
  std::uint32_t extend(std::uint32_t trail, std::uint32_t operation, int branch, Grounds rests = 0,
                       std::uint16_t way = 0);

  // replay.cc
  struct Replaying;
  bool is_over(const State& state) const;
  void decide_openly(bool open);  // whether the edge that is sent next was one of several
  void start_replayed(State state, std::uint32_t index, std::vector<State>& after);
  void send_replayed(BlockIndex from, BlockIndex to, State state);
  void replayed_loss(const State& state, const Candidate& candidate);

  // grounds.cc
  void note_results(const std::vector<State>& after, std::size_t from, std::uint32_t index,
                    bool made);
  void note_load(ValueId from, ValueId what);
  Grounds grounds_of(ValueId value, int depth = 0) const;

  // step.cc
  void step(State& state, std::uint32_t index, std::vector<State>& more);
  void finish(BlockIndex block, State state, std::uint32_t index);
  ValueId value(const State& state, Operand operand);
  ValueId phi(const State& state, const Operation& operation, BlockIndex from);

  // memory.cc
  ValueId load(State& state, ValueId pointer, std::uint32_t width);
  ValueId composed(const State& state, ValueId base, std::int64_t offset, std::uint32_t width);
  ValueId load_whole(State& state, ValueId from, std::uint32_t width);
  void store(State& state, ValueId pointer, std::uint32_t width, ValueId value);
  void copy(State& state, ValueId to, ValueId from, ValueId length);
  void fill(State& state, ValueId to, ValueId byte, ValueId length);
  void move(State& state, ValueId from, ValueId to);
  ValueId rebased(ValueId base, ValueId from, ValueId to);
  void free_value(State& state, ValueId value);
  void escape(State& state, ValueId value) { escape(state, std::span(&value, 1)); }
  void escape(State& state, std::span<const ValueId> values);
  void escape_value(State& state, ValueId value);
  void escape_what_is_in(const State& state, ValueId base);
  void escape_work(State& state);
  bool is_escaped(ValueId value) const {
    return value.index < escaped_.size() && escaped_[value.index] == escape_round_;
  }
  void havoc(State& state, ValueId value);
  void rewrite(State& state, ValueId value);
  void change(State& state, ValueId value);
  void overwrite(State& state, ValueId value);
  void blur_text(State& state, ValueId written);
  bool is_passed(const Value& base) const;
  bool is_outside(ValueId base) const;
  bool is_followed_in_global(const Value& base) const;
  bool is_foreign(ValueId base) const;
  void note_index(State& state, const Value& base);
  void note_access(State& state, ValueId pointer);
  ValueId initial(ValueId base, std::int64_t offset, std::uint32_t width);
  ValueId perhaps_focus(const State& state, ValueId base, std::int64_t offset, std::uint32_t width);

  // condition.cc
  bool assume(State& state, ValueId condition, bool truth);
  int decide(const State& state, ValueId condition);  // 1, 0, or -1 when open
  bool is_nonzero(const State& state, ValueId value) const;
  bool is_nonzero(const State& state, ValueId value, const Fact& known) const;
  bool may_have_failed(ValueId value) const;
  bool assume_fact(State& state, ValueId value, const Fact& fact);
  bool order(State& state, Code code, ValueId a, ValueId b);

  // meaning.cc: what a callee's result says of what it was given.
  unsigned signs_of(const State& state, ValueId value) const;  // a bit for each that it may have
  void add_meanings(const State& state, ValueId result);
  bool is_about_input(ValueId value) const;
  static ValueId in_caller(Instance& at_call, ValueId value);
  void promise(ValueId result, const std::vector<Meaning>& meanings, Instance& at_call);
  bool assume_all(State& state, const std::vector<Guard>& guards);
  bool assume_one(State& state, const std::vector<GuardSet>& ways);
  bool keep_promise(State& state, ValueId value);
  bool rules_out(const State& state, ValueId value, const Fact& fact);
  void narrow(const State& state, const std::vector<Meaning>& meanings, Instance& at_call,
              Fact& result);

  // call.cc: the states after the call are appended to `after`.
  void call(State state, std::uint32_t index, std::vector<State>& after);
  void call_library(State state, std::uint32_t index, const LibraryModel& model,
                    const std::vector<ValueId>& arguments, std::vector<State>& after);
  void call_unknown(State state, std::uint32_t index, const Declaration* declaration,
                    const std::vector<ValueId>& arguments, std::vector<State>& after);
  ProgramSymbolId class_of(const Operation& virtual_call) const;
  bool call_virtual(State& state, std::uint32_t index, const std::vector<ValueId>& arguments,
                    ValueId callee, std::vector<State>& after);
  void note_unknown(std::uint32_t symbol);      // it took the followed block
  bool learn_size(State& state, ValueId size);  // false: nothing is allocated
  void raise(State state, std::uint32_t index, std::uint32_t thrown);  // leaves the call
  ValueId block_from(const Site& site);     // a block that is not the focus
  void renew(State& state, ValueId block);  // a loop makes another one
  ValueId new_block(State& state, const Site& site);
  void forget_failure(State& state, ValueId block) const;
  std::vector<ValueId> arguments_of(const State& state, const Operation& o);

  // thread_call.cc
  const Summary* thread_function(ValueId function, FunctionId& id) const;
  bool run_thread(State& state, std::uint32_t index, const LibraryModel& model,
                  const std::vector<ValueId>& arguments, std::vector<State>& after);
  void join_thread(State& state, std::uint32_t index, ValueId thread, ValueId to);

  // container_call.cc: containers of pointers.
  void call_container(State state, std::uint32_t index, ContainerEffect effect,
                      const std::vector<ValueId>& arguments, std::vector<State>& after);
  ValueId load_element(const State& state, ValueId place, std::uint32_t width);
  void store_element(State& state, ValueId place, ValueId value);
  void take_elements(State& state, ValueId container, ValueId from);
  void give_up_elements(State& state, ValueId container);
  const Cell* content(const State& state, ValueId container);
  bool holds_followed(const State& state, ValueId container);
  int is_loop_over(const State& state, ValueId a, ValueId b);
  ValueId count_of(State& state, ValueId container);
  void forget_count(State& state, ValueId container);
  void forget_counts_at(State& state, ValueId base);

  // freed.cc: what is freed twice, or in another way than it was made.
  void release(State& state, std::uint32_t index, ValueId value, FamilyId family);
  void freed_by_callee(State& state, std::uint32_t index, const Case& taken);
  void free_again(const State& state, std::uint32_t index, FunctionId callee,
                  const std::vector<ValueId>& arguments);
  bool follows_freed(const State& state) const;
  bool is_seen(const State& state) const;
  void report_freed(const State& state, std::uint32_t index, LossKind kind, FamilyId by);

  // guarded_free.cc: what is freed on a condition.
  bool tells_of_field(ValueId id) const;
  bool tells_of_count(const State& state, ValueId condition) const;
  bool follow_plainly(State& state, std::uint32_t index);
  bool frees_focus(State& state, const Block& range);
  bool frees_argument(ValueId callee, std::size_t argument) const;
  bool presumes_spared(const State& state, Operand asked, BlockIndex frees, BlockIndex on);

  // apply.cc: a callee's summary at a call.
  void apply(State state, std::uint32_t index, FunctionId callee,
             const std::vector<ValueId>& arguments, std::vector<State>& after);
  // `is_part`: the callee is a member of a container that is a part of the followed block.
  void apply_summary(State state, std::uint32_t index, FunctionId callee,
                     const std::vector<ValueId>& arguments, bool is_part,
                     std::vector<State>& after);
  void leave_to_container(State& state, const std::vector<ValueId>& given) const;
  bool is_below(const Summary& summary, ValueId value, Instance& at_call) const;
  bool is_own_part(const Summary& summary, ValueId value, Instance& at_call) const;
  const Input* refused_holder(State& state, const Summary& summary, Instance& at_call) const;
  bool relies_on_keeping(const Input& input, const Case& taken, std::uint32_t index) const;
  void apply_case(State next, std::uint32_t index, FunctionId callee,
                  const std::vector<ValueId>& arguments, const Case* taken, const Input* input,
                  bool makes_focus, std::vector<State>& after);

  // presumes.cc: what would have to be guessed for a case to be taken.
  bool presumes_alone(const State& state, const Summary& summary, const NewBlock& block,
                      const Case& taken, Instance& at_call) const;
  bool presumes_disowned(const State& state, const Summary& summary, const Case& taken,
                         const Input& input, const std::vector<Guard>& guards, Instance& at_call);
  bool presumes_refused(const State& state, std::uint32_t index, const Summary& summary,
                        const Case& taken, const Input& input, Instance& at_call) const;
  bool presumes_outside(const State& state, const Summary& summary,
                        const std::vector<Guard>& guards, Instance& at_call);
  bool presumes_unthrown(const State& state, const Summary& summary, const Case& taken,
                         const Input& input, Instance& at_call);
  bool presumes_shared(const State& state, const Summary& summary, const Case& taken,
                       const Input& input, Instance& at_call) const;
  bool presumes_number(const State& state, const Summary& summary, const Case& taken,
                       const Input& input, Instance& at_call) const;
  bool fails_as_realloc(const State& state, const Summary& summary, const Case& taken,
                        const Input& input, Instance& at_call);
  static bool presumes_dropped(const Summary& summary, const Case& taken, const Input& input,
                               bool destroys);
  bool presumes_null(const State& state, std::uint32_t index, const Summary& summary,
                     const Guard& guard, bool fields, Instance& at_call) const;
  bool presumes_null_beside(const State& state, std::uint32_t index, const Summary& summary,
                            const Case& taken, const Input& input, Instance& at_call) const;
  bool is_certain(const State& state, const std::vector<GuardSet>& ways, Instance& at_call);
  bool choose_way(State& state, const Summary& summary, const Case& taken, const Input* input,
                  Instance& at_call);
  std::vector<Meaning> likely_meanings(const State& state, std::uint32_t index,
                                       const Summary& summary, Instance& at_call) const;

  // join.cc
  bool join(State& into, const State& other, std::uint32_t block);
  Fact distance(const State& state, ValueId from, ValueId to) const;
  void note_entry(ValueId merged, ValueId base, std::int64_t offset, ValueId a, ValueId b);
  void note_walk(std::int64_t var, ValueId param, ValueId a, ValueId b);
  bool is_given_walk(ValueId param) const;
  void note_new(ValueId merged, ValueId a, ValueId b);
  bool is_new(ValueId value) const;

  // exceptions.cc
  int takes(std::uint32_t handler, std::uint32_t thrown) const;
  std::vector<std::uint32_t> public_bases(const ProgramSymbol& typeinfo) const;
  std::uint32_t class_of(ValueId typeinfo) const;
  static void begin_catch(State& state);
  static void end_catch(State& state);
  static void join_thrown(State& into, const State& other);

  // ways.cc
  std::vector<Way> ways_of(const State& state) const;
  void join_ways(State& into, const State& other, bool widens) const;
  void join_reasons(State& into, const State& other, bool widens) const;
  void add_ways(Case& into, const Case& other) const;

  // lost.cc
  bool is_focus(ValueId value) const { return values_.target(value) == focus_; }
  bool holds_focus(ValueId value) const;  // itself, or a word of it
  bool mark_focus(const State& state, std::vector<ValueId> work) const;
  bool reaches_focus(const State& state, ValueId extra) const;
  bool leads_to_focus(const State& state, ValueId top) const;  // what hangs on `top`
  void check_lost(State& state, std::uint32_t index, LossKind kind, ValueId kept = kNoValue);
  Candidate candidate(const State& state, std::uint32_t index, LossKind kind) const;
  void report_failure(const State& state);
  void note_indirect(const State& state, std::uint32_t index, LossKind kind, ValueId holder);
  // The part of a variable that holds the followed block.
  LastHolder held_by_var(const State& state, std::uint32_t var) const;
  // What holds it behind an argument of a call.
  LastHolder held_by_argument(const State& state, const Operation& call,
                              const std::vector<ValueId>& arguments) const;
  std::string name_of(const LastHolder& holder) const;
  bool given_up(const State& state) const;
  void park(State& state, std::uint32_t global, bool below = false);
  void park_below(State& state, ValueId holder);
  // `freed`: the value itself, not what is in it.
  void take_from(ValueId value, bool freed = false);
  void take_where_held(const State& state, ValueId value, bool freed = false);
  void lose_sight(ValueId value);
  void may_take(ValueId value);
  std::uint32_t global_of(ValueId value) const;  // that it came out of, or kNotParked
  bool is_in_global(const State& state) const;
  void give_up_global(State& state) const;
  bool is_taken_by(const State& state, FunctionId callee) const;

  // exits.cc
  void leave(State& state, std::uint32_t index, bool throws);
  void add_throw(const State& state);
  void raise_as_told(const State& state, std::uint32_t index, const Throw& told);
  void add_plain_exit(const State& state, ValueId result, bool throws);
  void add_case(const State& state, ValueId result, bool throws);
  std::vector<Cell> holders_of(const State& state) const;
  bool is_handed_out(const Case& each) const;
  void touch_input(ValueId value, bool surely = false, bool freed = false);
  void note_use(ValueId value, bool pointer);
  bool is_plain_number(ValueId value) const;
  void export_plain();
  std::vector<Case> export_cases();

  const ProgramView program_;
  const Library& library_;
  const Known& known_;
  const FunctionId id_;
  const ProgramFunction& where_;
  const Function& body_;
  const Limits& limits_;
  const bool linked_ = false;
  std::vector<Fact> supposed_;       // by parameter
  const OnCall* on_call_ = nullptr;  // follow_calls()
  bool partial_ = false;             // and what it did not follow
  Shape shape_;

  Values values_;
  Summary summary_;
  ValueExport exported_{values_, summary_.values};
  std::vector<Candidate>* candidates_ = nullptr;
  std::uint64_t work_ = 0;

  // By result of a call: what its sign means, in values of the run. Values do not
  // change, so this holds wherever the result is known.
  std::unordered_map<std::uint32_t, std::vector<Meaning>> promises_;

  // What the present round of escape() has been at, by value, and in order.
  std::vector<std::uint32_t> escaped_;
  std::uint32_t escape_round_ = 0;
  std::vector<ValueId> escaping_;
  std::vector<ValueId> escape_work_;
  bool arrays_escape_ = false;  // and some element of one is known by name

  // By value, in a replay: what it came from.
  std::unordered_map<std::uint32_t, Grounds> came_from_;

  // Blocks that are not followed, by where they come from; 0 is the focus.
  std::map<Site, std::uint32_t> block_numbers_;

  // By merged value: what was in its place on entry, and may still be.
  ByValue<ValueId> entered_as_;
  // By merged value, and by what a callee has written: is it something new in any case?
  enum class Newness : std::uint8_t { unknown, some_old, all_new };
  ByValue<Newness> newness_;

  // Found by the plain run.
  std::map<Site, State> sites_;  // with the state before the call, as it came there first
  // Before the call when a loop came there again: what all rounds have in common.
  std::map<Site, State> later_rounds_;
  std::vector<Site> kept_at_first_;  // what is made there first is not lost
  std::vector<ValueId> touched_inputs_;
  // Variables in which a walk along a structure merged a parameter with what is below it, and
  // the parameter: what is freed there may be the parameter itself.
  std::vector<std::pair<std::uint32_t, ValueId>> walks_;
  std::vector<bool> used_as_;  // by value: two bits, see note_use()
  std::vector<bool> tested_;   // by value: the source compares it with null
  std::vector<std::pair<State, ValueId>> plain_exits_;
  std::vector<Move> plain_moves_;   // in values of the run
  std::vector<Cell> plain_writes_;  // of the plain effect, in values of the run
  struct Thrown {
    Throw what;  // in values of the run
    bool ways_lost = false;
  };
  std::vector<Thrown> throws_;
  std::vector<Origin> passed_up_;  // blocks that come up from calls of the function itself

  // The run in hand.
  enum class Mode : std::uint8_t { plain, site, input };
  Mode mode_ = Mode::plain;
  ValueId focus_ = kNoValue;
  ValueId own_name_ = kNoValue;  // what other runs call the focus of this one
  Site site_;                    // Mode::site
  FamilyId family_ = 0;          // of the focus
  bool applying_ = false;        // what a callee does is being put into the caller's words
  bool starting_ = false;        // the call that makes the focus is being run
  // Of join(), which is called for each edge: what it needs, kept for the next time.
  struct JoinRoom {
    std::vector<std::pair<ValueId, Fact>> made;
    ByValue<std::uint64_t> made_at;  // the number of the join, and the place in `made` from 1
    std::uint32_t number = 0;
    std::vector<std::pair<ValueId, Fact>> facts;
    std::vector<Cell> cells;
  };
  JoinRoom join_room_;
  bool later_round_ = false;  // it is one that a loop makes when it comes there again
  // Of the callee in hand: what it may free, when that leads to the focus as well as the input
  // that is looked at.
  std::vector<const Input*> other_names_;
  bool outlived_ = false;  // a later block of its site held the focus: out of sight
  std::pair<Site, std::uint32_t> last_unknown_{{}, ~0u};
  std::uint64_t run_work_ = 0;
  struct Seen {
    std::uint64_t key = 0;
    unsigned visits = 0;
    State state;
  };
  struct Waiting {
    std::uint64_t key = 0;
    State state;
  };
  std::vector<std::vector<Waiting>> pending_;  // by block
  std::uint32_t next_pending_ = 0;             // none of the blocks before waits
  std::vector<std::vector<Seen>> seen_;        // by loop head
  struct TrailNode {
    TrailStep step;
    std::uint32_t before = 0;
    std::uint32_t length = 0;
  };
  std::vector<TrailNode> trails_;
  std::vector<Case> cases_;
  bool cases_overflow_ = false;
  LastHolder last_holder_;
  std::uint32_t at_ = 0;  // the operation in hand
  std::shared_ptr<Replaying> replaying_;
  bool storing_pointer_ = true;  // what the store in hand writes
};

}  // namespace plumb::check
