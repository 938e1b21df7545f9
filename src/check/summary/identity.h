// What symbols and functions of a program are, as numbers that mean the same in
// another run: of another version of the program, with its units in another order.
//
// A symbol is its name, and that of its unit if it is static. What is known of it
// (how a function is called, what a declaration promises, what a global holds and
// whether anything writes it) is a second number, a function's body a third. Lines
// are in none of them: to move a function does not change it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "check/model/program.h"

namespace plumb::check {

class Identities {
 public:
  // `units` names each unit of the program.
  Identities(const Program& program, const std::vector<std::string>& units, unsigned threads);

  std::uint64_t symbol(ProgramSymbolId id) const { return symbols_[id.index]; }
  std::uint64_t facts(ProgramSymbolId id) const { return facts_[id.index]; }
  std::uint64_t function(FunctionId id) const {
    return symbol(program_.functions()[id.index].symbol);
  }
  std::uint64_t body(FunctionId id) const { return bodies_[id.index]; }

  // Nothing when there is no such symbol, or more than one.
  std::optional<ProgramSymbolId> find_symbol(std::uint64_t identity) const;
  std::optional<FunctionId> find_function(std::uint64_t identity) const;

  const Program& program() const { return program_; }

 private:
  void name_symbols(const std::vector<std::string>& units);
  std::uint64_t facts_of(const ProgramSymbol& symbol) const;
  std::uint64_t body_of(const ProgramFunction& function) const;

  const Program& program_;
  std::vector<std::uint64_t> symbols_;
  std::vector<std::uint64_t> facts_;
  std::vector<std::uint64_t> bodies_;
  std::vector<std::uint64_t> types_;                 // by unit
  std::vector<std::vector<const Global*>> globals_;  // by unit and SymbolId
  static constexpr std::uint32_t kSeveral = ~0u;
  std::unordered_map<std::uint64_t, std::uint32_t> by_identity_;  // ProgramSymbolId, or kSeveral
};

}  // namespace plumb::check
