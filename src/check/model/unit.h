// The model of one translation unit: what the analysis needs of a program and
// nothing else, small enough to keep millions of lines in memory.
//
// A function is a list of blocks of operations in the order of the source.
// Local variables are kept as such (Var) and not turned into SSA values: that a
// variable is overwritten or leaves its scope is just what a leak is about.
// Values that no memory operation, branch, call or return depends on are
// gone; floating point is Unknown.
//
// An Operand is a tagged 32-bit word, so an operation is a few words and
// a unit can be written to a file as it is. Symbols are by name: units are
// linked by name, statics by name and unit.
//
// Limits: bytes, not types, tell the fields of an object apart; inline assembly
// and vectors are Unknown.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "base/id.h"

namespace plumb::check {

struct SymbolId : Id<SymbolId> {};  // a function or global of the unit
struct VarId : Id<VarId> {};        // a local variable of a function
struct BlockIndex : Id<BlockIndex> {};
struct FileId : Id<FileId> {};
struct TypeId : Id<TypeId> {};  // 0: not known

// The shape of a type, as far as the names of places need it. (The analysis
// itself goes by bytes.)
enum class TypeShape : std::uint8_t { other, pointer, array, record };

struct Field {
  std::string name;  // empty for a base class or an unnamed member
  std::uint64_t offset = 0;
  TypeId type;
};

struct Type {
  TypeShape shape = TypeShape::other;
  TypeId target;  // pointer, array: what is there
  std::uint64_t size = 0;
  std::vector<Field> fields;  // record; by offset
};

enum class OperandKind : std::uint8_t {
  unknown,  // a value that the analysis knows nothing of
  result,   // of the operation with this index in the function
  param,    // parameter number
  integer,  // index into Function::integers; null is the integer 0
  symbol,   // address of a function or global
  var,      // address of a local variable
};

struct Operand {
  std::uint32_t bits = 0;

