// What the debug information of one module says about where variables are: which
// one has a word of a frame, a register at an instruction, or an address; and
// when one of them is set anew, or its scope ends.
//
// A function's variables, those of what was inlined into it too, are read when
// first asked for. A place is either in memory, relative to the frame's CFA (the
// stack pointer before the call), or a register; both for a range of
// instructions.
// Limits: places that need more than a register and a constant are not known,
// and neither are variables that the optimiser gave none.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trace/dwarf_info.h"
#include "trace/elf_module.h"
#include "trace/found_variable.h"
#include "trace/global_variables.h"
#include "trace/record.h"

namespace plumb {

// Code from `begin` up to `end`.
struct CodeRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  bool has(std::uint64_t pc) const { return pc >= begin && pc < end; }
};

// A variable that has a place in its function's frame, and a scope that ends before
// the frame does.
struct ScopedSlot {
  std::int64_t offset = 0;  // from the CFA
  std::uint64_t size = 0;
  std::vector<CodeRange> live;  // in order
};
struct ScopedFunction {
  std::vector<CodeRange> code;
  std::vector<ScopedSlot> slots;
};

class Variables {
 public:
  // `dwarf` and the module's file outlive this.
  Variables(DwarfInfo& dwarf, const ElfModule& module);
  ~Variables();

  GlobalVariables& globals() { return globals_; }
  // The variable that has the word `offset` bytes from the CFA of the function
  // that `pc` is in; one whose scope has `pc`, if there is a choice.
  std::optional<FoundVariable> on_stack(std::uint64_t pc, std::int64_t offset);
  // One that is in one of these registers (as bits, by DWARF's numbers) at `pc`,
  // or is put into one by that instruction; the one that lives longest.
  std::optional<FoundVariable> in_registers(std::uint64_t pc, std::uint32_t registers);
  // What a pointer at this place calls the word behind it.
  std::optional<FoundVariable> through(std::uint64_t pc, const PlumbAlias& alias);

  // How many of the frames at `pc` were inlined into the scope of the variable;
  // nothing when `pc` is not in it.
  std::optional<std::size_t> frames_inside(const FoundVariable& variable, std::uint64_t pc);
  // The same for an instruction that sets the variable: without those that were
  // given a pointer to it, since they can be what sets it.
  std::optional<std::size_t> frames_of_setter(const FoundVariable& variable, std::uint64_t pc);
  // How many of the frames at `pc` are inlined calls, which `other` is not in, of
  // member functions that leave their object as it is.
  std::size_t frames_looking(std::uint64_t pc, std::uint64_t other);
  // The function of the variable is over at `pc`, and gave a pointer to the
  // one that `pc` is in (or to one that gave it on): how many frames are inside that.
  std::optional<std::size_t> frames_after(const FoundVariable& variable, std::uint64_t pc);
  // The same for a function that is not over, but whose end this is: its caller.
  std::optional<std::size_t> frames_given(const FoundVariable& variable, std::uint64_t pc);
  // How many of the frames at `pc` are inlined calls that `other` is not in.
  std::size_t frames_without(std::uint64_t pc, std::uint64_t other);
  // How many of the frames at `pc` are inlined calls that gave on what `other`, which is
  // in them, had made: their results are pointers, or they have a place to put one.
  std::size_t frames_giving(std::uint64_t pc, std::uint64_t other);
  // The next line of the source function that `pc` is in (without the first `inside` of
  // the frames there) behind `line`, in code that ran: statements that the optimiser left
  // nothing of, too, if the compiler says where they were.
  std::optional<std::uint64_t> next_line(std::uint64_t pc, std::size_t inside, std::uint64_t line,
                                         const std::vector<CodeRange>& ran);
  // An instruction on the last line of the variable's scope.
  std::optional<std::uint64_t> scope_end(const FoundVariable& variable);
  // Where the code from `first` to `last` gives the variable a new value: the
  // address behind the instruction that does. `known`: a value that the code
  // cannot have from elsewhere, a constant.
  std::optional<std::uint64_t> set_between(const FoundVariable& variable, std::uint64_t first,
                                           std::uint64_t last, bool known);
  // A call that was inlined into the function at `pc`, right into that function
  // itself: an instruction on its last line, and how many frames there are
  // inside of it.
  std::optional<std::pair<std::uint64_t, std::size_t>> inlined_end(std::uint64_t pc);
  // The functions of the unit that `pc` is in, as far as they have such slots.
  std::vector<ScopedFunction> scoped_slots(std::uint64_t pc);
  // Whether a line can belong to the function that has the variable: other
  // functions begin behind its end.
  bool is_own_line(const FoundVariable& variable, std::uint64_t line);
  // The variable belongs to a block inside its function, and `pc` is the last instruction
  // of that: the line that declares the variable.
  std::optional<std::uint32_t> ends_block(const FoundVariable& variable, std::uint64_t pc);
  // The variable belongs to a block inside its function, and this is the line
  // that declares it.
  bool is_inner_declaration(const FoundVariable& variable, std::uint64_t line);

 private:
  struct Place;
  struct Scope;
  struct Variable;
  struct Function;

  Function* function_at(std::uint64_t pc);
  static void add_scoped_slots(const Function& function, std::vector<ScopedSlot>& slots);
  bool is_own_line(const Function& function, std::size_t scope, std::uint64_t line) const;
  std::optional<std::uint64_t> end_of(const Function& function, std::size_t scope);
  void read_function(Function& function, Dwarf_Die die);
  void read_places(Function& function, Variable& variable);
  std::optional<std::int64_t> cfa_of(std::uint64_t begin, std::uint64_t end, unsigned base);
  FoundVariable found(const Function& function, const Variable& variable, std::string name);

  DwarfInfo& dwarf_;
  std::map<std::uint64_t, std::unique_ptr<Function>> functions_;  // by entry
  GlobalVariables globals_;
  Dwarf_CFI* cfi_ = nullptr;
  Dwarf_CFI* eh_cfi_ = nullptr;
};

}  // namespace plumb
