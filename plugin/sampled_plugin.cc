// The pass plugin of `plumb cc -fplumb=sampled`, for clang 19: after all
// optimisation, each function that touches memory which may be a heap block's gets
// a tracing version (sampled_twin.h). PLUMB_PASS_STATS=1 prints how many.

#include <cstdlib>
#include <vector>

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/PassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/PassPlugin.h"
#include "llvm/Support/raw_ostream.h"
#include "sampled_choice.h"
#include "sampled_twin.h"

using namespace llvm;

namespace plumb::pass {

namespace {

struct SampledPass : PassInfoMixin<SampledPass> {
  PreservedAnalyses run(Module& module, ModuleAnalysisManager&) {
    std::vector<Function*> traced;
    EntryChecks entries;
    unsigned all = 0;
    for (Function& function : module) {
      if (function.isDeclaration()) continue;
      ++all;
      if (!can_be_traced(function)) continue;
      traced.push_back(&function);
      DominatorTree dominators(function);
      if (needs_entry_check(function, LoopInfo(dominators))) {
        entries[&function] = make_check(module);
      }
    }
    std::vector<Version> versions;
    for (Function* function : traced) versions.push_back(make_twin(*function, entries));
    call_versions(versions, entries);
    if (std::getenv("PLUMB_PASS_STATS") != nullptr) {
      errs() << module.getSourceFileName() << ": " << all << " functions, " << traced.size()
             << " traced, " << entries.size() << " checked at their entry\n";
      if (verifyModule(module, &errs())) errs() << "plumb: the module is broken\n";
    }
    return traced.empty() ? PreservedAnalyses::all() : PreservedAnalyses::none();
  }
  static bool isRequired() { return true; }
};

void register_passes(PassBuilder& builder) {
  builder.registerOptimizerLastEPCallback(
      [](ModulePassManager& passes, OptimizationLevel) { passes.addPass(SampledPass()); });
}

}  // namespace

}  // namespace plumb::pass

extern "C" LLVM_ATTRIBUTE_WEAK __attribute__((visibility("default"))) PassPluginLibraryInfo
llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "plumb-sampled", LLVM_VERSION_STRING,
          plumb::pass::register_passes};
}
