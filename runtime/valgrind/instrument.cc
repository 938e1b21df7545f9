// What is added to each piece of code:
// - at its begin, if blocks float: a look at the registers;
// - around each store: the word before and after; only if one of them is in the
//   arena, our function is called;
// - at a return: if the lowest slot on the stack is below the stack pointer, the
//   frame's slots are ended;
// - at each access, if uses are asked for: only if the address is in the arena,
//   it is noted. Addresses relative to the stack pointer never are.
// While parts of other memory are watched (parts.h), words near them are looked at as well.

#include "valgrind/instrument.h"

#include "valgrind/follow.h"
#include "valgrind/use.h"

namespace plumb::vg {

bool note_uses = true;

namespace {

constexpr Int kFirstRegister = offsetof(VexGuestAMD64State, guest_RAX);
constexpr Int kRegisterBytes = 16 * 8;
constexpr Int kVectors = offsetof(VexGuestAMD64State, guest_YMM0);
constexpr Int kVectorBytes = 16 * 32;
constexpr Int kStackPointer = offsetof(VexGuestAMD64State, guest_RSP);

// Registers that functions keep for their callers, as bits.
constexpr UInt kKeptRegisters = 0xf028;

int register_at(Int offset) {
  const Int from = offset - kFirstRegister;
  return from >= 0 && from < kRegisterBytes ? from / 8 : -1;
}

// --- Reading code ---

// The register that this instruction pushes, or -1.
int pushed_register(const UChar* code) {
  if (code[0] >= 0x50 && code[0] <= 0x57) return code[0] - 0x50;
  if (code[0] == 0x41 && code[1] >= 0x50 && code[1] <= 0x57) return code[1] - 0x50 + 8;
  return -1;
}

// What is below the stack pointer is not a slot, so a push ends none.
bool is_push(const UChar* code) {
  if (pushed_register(code) >= 0) return true;
  if (code[0] == 0x68 || code[0] == 0x6a || code[0] == 0xe8) return true;
  if (code[0] != 0xff) return false;
  const UInt kind = (code[1] >> 3) & 7;
  return kind == 2 || kind == 6;
}

// An entry of a procedure linkage table: an indirect jump by itself.
bool is_stub(const UChar* code) {
  if (code[0] == 0xf3 && code[1] == 0x0f && code[2] == 0x1e && code[3] == 0xfa) code += 4;
  if (code[0] == 0xf2) ++code;
  return code[0] == 0xff && code[1] == 0x25;
}

struct Reader {
  Piece* piece;
  int* from;  // for each temporary: the register that it was read from, or -1
  UShort written;
  Addr end;    // of the instruction
  int pushed;  // register that the instruction only saves

