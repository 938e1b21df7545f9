#include "access.h"

#include "emit.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/BuildLibCalls.h"

using namespace llvm;

namespace plumb::pass {

namespace {

struct Access {
  Instruction* at;
  Value* pointer;
};

// By object: its last access in a block.
using Last = MapVector<const Value*, Access>;

void add(Last& last, Instruction& at, Value* pointer) {
  if (!pointer->getType()->isPointerTy() || pointer->getType()->getPointerAddressSpace() != 0) {
    return;
  }
  const Value* object = getUnderlyingObject(pointer);
  if (isa<AllocaInst>(object) || isa<Constant>(object)) return;
  // In the order of the last ones.
  last.erase(object);
  last.insert({object, {&at, pointer}});
}

void add_call(Last& last, CallBase& call) {
  const Function* callee = call.getCalledFunction();
  if (!callee || !callee->isDeclaration() || callee->getName().starts_with("__plumb")) return;
  for (unsigned i = 0; i < call.arg_size(); ++i) {
    Value* argument = call.getArgOperand(i);
    if (argument->getType()->isPointerTy() && call.doesNotCapture(i)) add(last, call, argument);
  }
}

void add_accesses(Last& last, Instruction& at) {
  if (auto* load = dyn_cast<LoadInst>(&at)) {
    add(last, at, load->getPointerOperand());
  } else if (auto* store = dyn_cast<StoreInst>(&at)) {
    add(last, at, store->getPointerOperand());
  } else if (auto* swap = dyn_cast<AtomicRMWInst>(&at)) {
    add(last, at, swap->getPointerOperand());
  } else if (auto* compare = dyn_cast<AtomicCmpXchgInst>(&at)) {
    add(last, at, compare->getPointerOperand());
  } else if (auto* copy = dyn_cast<AnyMemIntrinsic>(&at)) {
    add(last, at, copy->getRawDest());
    if (auto* transfer = dyn_cast<AnyMemTransferInst>(copy)) {
      add(last, at, transfer->getRawSource());
    }
  } else if (auto* call = dyn_cast<CallBase>(&at); call && !isa<IntrinsicInst>(call)) {
    if (!call->isInlineAsm() && !isa<InvokeInst>(call)) add_call(last, *call);
  }
}

}  // namespace

void learn_library(Module& module) {
  const TargetLibraryInfoImpl known(Triple(module.getTargetTriple()));
  const TargetLibraryInfo library(known);
  for (Function& function : module) {
    if (function.isDeclaration() && !function.isIntrinsic()) {
      inferNonMandatoryLibFuncAttrs(function, library);
    }
  }
}

bool note_accesses(Function& function, Sites& sites, bool optimised) {
  if (function.isDeclaration() || function.getName().starts_with("__plumb") ||
      function.hasFnAttribute(Attribute::Naked) ||
      function.hasFnAttribute(Attribute::DisableSanitizerInstrumentation)) {
    return false;
  }
  std::vector<Access> accesses;
  for (BasicBlock& block : function) {
    Last last;
    for (Instruction& instruction : block) add_accesses(last, instruction);
    for (const auto& [object, access] : last) accesses.push_back(access);
  }
  Module& module = *function.getParent();
  Emitter emitter(function, optimised);
  for (const Access& access : accesses) {
    const DebugLoc& where = access.at->getDebugLoc();
    Site site;
    site.spot = spot_of(where.get(), function);
    Constant* place = sites.make(module, {std::move(site)});
    if (where) {
      place = sites.inlined_at(module, cast<GlobalVariable>(place), where->getInlinedAt());
    }
    const Emitter::Tracked tracked = emitter.if_wanted(access.at, access.pointer);
    emitter.write_shadow(tracked, where, place, Emitter::Shadow::uses);
  }
  return !accesses.empty();
}

}  // namespace plumb::pass
