#include "in_line.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Path.h"
#include "mark.h"

using namespace llvm;

namespace plumb::pass {

namespace {

// In bytes. In line: what objects grew by, for each. Out of line: what it is and a load. An
// instruction: a guess.
constexpr std::int64_t kInstruction = 4;
constexpr std::int64_t kOutOfLine = 24;
constexpr std::int64_t kInLine = 78;
constexpr std::int64_t kMostGrowth = 75;  // of a function, in percent
constexpr std::uint64_t kSeldom = 4;      // of so many calls, one comes there

std::int64_t size_of(const Function& function) {
  std::int64_t size = 0;
  for (const Instruction& instruction : instructions(function)) {
    if (isa<PHINode>(instruction) || instruction.isDebugOrPseudoInst() ||
        instruction.isLifetimeStartOrEnd() || as_mark(const_cast<Instruction&>(instruction))) {
      continue;
    }
    size += kInstruction;
  }
  return size;
}

bool is_cxx(const Module& module) {
  for (const DICompileUnit* unit : module.debug_compile_units()) {
    return dwarf::isCPlusPlus(static_cast<dwarf::SourceLanguage>(unit->getSourceLanguage()));
  }
  // Compiled without debug information.
  const StringRef ending = sys::path::extension(module.getSourceFileName());
  return is_contained({".cc", ".cpp", ".cxx", ".c++", ".C", ".CC", ".cp", ".ii"}, ending);
}

// Calls reach two gigabytes.
bool reaches_thunks(const Module& module) {
  return module.getCodeModel().value_or(CodeModel::Small) != CodeModel::Large;
}

}  // namespace

bool shares_drops(const Module& module) { return is_cxx(module) && reaches_thunks(module); }

InLine drops_in_line(const Function& function, ArrayRef<CallInst*> marks,
                     FrequenciesOf frequencies_of) {
  if (!shares_drops(*function.getParent())) return InLine(marks.begin(), marks.end());
  const auto count = static_cast<std::int64_t>(marks.size());
  const std::int64_t spare = size_of(function) * kMostGrowth / 100 - count * kOutOfLine;
  const std::int64_t most = std::clamp<std::int64_t>(spare / (kInLine - kOutOfLine), 0, count);
  InLine chosen;
  if (most == 0) return chosen;
  const BlockFrequencyInfo& frequencies = frequencies_of();
  const std::uint64_t entry = frequencies.getEntryFreq().getFrequency();
  // Equals keep their order: the same code every time.
  SmallVector<std::pair<std::uint64_t, std::size_t>, 16> hottest;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    const std::uint64_t frequency = frequencies.getBlockFreq(marks[i]->getParent()).getFrequency();
    if (frequency >= entry / kSeldom) hottest.emplace_back(~frequency, i);
  }
  llvm::sort(hottest);
  if (hottest.size() > static_cast<std::size_t>(most)) hottest.resize(most);
  for (const auto& [frequency, i] : hottest) chosen.insert(marks[i]);
  return chosen;
}

}  // namespace plumb::pass
