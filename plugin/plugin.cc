// The pass plugin of `plumb cc`, for clang 19 (-fpass-plugin): marks at the start
// of the pipeline, lowers after the main optimisations and before those that
// vectorise; accesses, where they are asked for, are noted at its end. PLUMB_PASS_STATS=1 prints
// what became of the marks.

#include <cstdlib>
#include <memory>

#include "access.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/BlockFrequencyInfo.h"
#include "llvm/Analysis/MemorySSA.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/PassPlugin.h"
#include "llvm/Support/raw_ostream.h"
#include "lower.h"
#include "mark.h"

using namespace llvm;

namespace plumb::pass {

namespace {

struct MarkPass : PassInfoMixin<MarkPass> {
  explicit MarkPass(std::shared_ptr<Sites> sites) : sites_(std::move(sites)) {}
  PreservedAnalyses run(Module& module, ModuleAnalysisManager&) {
    bool changed = false;
    const JumpingFunctions jumps = jumping_functions(module);
    for (Function& function : module) changed |= mark_function(function, *sites_, jumps);
    sites_->all_made();
    return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
  }
  static bool isRequired() { return true; }
  std::shared_ptr<Sites> sites_;
};

struct LowerPass : PassInfoMixin<LowerPass> {
  LowerPass(std::shared_ptr<Sites> sites, bool optimised)
      : sites_(std::move(sites)), optimised_(optimised) {}
  PreservedAnalyses run(Module& module, ModuleAnalysisManager& manager) {
    FunctionAnalysisManager& functions =
        manager.getResult<FunctionAnalysisManagerModuleProxy>(module).getManager();
    LowerCounts counts;
    for (Function& function : module) {
      if (function.isDeclaration()) continue;
      MemorySSA* memory = nullptr;
      AAResults* aliases = nullptr;
      if (optimised_) {
        memory = &functions.getResult<MemorySSAAnalysis>(function).getMSSA();
        aliases = &functions.getResult<AAManager>(function);
      }
      const auto frequencies = [&]() -> const BlockFrequencyInfo& {
        return functions.getResult<BlockFrequencyAnalysis>(function);
      };
      if (lower_function(function, *sites_, memory, aliases, frequencies, counts)) {
        functions.invalidate(function, PreservedAnalyses::none());
      }
    }
    sites_->finish(module);
    if (std::getenv("PLUMB_PASS_STATS") != nullptr) {
      errs() << module.getSourceFileName() << ": " << counts.marks << " marks, " << counts.lowered
             << " lowered; removed: constant " << counts.constant << ", argument "
             << counts.argument << ", borrowed " << counts.borrowed << ", covered "
             << counts.covered << "\n";
    }
    return PreservedAnalyses::none();
  }
  static bool isRequired() { return true; }
  std::shared_ptr<Sites> sites_;
  bool optimised_;
};

struct AccessPass : PassInfoMixin<AccessPass> {
  AccessPass(std::shared_ptr<Sites> sites, bool optimised)
      : sites_(std::move(sites)), optimised_(optimised) {}
  PreservedAnalyses run(Module& module, ModuleAnalysisManager&) {
    bool changed = false;
    learn_library(module);
    for (Function& function : module) changed |= note_accesses(function, *sites_, optimised_);
    if (changed) {
      sites_->finish(module);
      Sites::finish_accesses(module);
    }
    return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
  }
  static bool isRequired() { return true; }
  std::shared_ptr<Sites> sites_;
  bool optimised_;
};

void register_passes(PassBuilder& builder) {
  auto sites = std::make_shared<Sites>();
  builder.registerPipelineStartEPCallback(
      [sites](ModulePassManager& passes, OptimizationLevel) { passes.addPass(MarkPass(sites)); });
  builder.registerOptimizerEarlyEPCallback(
      [sites](ModulePassManager& passes, OptimizationLevel level) {
        passes.addPass(LowerPass(sites, level != OptimizationLevel::O0));
      });
  // Set by `plumb cc -fplumb=access`.
  if (std::getenv("PLUMB_PASS_ACCESS") == nullptr) return;
  builder.registerOptimizerLastEPCallback(
      [sites](ModulePassManager& passes, OptimizationLevel level) {
        passes.addPass(AccessPass(sites, level != OptimizationLevel::O0));
      });
}

}  // namespace

}  // namespace plumb::pass

extern "C" LLVM_ATTRIBUTE_WEAK __attribute__((visibility("default"))) PassPluginLibraryInfo
llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "plumb", LLVM_VERSION_STRING, plumb::pass::register_passes};
}
