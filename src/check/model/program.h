// Units linked to one program by the rules of C and C++: statics by unit, the
// strong definition, else the first weak one. Where several units have a strong one,
// they are of several programs (rivals.h).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "check/model/unit.h"

namespace plumb::check {

struct ProgramSymbolId : Id<ProgramSymbolId> {};
struct FunctionId : Id<FunctionId> {};

// Is the symbol one of several of its name?
enum class Rival : std::uint8_t {
  none,
  known,    // one of the definitions, and those who mean it
  unknown,  // those of whom nobody knows which one they mean
};

struct ProgramSymbol {
  std::string name;
  Rival rival = Rival::none;
  std::optional<FunctionId> function;
  const Global* global = nullptr;
  std::uint32_t global_unit = 0;
  const Declaration* declaration = nullptr;
  bool written = false;        // global: stored to, or its address goes somewhere
  bool address_taken = false;  // function
};

struct ProgramFunction {
  std::uint32_t unit = 0;
  const Function* body = nullptr;
  ProgramSymbolId symbol;
  // The function that this one is a copy of, see given_functions.h.
  std::optional<FunctionId> copy_of = {};
};

// Parameters of what a call through a pointer leads to, as bits.
struct Left {
  std::uint64_t alone = 0;   // neither kept, freed, changed nor returned, nor what hangs on it
  std::uint64_t spared = 0;  // not kept, freed or returned itself

  Left operator&(const Left& other) const { return {alone & other.alone, spared & other.spared}; }
};

// A class (a ProgramSymbolId) and a place in the table of its functions.
using VirtualCall = std::pair<std::uint32_t, std::int64_t>;

struct CallsThroughPointers {
  std::unordered_map<std::uint32_t, Left> by_type;  // of function (unit.h)
  std::map<VirtualCall, Left> by_class;
};

class Program {
 public:
  // The units must not change afterwards. When some are missing (not `whole`), they
  // may write any global that is not static.
  explicit Program(std::vector<Unit> units, bool whole = true);

  const std::vector<Unit>& units() const { return units_; }
  const std::vector<ProgramFunction>& functions() const { return functions_; }
  const ProgramSymbol& symbol(ProgramSymbolId id) const { return symbols_[id.index]; }
  std::size_t symbols() const { return symbols_.size(); }
  ProgramSymbolId resolve(std::uint32_t unit, SymbolId symbol) const {
    return of_unit_[unit][symbol.index];
  }
  const std::string& file(std::uint32_t unit, FileId file) const {
    return units_[unit].files[file.index];
  }

  // What calls through pointers leave alone: see bystanders.h.
  void note_bystanders(CallsThroughPointers found) { bystanders_ = std::move(found); }
  Left left_alone(std::uint32_t type) const {
    const auto found = bystanders_.by_type.find(type);
    return found == bystanders_.by_type.end() ? Left{} : found->second;
  }
  // The same of a virtual call, by the class that the object has at least.
  Left left_alone(ProgramSymbolId type, std::int64_t place) const {
    const auto found = bystanders_.by_class.find({type.index, place});
    return found == bystanders_.by_class.end() ? Left{} : found->second;
  }

  // What the function does is said elsewhere: calls of it do not look at its body.
  void forget_definition(ProgramSymbolId id);

  // Where the functions of objects stand that are of the class or derived from it.
  struct Table {
    ProgramSymbolId global;
    std::int64_t offset = 0;
    auto operator<=>(const Table&) const = default;
  };
  // Of the class that a virtual call names; sorted.
  std::span<const Table> tables(ProgramSymbolId type) const;
  // One of the functions that a call may lead to, when it destroys an object: that of the
  // objects that have the table. None are listed when there are too many.
  struct Choice {
    Table table;
    ProgramSymbolId symbol;
    FunctionId function;
  };
  std::vector<Choice> choices(ProgramSymbolId type, std::int64_t place) const;
  // Are all of them in the program, as far as can be told?
  bool is_closed(ProgramSymbolId type) const;
  // What the table has there; nothing when that is no function of the program.
  std::optional<ProgramSymbolId> function_in(const Table& table, std::int64_t place) const;

  // A further function: `body`, in the unit of the one that it is a copy of, under a name
  // that nothing else has.
  FunctionId add_copy(FunctionId of, Function body, std::string name);
  std::size_t copies() const { return copies_.size(); }
  // The number that the unit has for a symbol, a new one if need be.
  SymbolId symbol_in(std::uint32_t unit, ProgramSymbolId id);
  // The call leads to `callee` from now on.
  void redirect(FunctionId caller, std::uint32_t operation, ProgramSymbolId callee);

  // The call throws nothing that anybody is prepared for.
  void forget_throw(FunctionId caller, std::uint32_t operation) {
    bodies_[caller.index]->operations[operation].nounwind = true;
  }

  // The defined functions that this one calls by name, each once.
  std::vector<FunctionId> callees(FunctionId function) const;

  // Components of the call graph, callees first; direct calls only.
  std::vector<std::vector<FunctionId>> components() const;

 private:
  void add_symbols();
  void find_written_globals();
  void spread_to_rivals();
  void collect_tables();

  std::vector<Unit> units_;
  std::vector<ProgramSymbol> symbols_;
  std::vector<std::vector<ProgramSymbolId>> of_unit_;
  std::vector<ProgramFunction> functions_;
  std::vector<Function*> bodies_;  // of functions_, to change them
  std::deque<Function> copies_;
  std::map<std::pair<std::uint32_t, ProgramSymbolId>, SymbolId> added_symbols_;
  CallsThroughPointers bystanders_;
  std::map<ProgramSymbolId, std::vector<Table>> tables_;  // by class
};

}  // namespace plumb::check