  static Operand of(OperandKind kind, std::uint32_t index) {
    return {static_cast<std::uint32_t>(kind) | index << 3};
  }
  OperandKind kind() const { return static_cast<OperandKind>(bits & 7); }
  std::uint32_t index() const { return bits >> 3; }
  bool operator==(const Operand&) const = default;
};

enum class Op : std::uint8_t {
  load,       // result = *a, `width` bytes
  store,      // *a = b, `width` bytes
  copy,       // bytes at a = bytes at b, c of them (memcpy, memmove, struct assignment)
  fill,       // bytes at a = byte b, c of them (memset)
  offset,     // result = a + immediate
  index,      // result = a + b * immediate
  binary,     // result = a `code` b
  compare,    // result = a `code` b
  cast,       // result = a cut or widened to `width`; `code` says how
  select,     // result = a ? b : c
  extract,    // result = `width` bytes of the aggregate a, at immediate
  insert,     // result = the aggregate a with b at immediate
  phi,        // result by predecessor: operands of the pool, as (block, value)
  call,       // a is the callee, arguments in the pool
  scope_end,  // the variable a ends
  landing,    // an exception arrives
  catches,    // result = does a handler for the class whose typeinfo is a take it?
  // The last operation of a block:
  jump,         // to `targets[0]`
  branch,       // a ? targets[0] : targets[1]
  switch_to,    // pool: (integer, block) pairs; targets[0] is the default
  returns,      // a, if `width` is not 0
  unreachable,  // nothing gets here
  invoke_end,   // after a call that may throw: targets[0] normal, targets[1] unwind
  resume,       // the exception goes on to the caller
};

// Sub-operation of binary, compare and cast.
enum class Code : std::uint8_t {
  none,
  add,
  sub,
  mul,
  div_s,
  div_u,
  rem_s,
  rem_u,
  bit_and,
  bit_or,
  bit_xor,
  shl,
  shr_s,
  shr_u,
  eq,
  ne,
  lt_s,
  le_s,
  gt_s,
  ge_s,
  lt_u,
  le_u,
  gt_u,
  ge_u,
  truncate,
  zero_extend,
  sign_extend,
  same,
};

struct Location {
  FileId file;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  bool operator==(const Location&) const = default;
};

struct Operation {
  Op op = Op::unreachable;
  Code code = Code::none;
  bool pointer = false;   // load, store: the value is a pointer; binary: a distance of two
  bool noreturn = false;  // call
  bool nounwind = false;  // call
  bool varargs = false;   // call: through a variadic type
  // call: the arguments from this one on are named by a format that reads them; 0: none
  std::uint16_t read_from = 0;
  std::uint32_t width = 0;  // bytes; for casts and binaries too (1 for i1)
  Operand a, b, c;
  std::int64_t immediate = 0;
  std::uint32_t pool_begin = 0;  // into Function::pool
  std::uint32_t pool_count = 0;
  BlockIndex targets[2];
  // call: hash of the function type, for indirect calls; offset: of the structure whose
  // member this is, 0 for others
  std::uint32_t type = 0;
  Location location;
};

// A virtual call: `b` is the class that the object has at least (a symbol that only
// ClassTables share), `immediate` the place in the table of its functions.
inline bool is_virtual_call(const Operation& o) {
  return o.op == Op::call && o.b.kind() == OperandKind::symbol;
}

// A call whose callee is a value of the program, not a name.
inline bool is_indirect_call(const Operation& o) {
  return o.op == Op::call &&
         (o.a.kind() == OperandKind::result || o.a.kind() == OperandKind::param);
}

struct Var {
  std::string name;  // as the source has it; empty for a temporary
  std::string type;
  TypeId shape;
  std::uint64_t size = 0;
  // Only ever loaded and stored as a whole: no alias of it exists.
  bool simple = false;
  bool parameter = false;
  Location location;
};

struct Block {
  std::uint32_t begin = 0;  // into Function::operations
  std::uint32_t end = 0;
};

enum class Linkage : std::uint8_t { external, weak, internal };

struct Function {
  SymbolId symbol;
  std::string display;  // as the source names it, demangled
  Linkage linkage = Linkage::external;
  bool noreturn = false;
  bool variadic = false;
  bool returns_pointer = false;
  std::uint32_t return_width = 0;  // bytes, 0 for none
  std::uint32_t params = 0;
  std::uint32_t type = 0;  // hash of the function type
  TypeId result_shape;
  Location location;
  std::vector<Var> vars;
  std::vector<std::int64_t> integers;
  std::vector<Operand> pool;
  std::vector<Operation> operations;
  std::vector<Block> blocks;  // blocks[0] is the entry; in reverse post-order
};

// A place in a structure that has a name in the source.
struct Member {
  std::uint32_t record = 0;  // hash of the name; 0: none
  std::int64_t offset = 0;
  auto operator<=>(const Member&) const = default;
};

// What a global's initial value holds at an offset. Of texts and tables of numbers only the
// first byte is told: a `width` of 0 says that nothing is known of the next `value` bytes.
struct Initial {
  std::uint64_t offset = 0;
  std::uint32_t width = 0;
  bool is_symbol = false;
  SymbolId symbol;  // plus `value` bytes
  std::int64_t value = 0;
  Member member;  // of the innermost structure
};

struct Global {
  SymbolId symbol;
  Linkage linkage = Linkage::external;
  bool constant = false;
  bool thread_local_storage = false;
  bool defined = false;
  std::uint64_t size = 0;
  std::string display;
  TypeId shape;
  std::vector<Initial> initial;  // sorted by offset; absent bytes are zero
};

// A function that is only declared: what its declaration promises.
struct Declaration {
  SymbolId symbol;
  bool noreturn = false;
  bool allocates = false;           // attribute malloc or allockind
  std::uint64_t const_params = 0;   // bit i: parameter i is a pointer to const
  std::uint64_t kept_params = 0;    // bit i: parameter i may be kept (not nocapture)
  std::uint64_t number_params = 0;  // bit i: parameter i is an integer: perhaps a handle
  std::uint32_t type = 0;           // hash of the function type
};

// Another name of a function: constructors of C++ have two that are often one.
struct Alias {
  SymbolId symbol;
  SymbolId function;
  Linkage linkage = Linkage::external;
  std::uint8_t unused[3] = {};
};

// Objects of the class may have the address `table` + `offset` in front: it is the table of
// the class itself or of one that is derived from it.
struct ClassTable {
  SymbolId type;
  SymbolId table;
  std::int64_t offset = 0;
};

struct Unit {
  std::string source;  // the main file
  std::vector<std::string> symbols;
  std::vector<std::string> files;
  std::vector<Type> types;  // [0] is the type that is not known
  std::vector<Function> functions;
  std::vector<Global> globals;
  std::vector<Declaration> declarations;
  std::vector<Alias> aliases;
  std::vector<ClassTable> class_tables;
  std::vector<SymbolId> address_taken;  // functions whose address is stored or passed
};

}  // namespace plumb::check
