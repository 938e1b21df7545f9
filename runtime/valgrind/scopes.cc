#include "valgrind/scopes.h"

#include "valgrind/vector.h"

namespace plumb::vg {

namespace {

// In the list, by begin; the list itself stays where the library has it.
struct Code {
  UWord begin;
  UWord end;
  const UWord* at;
};
struct Module {
  const HChar* path;  // not ended
  SizeT path_size;
  Vector<Code> codes;
};
Vector<Module> modules;

// Modules by where they are loaded; few.
struct Loaded {
  Addr begin;
  Addr end;
  Addr bias;
  Module* module;  // null: nothing known about it
};
Vector<Loaded> loaded;

// A function's entry: module, begin, end, slots; a slot: offset, size, ranges.
constexpr UInt kFunctionWords = 4;
constexpr UInt kSlotWords = 3;

const UWord* first_slot(const UWord* function) { return function + kFunctionWords; }
UWord slot_count(const UWord* function) { return function[3]; }
const UWord* next_slot(const UWord* slot) { return slot + kSlotWords + 2 * slot[2]; }

bool is_live(const UWord* slot, UWord pc) {
  for (UWord i = 0; i < slot[2]; ++i) {
    if (pc >= slot[kSlotWords + 2 * i] && pc < slot[kSlotWords + 2 * i + 1]) return true;
  }
  return false;
}

// Code that the optimiser moved into a scope leaves a hole in it.
constexpr UWord kHole = 8;
bool is_live_between(const UWord* slot, UWord begin, UWord end) {
  for (UWord i = 0; i < slot[2]; ++i) {
    if (begin < slot[kSlotWords + 2 * i + 1] && end > slot[kSlotWords + 2 * i]) return true;
  }
  return false;
}

bool has_path(const Module& module, const HChar* path) {
  return VG_(strlen)(path) == module.path_size &&
         VG_(memcmp)(path, module.path, module.path_size) == 0;
}

const Loaded* loaded_at(Addr ip) {
  for (const Loaded& it : loaded) {
    if (ip >= it.begin && ip < it.end) return &it;
  }
  const DebugInfo* info = VG_(find_DebugInfo)(VG_(current_DiEpoch)(), ip);
  if (info == nullptr) return nullptr;
  const Addr begin = VG_(DebugInfo_get_text_avma)(info);
  Loaded fresh{begin, begin + VG_(DebugInfo_get_text_size)(info),
               static_cast<Addr>(VG_(DebugInfo_get_text_bias)(info)), nullptr};
  if (ip < fresh.begin || ip >= fresh.end) return nullptr;
  for (Module& module : modules) {
    if (module.codes.count != 0 && has_path(module, VG_(DebugInfo_get_filename)(info))) {
      fresh.module = &module;
    }
  }
  return &loaded.push(fresh);
}

const UWord* function_at(const Loaded& it, Addr ip) {
  if (it.module == nullptr) return nullptr;
  const UWord pc = ip - it.bias;
  Vector<Code>& codes = it.module->codes;
  UInt low = 0;
  UInt high = codes.count;
  while (low < high) {  // the first that begins behind it
    const UInt middle = low + (high - low) / 2;
    if (codes[middle].begin <= pc) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low != 0 && pc < codes[low - 1].end ? codes[low - 1].at : nullptr;
}

// Two stretches of one function have the same slots.
bool is_same(const UWord* left, const UWord* right) {
  if (left == right) return true;
  if (left == nullptr || right == nullptr || slot_count(left) != slot_count(right)) return false;
  const UWord* end = first_slot(left);
  for (UWord i = 0; i < slot_count(left); ++i) end = next_slot(end);
  const SizeT size = static_cast<SizeT>(end - first_slot(left)) * sizeof(UWord);
  return VG_(memcmp)(first_slot(left), first_slot(right), size) == 0;
}

Int compare_codes(const void* left, const void* right) {
  const UWord a = static_cast<const Code*>(left)->begin;
  const UWord b = static_cast<const Code*>(right)->begin;
  return a < b ? -1 : a > b ? 1 : 0;
}

template <typename Ends>
const ScopeExit* exit_of(const UWord* function, const Piece* piece, Addr ip, Ends ends) {
  UInt count = 0;
  const UWord* slot = first_slot(function);
  for (UWord i = 0; i < slot_count(function); ++i, slot = next_slot(slot)) {
    if (ends(i, slot)) ++count;
  }
  if (count == 0) return nullptr;
  ScopeExit* exit = static_cast<ScopeExit*>(
      VG_(malloc)("plumb.scope", sizeof(ScopeExit) + count * sizeof(FrameWords)));
  exit->piece = piece;
  exit->ip = ip;
  exit->count = 0;
  slot = first_slot(function);
  for (UWord i = 0; i < slot_count(function); ++i, slot = next_slot(slot)) {
    if (ends(i, slot)) exit->words[exit->count++] = {static_cast<Word>(slot[0]), slot[1]};
  }
  return exit;
}

}  // namespace

void note_scopes(const watch::Start& start) {
  for (UWord i = 0; i < start.module_count; ++i) {
    modules.push({start.strings + start.modules[i].path, start.modules[i].path_size, {}});
  }
  const UWord* at = start.scopes;
  const UWord* end = at + start.scope_count;
  while (at + kFunctionWords <= end) {
    const UWord* slot = first_slot(at);
    bool whole = at[0] < modules.count;
    for (UWord i = 0; whole && i < slot_count(at); ++i) {
      whole = slot + kSlotWords <= end && slot[2] <= static_cast<UWord>(end - slot) / 2;
      if (whole) slot = next_slot(slot);
    }
    if (!whole || slot > end) break;
    modules[static_cast<UInt>(at[0])].codes.push({at[1], at[2], at});
    at = slot;
  }
  for (Module& module : modules) {
    VG_(ssort)(module.codes.items, module.codes.count, sizeof(Code), compare_codes);
  }
  // What was looked up before the list was here.
  loaded.clear();
}

PieceScopes::PieceScopes(const Piece* piece) : piece_(piece) {
  if (modules.count == 0) return;
  const Loaded* it = loaded_at(piece->first);
  if (it == nullptr) return;
  function_ = function_at(*it, piece->first);
  bias_ = it->bias;
}

const ScopeExit* PieceScopes::at_entry() const {
  if (function_ == nullptr) return nullptr;
  const UWord pc = piece_->first - bias_;
  return exit_of(function_, piece_, piece_->first - 1, [&](UWord, const UWord* slot) {
    // If the piece comes back into it, its end will tell.
    return is_live(slot, pc - 1) && !is_live_between(slot, pc, piece_->end - bias_);
  });
}

void PieceScopes::pass(Addr ip) {
  if (function_ == nullptr) return;
  last_ = ip;
  const UWord* slot = first_slot(function_);
  for (UWord i = 0; i < slot_count(function_) && i < kMost; ++i, slot = next_slot(slot)) {
    if (is_live(slot, ip - bias_)) seen_ |= ULong{1} << i;
  }
}

const ScopeExit* PieceScopes::before_call(Addr back) const {
  if (function_ == nullptr || seen_ == 0) return nullptr;
  return exit_of(function_, piece_, last_, [&](UWord i, const UWord* slot) {
    return i < kMost && (seen_ >> i & 1) != 0 && !is_live(slot, last_ - bias_) &&
           !is_live_between(slot, back - bias_, back - bias_ + kHole);
  });
}

const ScopeExit* PieceScopes::leading_to(Addr target) const {
  if (function_ == nullptr) return nullptr;
  const UWord pc = target - bias_;
  // A jump into another function ends the frame as a whole.
  const Loaded* there = loaded_at(target);
  if (there == nullptr || !is_same(function_at(*there, target), function_)) {
    return exit_of(function_, piece_, last_, [](UWord, const UWord*) { return true; });
  }
  if (seen_ == 0) return nullptr;
  return exit_of(function_, piece_, last_, [&](UWord i, const UWord* slot) {
    return i < kMost && (seen_ >> i & 1) != 0 && !is_live_between(slot, pc, pc + kHole);
  });
}

}  // namespace plumb::vg
