// The pass plugin that turns a module into a unit file.
//
//   PLUMB_UNIT=FILE clang-19 -O1 -g -fpass-plugin=libplumb_lower.so -c a.c -o /dev/null
//
// It runs first of all passes, writes the unit, and ends the compiler: what
// would come after is optimisation and code that nobody wants. That LLVM lives
// in this process only keeps the command small, its memory bounded, and a
// crash of the compiler on odd input a unit that is skipped.

#include <cstdio>
#include <cstdlib>

#include <llvm/IR/PassManager.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/PassPlugin.h>

#include "check/lower/lower.h"
#include "check/model/unit_file.h"

namespace plumb::check {

namespace {

class WriteUnit : public llvm::PassInfoMixin<WriteUnit> {
 public:
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
    const char* path = std::getenv("PLUMB_UNIT");
    if (!path) return llvm::PreservedAnalyses::all();
    const Result<void> written = write_unit(lower_module(module), path);
    if (!written) {
      std::fprintf(stderr, "error: %s", written.error().message().c_str());
      std::_Exit(EXIT_FAILURE);
    }
    std::_Exit(EXIT_SUCCESS);
  }
  static bool isRequired() { return true; }
};

}  // namespace

}  // namespace plumb::check

extern "C" LLVM_ATTRIBUTE_WEAK __attribute__((visibility("default"))) llvm::PassPluginLibraryInfo
llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "plumb-lower", "1", [](llvm::PassBuilder& builder) {
            builder.registerPipelineStartEPCallback(
                [](llvm::ModulePassManager& passes, llvm::OptimizationLevel) {
                  passes.addPass(plumb::check::WriteUnit());
                });
          }};
}
