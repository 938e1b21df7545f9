#include "thunks.h"

#include <string>
#include <utility>

#include "abi.h"
#include "emit.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace plumb::pass {

namespace {

// Which registers a pointer can be in: the rest are the stack's and the thunk's own. Their
// lower halves beside them.
constexpr std::pair<const char*, const char*> kRegisters[] = {
    {"rax", "eax"},  {"rcx", "ecx"},  {"rdx", "edx"},  {"rbx", "ebx"},
    {"rbp", "ebp"},  {"rsi", "esi"},  {"rdi", "edi"},  {"r8", "r8d"},
    {"r12", "r12d"}, {"r13", "r13d"}, {"r14", "r14d"}, {"r15", "r15d"}};
constexpr const char* kClobbered = "~{r9},~{r10},~{r11},~{dirflag},~{fpsr},~{flags}";
constexpr const char* kMemberClobbered =
    "~{rax},~{rcx},~{rdx},~{r10},~{r11},~{dirflag},~{fpsr},~{flags}";

static_assert((kArenaNumber & (kArenaNumber - 1)) == 0, "one bit tells the arena");
constexpr unsigned kArenaBit = kArenaShift + __builtin_ctzll(kArenaNumber);

std::string entry(const std::string& name) {
  return ".weak " + name + "\n.hidden " + name + "\n.type " + name + ",@function\n" + name + ":\n";
}

// The pointer in r10, the place in r11. The register that the pointer came in is cleared: it may
// be one that keeps what it has to the end of the program, and the end looks at registers.
std::string thunk_code() {
  std::string code;
  for (const auto& [name, half] : kRegisters) {
    code += entry(std::string(kThunk) + name);
    code += std::string("\tmovq %") + name + ", %r10\n";
    code += std::string("\txorl %") + half + ", %" + half + "\n\tjmp 1f\n";
  }
  code += "1:\tmovq %r10, %r9\n";
  code += "\tshrq $$" + std::to_string(kArenaShift) + ", %r9\n";
  code += "\tcmpq $$" + std::to_string(kArenaNumber) + ", %r9\n";
  code += "\tjne 2f\n";
  code += std::string("\tmovq ") + kClock + "@GOTTPOFF(%rip), %r9\n";
  code += "\taddq $$" + std::to_string(1u << kPlaceBits) + ", %fs:(%r9)\n";
  code += "\tsubq $0, %r11\n";
  code += "\tshrq $$" + std::to_string(kShadowShift + 3) + ", %r10\n";
  code += "\tprefetchw (,%r10,8)\n";
  // The half of the 32 bytes is the last bit that went out.
  code += "\tadcq %fs:(%r9), %r11\n";
  code += "\tmovq %r11, (,%r10,8)\n";
  code += "2:\tretq\n";
  return code;
}

// The object in rdi, the way in rsi, the table in r11; no pointer is left in the others.
std::string member_thunk_code() {
  std::string code = entry(kMemberThunk);
  code += "\tmovl (%r11), %ecx\n";
  code += "1:\tmovslq 4(%r11), %rax\n";
  code += "\tmovq (%rdi,%rax), %rax\n";
  code += "\tmovq %rax, %rdx\n";
  code += "\tshrq $$" + std::to_string(kArenaShift) + ", %rdx\n";
  code += "\tcmpl $$" + std::to_string(kArenaNumber) + ", %edx\n";
  code += "\tje 3f\n";
  code += "2:\taddq $$8, %r11\n";
  code += "\tdecl %ecx\n";
  code += "\tjne 1b\n";
  code += "\txorl %eax, %eax\n";
  code += "\tretq\n";
  code += "3:\tmovslq 8(%r11), %rdx\n";
  code += "\tleaq 8(%r11,%rdx), %rdx\n";
  code += "\tleaq (%rdx,%rsi,8), %rdx\n";
  code += std::string("\tmovq ") + kClock + "@GOTTPOFF(%rip), %r10\n";
  code += "\taddq $$" + std::to_string(1u << kPlaceBits) + ", %fs:(%r10)\n";
  code += "\tsubq $0, %rdx\n";
  code += "\tshrq $$" + std::to_string(kShadowShift + 3) + ", %rax\n";
  code += "\tadcq %fs:(%r10), %rdx\n";
  code += "\tmovq %rdx, (,%rax,8)\n";
  code += "\tjmp 2b";
  return code;
}

// Aligned: the call writes below the stack pointer, where leaves have their variables otherwise.
CallInst* call_thunk(IRBuilder<>& builder, Type* result, const std::string& code,
                     const std::string& constraints, ArrayRef<Value*> operands) {
  SmallVector<Type*, 3> types;
  for (Value* operand : operands) types.push_back(operand->getType());
  CallInst* call = builder.CreateCall(
      InlineAsm::get(FunctionType::get(result, types, false), code, constraints, true,
                     /*isAlignStack=*/true),
      operands);
  call->setMemoryEffects(MemoryEffects::inaccessibleOrArgMemOnly());
  call->setDoesNotThrow();
  call->addFnAttr(Attribute::WillReturn);
  return call;
}

Attribute element(LLVMContext& context, Type* type) {
  return Attribute::get(context, Attribute::ElementType, type);
}

}  // namespace