  void read(int number) {
    if (number == pushed || number < 0) return;
    piece->reads |= static_cast<UShort>(1u << number);
    piece->read_at[number] = static_cast<UShort>(end - piece->first);
  }
  void visit(const IRExpr* expr) {
    switch (expr->tag) {
      case Iex_RdTmp:
        read(from[expr->Iex.RdTmp.tmp]);
        break;
      case Iex_Get:
        if (expr->Iex.Get.offset >= kVectors && expr->Iex.Get.offset < kVectors + kVectorBytes) {
          piece->reads_vectors = true;
        } else if (const int number = register_at(expr->Iex.Get.offset);
                   number >= 0 && (written & (1u << number)) == 0) {
          read(number);
        }
        break;
      case Iex_Unop:
        visit(expr->Iex.Unop.arg);
        break;
      case Iex_Binop:
        visit(expr->Iex.Binop.arg1);
        visit(expr->Iex.Binop.arg2);
        break;
      case Iex_Triop:
        visit(expr->Iex.Triop.details->arg1);
        visit(expr->Iex.Triop.details->arg2);
        visit(expr->Iex.Triop.details->arg3);
        break;
      case Iex_Load:
        visit(expr->Iex.Load.addr);
        break;
      case Iex_ITE:
        visit(expr->Iex.ITE.cond);
        visit(expr->Iex.ITE.iftrue);
        visit(expr->Iex.ITE.iffalse);
        break;
      case Iex_CCall:
        for (IRExpr** arg = expr->Iex.CCall.args; *arg != nullptr; ++arg) visit(*arg);
        break;
      default:
        break;
    }
  }
  void visit(const IRStmt* statement) {
    switch (statement->tag) {
      case Ist_IMark: {
        const Addr at = statement->Ist.IMark.addr;
        end = at + statement->Ist.IMark.len;
        const int number = pushed_register(reinterpret_cast<const UChar*>(at));
        pushed = number >= 0 && ((kKeptRegisters >> number) & 1) != 0 ? number : -1;
        piece->last = at;
        break;
      }
      case Ist_WrTmp: {
        const IRExpr* data = statement->Ist.WrTmp.data;
        // Fetched, but not used yet.
        const int number = data->tag == Iex_Get && data->Iex.Get.ty == Ity_I64
                               ? register_at(data->Iex.Get.offset)
                               : -1;
        if (number >= 0 && (written & (1u << number)) == 0) {
          from[statement->Ist.WrTmp.tmp] = number;
        } else {
          visit(data);
        }
        break;
      }
      case Ist_Put: {
        const IRExpr* data = statement->Ist.Put.data;
        const int number = register_at(statement->Ist.Put.offset);
        const bool same =
            data->tag == Iex_RdTmp && number >= 0 && from[data->Iex.RdTmp.tmp] == number;
        if (!same) visit(data);
        if (const int source = data->tag == Iex_RdTmp ? from[data->Iex.RdTmp.tmp] : -1;
            source >= 0 && number >= 0) {
          piece->copied[source] |= static_cast<UShort>(1u << number);
        }
        if (number >= 0 && statement->Ist.Put.offset % 8 == 0) {
          written |= static_cast<UShort>(1u << number);
        }
        break;
      }
      case Ist_Store:
        visit(statement->Ist.Store.addr);
        visit(statement->Ist.Store.data);
        break;
      case Ist_StoreG:
        visit(statement->Ist.StoreG.details->addr);
        visit(statement->Ist.StoreG.details->data);
        break;
      case Ist_LoadG:
        visit(statement->Ist.LoadG.details->addr);
        break;
      case Ist_CAS:
        visit(statement->Ist.CAS.details->addr);
        visit(statement->Ist.CAS.details->expdLo);
        visit(statement->Ist.CAS.details->dataLo);
        break;
      case Ist_Exit:
        visit(statement->Ist.Exit.guard);
        break;
      case Ist_Dirty:
        for (IRExpr** arg = statement->Ist.Dirty.details->args; *arg != nullptr; ++arg) {
          if (!is_IRExpr_VECRET_or_GSPTR(*arg)) visit(*arg);
        }
        break;
      default:
        break;
    }
  }
};

Piece* describe(const IRSB* in, Int first) {
  Piece* piece = static_cast<Piece*>(VG_(calloc)("plumb.piece", 1, sizeof(Piece)));
  int* from = static_cast<int*>(
      VG_(malloc)("plumb.from", static_cast<SizeT>(in->tyenv->types_used + 1) * sizeof(int)));
  for (Int i = 0; i < in->tyenv->types_used; ++i) from[i] = -1;
  piece->first = in->stmts[first]->Ist.IMark.addr;
  Reader reader{piece, from, 0, piece->first, -1};
  for (Int i = first; i < in->stmts_used; ++i) reader.visit(in->stmts[i]);
  piece->writes = reader.written;
  piece->end = reader.end;
  VG_(free)(from);
  piece->ends_in_call = in->jumpkind == Ijk_Call;
  piece->ends_in_return = in->jumpkind == Ijk_Ret;
  const UChar last = *reinterpret_cast<const UChar*>(piece->last);
  piece->ends_in_jump = in->jumpkind == Ijk_Boring && (last == 0xeb || last == 0xe9);
  const HChar* name = nullptr;
  piece->is_entry = is_stub(reinterpret_cast<const UChar*>(piece->first)) ||
                    (VG_(get_fnname_if_entry)(VG_(current_DiEpoch)(), piece->first, &name) &&
                     VG_(strstr)(name, ".cold") == nullptr);  // a part of a function
  return piece;
}

// --- Writing code ---

constexpr UInt kTop = static_cast<UInt>(watch::kFollowedTop);

// The upper half of a word does not say whether it is a reference.
bool needs_whole_words() { return pointer_mask != ~Addr{0} || parts_size != 0; }

class Writer {
 public:
  explicit Writer(IRSB* out) : out_(out) {}

