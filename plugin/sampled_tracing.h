// What the tracing half of a version does besides: it reports accesses, makes the
// functions that it calls go on with the burst, and crosses over when that is over.
#pragma once

#include <vector>

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/ValueHandle.h"
#include "sampled_halves.h"
#include "sampled_twin.h"

namespace plumb::pass {

class Tracing {
 public:
  Tracing(llvm::Function& version, Halves& halves, const EntryChecks& entries);

  // Before `at`, which everything comes after: where the burst is counted.
  void begin(llvm::Instruction* at);

  void record_accesses();
  void follow_calls();
  void cross_over();
  // When all values are in place.
  void expand_records();

  // Calls of functions that are not checked.
  std::vector<llvm::WeakTrackingVH> unchecked_calls;

 private:
  // Is the burst still on? Counts.
  llvm::Value* goes_on(llvm::IRBuilder<>& builder, const llvm::DebugLoc& place);
  llvm::Value* field(llvm::IRBuilder<>& builder, unsigned offset);
  llvm::Value* is_on(llvm::IRBuilder<>& builder);
  void force(llvm::CallBase& call, llvm::GlobalVariable* left);
  llvm::DebugLoc location_of(const llvm::Instruction& instruction);

  llvm::Function& version_;
  Halves& halves_;
  const EntryChecks& entries_;
  llvm::Module& module_;
  llvm::LLVMContext& context_;
  llvm::Type* int_;
  llvm::PointerType* pointer_;
  llvm::Value* burst_ = nullptr;
  std::vector<llvm::WeakTrackingVH> records_;
};

}  // namespace plumb::pass