void drop_out_of_line(Instruction* before, Value* pointer, Value* site) {
  IRBuilder<> builder(before);
  Type* word = builder.getInt64Ty();
  std::string code = "btq $$" + std::to_string(kArenaBit) + ", $0\n\t";
  code += "jae 1f\n\t";
  code += "leaq $2, %r11\n\t";
  code += std::string("callq ") + kThunk + "${0:V}\n1:";
  CallInst* call = call_thunk(builder, word, code, std::string("=&r,0,*m,") + kClobbered,
                              {builder.CreatePtrToInt(pointer, word), site});
  call->addParamAttr(1, element(before->getContext(), word));
}

void drop_out_of_line(Instruction* before, Value* object, Value* way, GlobalVariable* table) {
  IRBuilder<> builder(before);
  const std::string code = std::string("leaq $2, %r11\n\tcallq ") + kMemberThunk;
  CallInst* call = call_thunk(builder, builder.getVoidTy(), code,
                              std::string("{rdi},{rsi},*m,") + kMemberClobbered,
                              {object, way ? way : builder.getInt64(0), table});
  call->addParamAttr(0, Attribute::NoCapture);
  call->addParamAttr(0, Attribute::ReadOnly);
  call->addParamAttr(2, element(before->getContext(), table->getValueType()));
}

void add_thunks(Module& module, GlobalVariable* bias) {
  if (module.getFunction(kThunks)) return;
  LLVMContext& context = module.getContext();
  FunctionType* type = FunctionType::get(Type::getVoidTy(context), false);
  Function* thunks = Function::Create(type, GlobalValue::LinkOnceODRLinkage, kThunks, module);
  thunks->setVisibility(GlobalValue::HiddenVisibility);
  thunks->setComdat(module.getOrInsertComdat(kThunks));
  thunks->addFnAttr(Attribute::Naked);
  thunks->addFnAttr(Attribute::NoUnwind);
  // A signal may come in it, and its handler want the stack.
  thunks->setUWTableKind(UWTableKind::Async);
  thunks->addFnAttr(Attribute::NoInline);
  thunks->addFnAttr(Attribute::NoProfile);
  IRBuilder<> builder(BasicBlock::Create(context, "", thunks));
  // The optimiser of whole programs is to see what the code refers to.
  FunctionType* code = FunctionType::get(type->getReturnType(), {builder.getPtrTy()}, false);
  CallInst* call = builder.CreateCall(
      InlineAsm::get(code, thunk_code() + member_thunk_code(), "*m", true), {bias});
  call->addParamAttr(0, element(context, builder.getInt64Ty()));
  builder.CreateUnreachable();
  // Only assembly refers to it.
  appendToCompilerUsed(module, {thunks});
}

}  // namespace plumb::pass
