// What a run looks at besides the function in hand, so that its result can be kept
// and used again when all of that is as it was (kept_results.h).
//
// A run sees the program through ProgramView and summaries through Known: nothing
// that it learns there goes unnoticed.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "check/model/program.h"
#include "check/model/virtual_calls.h"

namespace plumb::check {

// Numbers, each once; adding one again costs next to nothing most of the time.
class ReadSet {
 public:
  void add(std::uint32_t number) {
    std::uint32_t& last = recent_[number % recent_.size()];
    if (last == number + 1) return;
    last = number + 1;
    all_.push_back(number);
  }
  // Sorted, each once.
  const std::vector<std::uint32_t>& numbers() {
    std::sort(all_.begin(), all_.end());
    all_.erase(std::unique(all_.begin(), all_.end()), all_.end());
    return all_;
  }

 private:
  std::array<std::uint32_t, 64> recent_{};
  std::vector<std::uint32_t> all_;
};

struct Reads {
  ReadSet symbols;    // ProgramSymbolIds: what is known of the symbol itself
  ReadSet summaries;  // FunctionIds, whether or not there was a summary yet
  ReadSet bodies;     // FunctionIds
};

class ProgramView {
 public:
  ProgramView(const Program& program, Reads* reads) : program_(program), reads_(reads) {}

  const ProgramSymbol& symbol(ProgramSymbolId id) const {
    if (reads_) reads_->symbols.add(id.index);
    return program_.symbol(id);
  }
  ProgramSymbolId resolve(std::uint32_t unit, SymbolId symbol) const {
    return program_.resolve(unit, symbol);
  }
  // For names of places: a body's identity has those of its unit's types in it.
  const Unit& unit_of(const ProgramFunction& function) const {
    return program_.units()[function.unit];
  }
  const ProgramFunction& function(FunctionId id) const {
    if (reads_) reads_->bodies.add(id.index);
    return program_.functions()[id.index];
  }
  // Part of the identity of the body that has the call.
  Left left_alone(std::uint32_t type) const { return program_.left_alone(type); }
  Left left_alone(ProgramSymbolId type, std::int64_t place) const {
    return program_.left_alone(type, place);
  }
  // The same of what a virtual call may lead to.
  std::vector<Program::Choice> choices(ProgramSymbolId type, std::int64_t place) const {
    return program_.choices(type, place);
  }
  const std::string& name(FunctionId id) const {
    return symbol(program_.functions()[id.index].symbol).name;
  }
  // How it is called: part of what is known of its symbol, not of its body.
  struct Signature {
    std::uint32_t params = 0;
    bool variadic = false;
    bool destroys = false;  // it is a destructor
  };
  Signature signature(FunctionId id) const {
    const ProgramFunction& function = program_.functions()[id.index];
    if (reads_) reads_->symbols.add(function.symbol.index);
    const bool destroys = is_destructor(program_.symbol(function.symbol).name);
    return {function.body->params, function.body->variadic, destroys};
  }

 private:
  const Program& program_;
  Reads* reads_;
};

}  // namespace plumb::check