  void add(IRStmt* statement) { addStmtToIRSB(out_, statement); }
  IRExpr* assign(IRType type, IRExpr* expr) {
    const IRTemp temp = newIRTemp(out_->tyenv, type);
    add(IRStmt_WrTmp(temp, expr));
    return IRExpr_RdTmp(temp);
  }
  IRExpr* load(IRExpr* address) { return assign(Ity_I64, IRExpr_Load(Iend_LE, Ity_I64, address)); }
  IRExpr* load_global(const void* address) {
    return load(mkIRExpr_HWord(reinterpret_cast<HWord>(address)));
  }
  IRExpr* number(ULong value) { return IRExpr_Const(IRConst_U64(value)); }
  // How far a value is from the blocks that are followed: zero when it is among them, else
  // less than 2^32, since the upper half alone says so.
  IRExpr* distance(IRExpr* value) { return distance_by(value, 32, watch::kFollowedTop); }
  IRExpr* distance_by(IRExpr* value, UChar bits, Addr wanted) {
    if (pointer_mask != ~Addr{0}) {
      value = assign(Ity_I64, IRExpr_Binop(Iop_And64, value, number(pointer_mask)));
    }
    IRExpr* top = assign(Ity_I64, IRExpr_Binop(Iop_Shr64, value, IRExpr_Const(IRConst_U8(bits))));
    IRExpr* far = assign(Ity_I64, IRExpr_Binop(Iop_Xor64, top, number(wanted)));
    if (parts_size == 0) return far;
    // Zero near a part, else one.
    IRExpr* from = assign(Ity_I64, IRExpr_Binop(Iop_Sub64, value, load_global(&parts_begin)));
    IRExpr* away = assign(Ity_I1, IRExpr_Binop(Iop_CmpLE64U, load_global(&parts_size), from));
    return assign(Ity_I64,
                  IRExpr_Binop(Iop_Mul64, far, assign(Ity_I64, IRExpr_Unop(Iop_1Uto64, away))));
  }
  IRExpr* distance_of_half(IRExpr* half) {
    IRExpr* wide = assign(Ity_I64, IRExpr_Unop(Iop_32Uto64, half));
    return assign(Ity_I64, IRExpr_Binop(Iop_Xor64, wide, number(watch::kFollowedTop)));
  }
  // ... of the word at the address.
  IRExpr* word_distance(IRExpr* address, UInt offset = 0) {
    if (needs_whole_words()) return distance(load(plus(address, offset)));
    return distance_of_half(
        assign(Ity_I32, IRExpr_Load(Iend_LE, Ity_I32, plus(address, offset + 4))));
  }
  IRExpr* plus(IRExpr* address, UInt offset) {
    if (offset == 0) return address;
    return assign(Ity_I64, IRExpr_Binop(Iop_Add64, address, number(offset)));
  }
  IRExpr* is_zero(IRExpr* value) {
    return assign(Ity_I1, IRExpr_Binop(Iop_CmpEQ64, value, number(0)));
  }
  IRExpr* is_followed(IRExpr* value) { return is_zero(distance(value)); }
  // In any watched block.
  IRExpr* in_arena(IRExpr* address) {
    return is_zero(distance_by(address, 33, watch::kFollowedTop / 2));
  }
  // One of two is: the product of two such distances is zero only if one of
  // them is, and a multiplication is cheaper than two comparisons. Either may be null.
  IRExpr* any_followed(IRExpr* left, IRExpr* right) {
    if (left == nullptr && right == nullptr) return nullptr;
    if (left == nullptr) return is_zero(right);
    if (right == nullptr) return is_zero(left);
    return is_zero(assign(Ity_I64, IRExpr_Binop(Iop_Mul64, left, right)));
  }
  IRExpr* either(IRExpr* left, IRExpr* right) {
    if (left == nullptr) return right;
    if (right == nullptr) return left;
    return assign(Ity_I1, IRExpr_Binop(Iop_Or1, left, right));
  }
  IRExpr* both(IRExpr* left, IRExpr* right) {
    return assign(Ity_I1, IRExpr_Binop(Iop_And1, left, right));
  }
  IRDirty* call(Int in_registers, const HChar* name, void* function, IRExpr** arguments,
                IRExpr* guard) {
    IRDirty* dirty =
        unsafeIRDirty_0_N(in_registers, name, VG_(fnptr_to_fnentry)(function), arguments);
    if (guard != nullptr) dirty->guard = guard;
    return dirty;
  }
  void add(IRDirty* dirty) { add(IRStmt_Dirty(dirty)); }

