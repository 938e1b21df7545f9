#include "unwinding.h"

#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace plumb::pass {

namespace {

constexpr const char* kPersonality = "__gxx_personality_v0";

bool is_cxx(const Function& function) {
  if (function.hasPersonalityFn()) {
    return function.getPersonalityFn()->stripPointerCasts()->getName() == kPersonality;
  }
  const DISubprogram* program = function.getSubprogram();
  if (!program || !program->getUnit()) return false;
  return dwarf::isCPlusPlus(
      static_cast<dwarf::SourceLanguage>(program->getUnit()->getSourceLanguage()));
}

bool may_throw(const CallInst& call) {
  return !call.doesNotThrow() && !isa<IntrinsicInst>(call) && !call.isInlineAsm() &&
         !call.isMustTailCall();
}

}  // namespace

std::vector<ResumeInst*> catch_passing_exceptions(Function& function) {
  if (function.doesNotThrow() || !is_cxx(function)) return {};
  std::vector<CallInst*> calls;
  for (Instruction& instruction : instructions(function)) {
    // A throw from a clean-up ends the program.
    if (instruction.getParent()->isLandingPad()) continue;
    if (auto* call = dyn_cast<CallInst>(&instruction); call && may_throw(*call)) {
      calls.push_back(call);
    }
  }
  if (calls.empty()) return {};
  LLVMContext& context = function.getContext();
  if (!function.hasPersonalityFn()) {
    function.setPersonalityFn(cast<Constant>(
        function.getParent()
            ->getOrInsertFunction(kPersonality, FunctionType::get(Type::getInt32Ty(context), true))
            .getCallee()));
  }
  BasicBlock* pad = BasicBlock::Create(context, "plumb.unwind", &function);
  IRBuilder<> builder(pad);
  LandingPadInst* landing = builder.CreateLandingPad(
      StructType::get(PointerType::getUnqual(context), Type::getInt32Ty(context)), 0);
  landing->setCleanup(true);
  ResumeInst* resume = builder.CreateResume(landing);
  if (function.getSubprogram()) {
    const DebugLoc place = DILocation::get(context, 0, 0, function.getSubprogram());
    landing->setDebugLoc(place);
    resume->setDebugLoc(place);
  }
  for (CallInst* call : calls) changeToInvokeAndSplitBasicBlock(call, pad);
  return {resume};
}

}  // namespace plumb::pass
