// Words of a frame that are variables of something whose scope ends before the frame
// does: of an inlined function, or of a block. The command has read them from the debug
// information (record.h, PlumbWantHeader). Without it such a word would count as a
// reference until the compiler uses its place for something else.
//
// Limits: a scope is left where its code is; of code that jumps to a place which is only
// known when it runs, this is not seen.
#pragma once

#include "common/watch_protocol.h"
#include "valgrind/threads.h"
#include "valgrind/vg.h"

namespace plumb::vg {

struct FrameWords {
  Word offset;  // of the first from the CFA
  UWord size;   // bytes
};

// A way out of scopes.
struct ScopeExit {
  const Piece* piece;
  Addr ip;  // the last instruction in them
  UInt count;
  FrameWords words[];
};

void note_scopes(const watch::Start& start);

// Of a piece of code that is being translated.
class PieceScopes {
 public:
  explicit PieceScopes(const Piece* piece);

  // What ends on the way from the instruction before the piece into it.
  const ScopeExit* at_entry() const;
  // The piece has this instruction.
  void pass(Addr ip);
  // What ends when the instruction that was passed last leads to this one; null: nothing.
  const ScopeExit* leading_to(Addr target) const;
  // The same for a call: what was over before it, and is so when it comes back to `back`.
  const ScopeExit* before_call(Addr back) const;

 private:
  static constexpr UInt kMost = 64;

  const UWord* function_ = nullptr;  // in the list; null: nothing known
  Addr bias_ = 0;
  const Piece* piece_;
  Addr last_ = 0;
  ULong seen_ = 0;  // slots that were in scope, as bits
};

}  // namespace plumb::vg