 private:
  IRSB* out_;
};

void reads_registers(IRDirty* dirty) {
  dirty->nFxState = 2;
  dirty->fxState[0] = {Ifx_Read, static_cast<UShort>(kFirstRegister),
                       static_cast<UShort>(kRegisterBytes), 0, 0};
  dirty->fxState[1] = {Ifx_Read, static_cast<UShort>(kVectors), static_cast<UShort>(kVectorBytes),
                       0, 0};
}

// What is known of temporaries.
struct Known {
  UChar* of;
  static constexpr UChar kStackAddress = 1;  // the stack pointer plus a constant
  static constexpr UChar kSmall = 2;         // less than 2^32

  bool is_stack(const IRExpr* expr) const {
    return expr->tag == Iex_RdTmp && of[expr->Iex.RdTmp.tmp] == kStackAddress;
  }
  // It is no reference to a watched block, whatever it is.
  bool is_no_reference(const IRExpr* expr) const {
    if (parts_size != 0) return false;  // they may be anywhere
    return expr->tag == Iex_Const || (expr->tag == Iex_RdTmp && of[expr->Iex.RdTmp.tmp] != 0);
  }
  void note(const IRStmt* statement) {
    if (statement->tag != Ist_WrTmp) return;
    const IRExpr* data = statement->Ist.WrTmp.data;
    UChar& what = of[statement->Ist.WrTmp.tmp];
    if (data->tag == Iex_Get && data->Iex.Get.offset == kStackPointer) {
      what = kStackAddress;
    } else if (data->tag == Iex_RdTmp) {
      what = of[data->Iex.RdTmp.tmp];
    } else if (data->tag == Iex_Binop) {
      const IROp op = data->Iex.Binop.op;
      if ((op == Iop_Add64 || op == Iop_Sub64) && is_stack(data->Iex.Binop.arg1) &&
          data->Iex.Binop.arg2->tag == Iex_Const) {
        what = kStackAddress;
      }
    } else if (data->tag == Iex_Unop) {
      const IROp op = data->Iex.Unop.op;
      const bool widened =
          op == Iop_1Uto64 || op == Iop_8Uto64 || op == Iop_16Uto64 || op == Iop_32Uto64;
      if (widened) what = kSmall;
    }
  }
};

constexpr UInt kWrittenSaved = 0x100;
constexpr UInt kWrittenPartial = 0x200;

VG_REGPARM(2) void on_write(Addr address, UWord how) {
  memory_written(address, how & 0xff, (how & kWrittenSaved) != 0, (how & kWrittenPartial) != 0);
}

// A part of a word. If that was in the arena before (`distance`) and is no slot, it is what
// a frame that is over, or our own library, left there.
VG_REGPARM(3) void on_small_write(Addr address, UWord how, UWord distance) {
  if (distance == 0 && slots.find(address & ~Addr{7}) == nullptr) return;
  on_write(address, how);
}

void add_written(Writer& write, IRExpr* address, UInt how, IRExpr* guard) {
  if (guard == nullptr) return;
  write.add(write.call(2, "plumb_on_write", reinterpret_cast<void*>(on_write),
                       mkIRExprVec_2(address, mkIRExpr_HWord(how)), guard));
}

// The words of a wide value; null: no reference.
IRExpr* word_of(Writer& write, const Known& known, IRExpr* value, IRType type, UInt index) {
  if (known.is_no_reference(value)) return nullptr;
  if (type == Ity_I64) return value;
  if (type == Ity_V128) {
    return write.assign(Ity_I64, IRExpr_Unop(index == 0 ? Iop_V128to64 : Iop_V128HIto64, value));
  }
  const IROp parts[] = {Iop_V256to64_0, Iop_V256to64_1, Iop_V256to64_2, Iop_V256to64_3};
  return write.assign(Ity_I64, IRExpr_Unop(parts[index], value));
}

// A store of whole words, known before it happens.
void add_wide_store(Writer& write, const Known& known, IRStmt* store, IRExpr* address, IRExpr* data,
                    IRType type, const UChar* code) {
  const UInt bytes = static_cast<UInt>(sizeofIRType(type));
  const bool push = is_push(code);
  IRExpr* guard = nullptr;
  for (UInt i = 0; i < bytes / 8; ++i) {
    IRExpr* word = word_of(write, known, data, type, i);
    IRExpr* after = word == nullptr ? nullptr : write.distance(word);
    IRExpr* before = push ? nullptr : write.word_distance(address, i * 8);
    guard = write.either(guard, write.any_followed(before, after));
  }
  write.add(store);
  const int pushed = pushed_register(code);
  const bool saved = pushed >= 0 && ((kKeptRegisters >> pushed) & 1) != 0;
  add_written(write, address, bytes | (saved ? kWrittenSaved : 0), guard);
}

// Any other write: the word is looked at before and after.
void add_small_store(Writer& write, IRStmt* store, IRExpr* address, UInt bytes, IRExpr* data) {
  IRExpr* word = write.assign(Ity_I64, IRExpr_Binop(Iop_And64, address, write.number(~ULong{7})));
  IRExpr* before = write.word_distance(word);
  write.add(store);
  IRExpr* after = nullptr;
  if (bytes != 4 || data == nullptr || needs_whole_words()) {
    after = write.word_distance(word);
  } else if (data->tag != Iex_Const || data->Iex.Const.con->Ico.U32 == kTop) {
    // Half a word makes a reference only if it is that half, or was one before.
    after = write.distance_of_half(data);
  }
  IRExpr* guard = write.any_followed(before, after);
  write.add(write.call(3, "plumb_on_small_write", reinterpret_cast<void*>(on_small_write),
                       mkIRExprVec_3(address, mkIRExpr_HWord(bytes | kWrittenPartial), before),
                       guard));
}

void add_store(Writer& write, const Known& known, IRSB* in, IRStmt* store, const UChar* code) {
  IRExpr* address = store->Ist.Store.addr;
  IRExpr* data = store->Ist.Store.data;
  const IRType type = typeOfIRExpr(in->tyenv, data);
  if (type == Ity_I64 || type == Ity_V128 || type == Ity_V256) {
    add_wide_store(write, known, store, address, data, type, code);
  } else {
    add_small_store(write, store, address, static_cast<UInt>(sizeofIRType(type)),
                    type == Ity_I32 ? data : nullptr);
  }
}

void add_guarded_store(Writer& write, IRSB* in, IRStmt* statement) {
  IRStoreG* store = statement->Ist.StoreG.details;
  const IRType type = typeOfIRExpr(in->tyenv, store->data);
  IRExpr* guard = nullptr;
  if (type == Ity_I64 && (store->data->tag != Iex_Const || parts_size != 0)) {
    guard = write.both(store->guard, write.is_followed(store->data));
  }
  write.add(statement);
  add_written(write, store->addr, 8, guard);
}

void add_swap(Writer& write, IRSB* in, IRStmt* statement) {
  IRCAS* swap = statement->Ist.CAS.details;
  const UInt bytes = static_cast<UInt>(sizeofIRType(typeOfIRExpr(in->tyenv, swap->dataLo))) *
                     (swap->dataHi != nullptr ? 2 : 1);
  if (bytes < 8) {
    add_small_store(write, statement, swap->addr, bytes, nullptr);
    return;
  }
  IRExpr* before[2] = {nullptr, nullptr};
  for (UInt i = 0; i < bytes / 8; ++i) before[i] = write.word_distance(swap->addr, i * 8);
  write.add(statement);
  IRExpr* guard = nullptr;
  for (UInt i = 0; i < bytes / 8; ++i) {
    guard =
        write.either(guard, write.any_followed(before[i], write.word_distance(swap->addr, i * 8)));
  }
  add_written(write, swap->addr, bytes, guard);
}

// --- Uses ---

// The address that the statement reads or writes; null: none.
IRExpr* accessed(const IRStmt* statement) {
  switch (statement->tag) {
    case Ist_WrTmp: {
      const IRExpr* data = statement->Ist.WrTmp.data;
      return data->tag == Iex_Load ? data->Iex.Load.addr : nullptr;
    }
    case Ist_Store:
      return statement->Ist.Store.addr;
    case Ist_LoadG:
      return statement->Ist.LoadG.details->addr;
    case Ist_StoreG:
      return statement->Ist.StoreG.details->addr;
    case Ist_CAS:
      return statement->Ist.CAS.details->addr;
    default:
      return nullptr;
  }
}

// Which accesses are to be noted. Of several that follow each other without a way out in
// between, and whose addresses differ by a constant only, it is the last.
class Uses {
 public:
  explicit Uses(const IRSB* in)
      : bases_(table(in)), seen_(table(in)), skipped_(flags(in->stmts_used)) {
    for (Int i = 0; i < in->tyenv->types_used; ++i) bases_[i] = i;
    for (Int i = in->stmts_used; i-- > 0;) note_base(in->stmts[i]);
    Int segment = 1;
    for (Int i = in->stmts_used; i-- > 0;) {
      const IRStmt* statement = in->stmts[i];
      if (statement->tag == Ist_Exit || statement->tag == Ist_Dirty) ++segment;
      const IRExpr* address = accessed(statement);
      if (address == nullptr || address->tag != Iex_RdTmp) continue;
      Int& seen = seen_[base_of(address->Iex.RdTmp.tmp)];
      skipped_[i] = seen == segment;
      seen = segment;
    }
  }
  ~Uses() {
    VG_(free)(bases_);
    VG_(free)(seen_);
    VG_(free)(skipped_);
  }
  Uses(const Uses&) = delete;
  Uses& operator=(const Uses&) = delete;

