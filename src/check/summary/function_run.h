// Runs one function on symbolic values: every path, merged where the states of
// memory agree, loops once as they are and once with what they change unknown.
// Gives the function's summary and the blocks that some path loses.
//
// A block is lost when no variable in scope, no value still in use and nothing
// that the caller can see leads to it. Reachability decides, not counting.
//
// The run is optimistic: what merging, a budget or unknown code makes unclear
// is taken as safe, so that a candidate has at least one path on which the
// block is lost as far as this stage can see.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "check/model/program.h"
#include "check/summary/library.h"
#include "check/summary/state.h"
#include "check/summary/summary.h"

namespace plumb::check {

struct Limits {
  unsigned states = 6;         // per block
  unsigned cases = 8;          // per summary
  unsigned visits = 3;         // of a block, per way in
  std::uint64_t work = 60000;  // operations per function
  bool oom = false;            // follow failed allocations
};

enum class LossKind : std::uint8_t {
  overwritten,
  scope_end,
  returned,
  holder_freed,
  discarded,
  thrown
};

struct Candidate {
  std::uint32_t function = 0;
  Origin origin;
  std::uint32_t operation = 0;  // where it is lost
  LossKind kind = LossKind::scope_end;
  std::string holder;
  std::shared_ptr<const Trail> trail;
  bool merged = false;
};

class FunctionRun {
 public:
  FunctionRun(const Program& program, const Library& library, const std::vector<Summary>& summaries,
              FunctionId function, const Limits& limits);

  Summary run(std::vector<Candidate>& candidates);

 private:
  // run.cc
  void prepare();
  void process(BlockIndex block);
  void send(BlockIndex from, BlockIndex to, State state);
  void widen(BlockIndex block, State& state);

  // step.cc: executes one operation; false when the state goes no further.
  bool step(State& state, std::uint32_t index);
  void finish(BlockIndex block, State state, std::uint32_t index);
  ValueId value(const State& state, Operand operand);
  ValueId load_whole(State& state, ValueId from, std::uint32_t width);
  ValueId phi(const State& state, const Operation& operation, BlockIndex from);

  // memory.cc
  ValueId load(State& state, ValueId pointer, std::uint32_t width);
  void store(State& state, ValueId pointer, std::uint32_t width, ValueId value);
  void copy(State& state, ValueId to, ValueId from, ValueId length);
  void fill(State& state, ValueId to, ValueId byte, ValueId length);
  void free_siblings(State& state, std::uint32_t object);
  void free_value(State& state, ValueId value);
  void escape(State& state, ValueId value);
  void havoc(State& state, ValueId value);
  bool is_outside(ValueId base) const;
  ValueId initial(ValueId base, std::int64_t offset, std::uint32_t width);

  // condition.cc
  bool assume(State& state, ValueId condition, bool truth);
  int decide(State& state, ValueId condition);  // 1, 0, or -1 when open
  bool is_nonzero(State& state, ValueId value);

  // call.cc: the states after the call are appended to `after`.
  void call(State state, std::uint32_t index, std::vector<State>& after);
  void call_library(State& state, std::uint32_t index, const LibraryModel& model,
                    const std::vector<ValueId>& arguments, std::vector<State>& after);
  void call_unknown(State& state, std::uint32_t index, const Declaration* declaration,
                    const std::vector<ValueId>& arguments);
  void call_summary(const State& state, std::uint32_t index, FunctionId callee,
                    const std::vector<ValueId>& arguments, std::vector<State>& after);
  ValueId new_block(State& state, const Origin& origin, bool maybe_null);
  void raise(State state, std::uint32_t index);  // an exception leaves the call

  // join.cc
  void limit_states(std::vector<State>& states);
  void join(State& into, const State& other);

  // lost.cc
  void check_lost(State& state, std::uint32_t index, LossKind kind, ValueId kept = kNoValue);
  void mark(const State& state, std::vector<ValueId> work,
            std::vector<std::uint32_t>& reached) const;

  // exits.cc
  void add_case(State& state, std::uint32_t index, bool throws);
  void finish_summary();

  const Program& program_;
  const Library& library_;
  const std::vector<Summary>& summaries_;
  const FunctionId id_;
  const ProgramFunction& where_;
  const Function& body_;
  const Limits& limits_;

  Values values_;
  std::vector<Origin> origins_;
  std::uint32_t objects_ = 0;

  struct Pending {
    std::vector<State> states;
    unsigned visits = 0;
  };
  std::vector<Pending> pending_;
  std::vector<std::vector<std::uint32_t>> dies_after_;  // results by last use in their block
  std::vector<std::uint32_t> block_of_;
  std::vector<bool> crosses_;                        // result is used in another block
  std::vector<std::vector<VarId>> changed_in_loop_;  // by loop head
  std::vector<bool> loop_head_;
  std::vector<std::pair<BlockIndex, State>> out_;
  std::uint64_t work_ = 0;

  Summary summary_;
  std::vector<std::pair<State, Case>> cases_;
  std::vector<Candidate>* candidates_ = nullptr;
  std::string lost_holder_;
};

}  // namespace plumb::check