  bool has(Int statement) const { return !skipped_[statement]; }

 private:
  static Int* table(const IRSB* in) {
    return static_cast<Int*>(
        VG_(calloc)("plumb.uses", static_cast<SizeT>(in->tyenv->types_used + 1), sizeof(Int)));
  }
  static bool* flags(Int count) {
    return static_cast<bool*>(VG_(calloc)("plumb.uses", static_cast<SizeT>(count + 1), 1));
  }
  void note_base(const IRStmt* statement) {
    if (statement->tag != Ist_WrTmp || statement->Ist.WrTmp.data->tag != Iex_Binop) return;
    const IRExpr* data = statement->Ist.WrTmp.data;
    const bool moved = data->Iex.Binop.op == Iop_Add64 || data->Iex.Binop.op == Iop_Sub64;
    if (moved && data->Iex.Binop.arg1->tag == Iex_RdTmp && data->Iex.Binop.arg2->tag == Iex_Const) {
      bases_[statement->Ist.WrTmp.tmp] = static_cast<Int>(data->Iex.Binop.arg1->Iex.RdTmp.tmp);
    }
  }
  Int base_of(IRTemp temp) const {
    Int at = static_cast<Int>(temp);
    while (bases_[at] != at) at = bases_[at];
    return at;
  }

  Int* bases_;     // for each temporary: the one that it is a constant away from
  Int* seen_;      // for each base: where it was last accessed, backwards
  bool* skipped_;  // for each statement
};

void add_use(Writer& write, const Known& known, const IRStmt* statement) {
  IRExpr* address = accessed(statement);
  if (address == nullptr || address->tag == Iex_Const || known.is_stack(address)) return;
  write.add(write.call(1, "plumb_on_access", reinterpret_cast<void*>(on_access),
                       mkIRExprVec_1(address), write.in_arena(address)));
}

void add_look(Writer& write, const Piece* piece) {
  IRExpr* guard = write.assign(
      Ity_I1, IRExpr_Binop(Iop_CmpNE64, write.load_global(&floating), write.number(0)));
  IRDirty* dirty = write.call(
      2, "plumb_on_piece", reinterpret_cast<void*>(on_piece),
      mkIRExprVec_2(IRExpr_GSPTR(), mkIRExpr_HWord(reinterpret_cast<HWord>(piece))), guard);
  reads_registers(dirty);
  write.add(dirty);
}

// Functions that leave frames behind, by name: their entry is where it begins.
struct Leaver {
  const HChar* name;
  Leave leave;
};
constexpr Leaver kLeavers[] = {{"__cxa_throw", kException},  {"__cxa_rethrow", kException},
                               {"longjmp", kJump},           {"_longjmp", kJump},
                               {"siglongjmp", kJump},        {"__libc_longjmp", kJump},
                               {"__libc_siglongjmp", kJump}, {"__longjmp_chk", kJump}};

void add_leave(Writer& write, Addr entry) {
  const HChar* name = nullptr;
  if (!VG_(get_fnname_if_entry)(VG_(current_DiEpoch)(), entry, &name)) return;
  if (VG_(strcmp)(name, "__cxa_begin_catch") == 0) {
    write.add(write.call(0, "plumb_on_catch", reinterpret_cast<void*>(on_catch), mkIRExprVec_0(),
                         nullptr));
    return;
  }
  for (const Leaver& leaver : kLeavers) {
    if (VG_(strcmp)(name, leaver.name) != 0) continue;
    write.add(write.call(1, "plumb_on_unwind", reinterpret_cast<void*>(on_unwind),
                         mkIRExprVec_1(mkIRExpr_HWord(leaver.leave)), nullptr));
    return;
  }
}

// The registers when memory is about to be given back: the library's own code
// overwrites them.
void add_free(Writer& write, Addr entry) {
  const HChar* name = nullptr;
  if (!VG_(get_fnname_if_entry)(VG_(current_DiEpoch)(), entry, &name)) return;
  if (VG_(strcmp)(name, "free") != 0 && VG_(strncmp)(name, "realloc", 7) != 0) return;
  IRDirty* dirty = write.call(1, "plumb_on_free", reinterpret_cast<void*>(on_free),
                              mkIRExprVec_1(IRExpr_GSPTR()), nullptr);
  reads_registers(dirty);
  write.add(dirty);
}

void add_jump(Writer& write, const IRSB* in, Addr from) {
  const UChar* code = reinterpret_cast<const UChar*>(from);
  if (in->jumpkind != Ijk_Boring || in->next->tag != Iex_Const) return;
  if (code[0] != 0xeb && code[0] != 0xe9) return;
  Jump* jump = static_cast<Jump*>(VG_(malloc)("plumb.jump", sizeof(Jump)));
  *jump = {from, in->next->Iex.Const.con->Ico.U64};
  write.add(IRStmt_Store(Iend_LE, mkIRExpr_HWord(reinterpret_cast<HWord>(&last_jump)),
                         mkIRExpr_HWord(reinterpret_cast<HWord>(jump))));
}

void add_scope_end(Writer& write, const ScopeExit* exit, IRExpr* guard) {
  if (exit == nullptr) return;
  IRDirty* dirty = write.call(1, "plumb_on_scope_end", reinterpret_cast<void*>(on_scope_end),
                              mkIRExprVec_1(mkIRExpr_HWord(reinterpret_cast<HWord>(exit))), guard);
  reads_registers(dirty);
  write.add(dirty);
}

void add_return(Writer& write, const Piece* piece) {
  IRExpr* sp = write.assign(Ity_I64, IRExpr_Get(kStackPointer, Ity_I64));
  IRExpr* guard =
      write.assign(Ity_I1, IRExpr_Binop(Iop_CmpLT64U, write.load_global(&lowest_word), sp));
  IRDirty* dirty = write.call(
      2, "plumb_on_return", reinterpret_cast<void*>(on_return),
      mkIRExprVec_2(IRExpr_GSPTR(), mkIRExpr_HWord(reinterpret_cast<HWord>(piece))), guard);
  reads_registers(dirty);
  write.add(dirty);
}

}  // namespace

IRSB* instrument(VgCallbackClosure*, IRSB* in, const VexGuestLayout*, const VexGuestExtents*,
                 const VexArchInfo*, IRType, IRType) {
  IRSB* out = deepCopyIRSBExceptStmts(in);
  Int at = 0;
  for (; at < in->stmts_used && in->stmts[at]->tag != Ist_IMark; ++at) {
    addStmtToIRSB(out, in->stmts[at]);
  }
  if (at == in->stmts_used) return out;
  const Piece* piece = describe(in, at);
  Writer write(out);
  add_look(write, piece);
  // What our own library stores is not the program's, except the registers that
  // it saves.
  const bool own = is_own(piece->first);
  if (own) {
    add_free(write, piece->first);
  } else {
    add_leave(write, piece->first);
  }
  Known known{static_cast<UChar*>(
      VG_(calloc)("plumb.known", static_cast<SizeT>(in->tyenv->types_used + 1), 1))};
  const Uses uses(in);
  PieceScopes scopes(piece);
  add_scope_end(write, scopes.at_entry(), nullptr);
  const UChar* code = nullptr;
  for (; at < in->stmts_used; ++at) {
    IRStmt* statement = in->stmts[at];
    if (statement->tag == Ist_IMark) {
      code = reinterpret_cast<const UChar*>(statement->Ist.IMark.addr);
      scopes.pass(statement->Ist.IMark.addr);
      // Before the call moves the stack pointer.
      if (piece->ends_in_call && statement->Ist.IMark.addr == piece->last) {
        addStmtToIRSB(out, statement);
        add_scope_end(write, scopes.before_call(piece->end), nullptr);
        continue;
      }
    }
    if (own) {
      const int pushed = statement->tag == Ist_Store ? pushed_register(code) : -1;
      if (pushed >= 0 && ((kKeptRegisters >> pushed) & 1) != 0) {
        add_store(write, known, in, statement, code);
      } else {
        addStmtToIRSB(out, statement);
      }
      continue;
    }
    known.note(statement);
    if (note_uses && uses.has(at)) add_use(write, known, statement);
    switch (statement->tag) {
      case Ist_Store:
        add_store(write, known, in, statement, code);
        break;
      case Ist_StoreG:
        add_guarded_store(write, in, statement);
        break;
      case Ist_CAS:
        add_swap(write, in, statement);
        break;
      case Ist_Exit:
        if (statement->Ist.Exit.jk == Ijk_Boring) {
          add_scope_end(write, scopes.leading_to(statement->Ist.Exit.dst->Ico.U64),
                        statement->Ist.Exit.guard);
        }
        addStmtToIRSB(out, statement);
        break;
      default:
        addStmtToIRSB(out, statement);
        break;
    }
  }
  VG_(free)(known.of);
  if (piece->ends_in_return) add_return(write, piece);
  if (in->jumpkind == Ijk_Boring && in->next->tag == Iex_Const) {
    add_scope_end(write, scopes.leading_to(in->next->Iex.Const.con->Ico.U64), nullptr);
  }
  if (!own) add_jump(write, in, piece->last);
  return out;
}

}  // namespace plumb::vg
