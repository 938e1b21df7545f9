#include "sites.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace plumb::pass {

namespace {

constexpr const char* kPrefix = "plumb.site.";

// From the field at `offset` of `base` to `target`, 32 bits.
Constant* relative(Constant* target, GlobalVariable* base, std::uint64_t offset) {
  LLVMContext& context = base->getContext();
  Type* word = Type::getInt64Ty(context);
  Type* half = Type::getInt32Ty(context);
  if (!target) return ConstantInt::get(half, 0);
  Constant* here =
      ConstantExpr::getAdd(ConstantExpr::getPtrToInt(base, word), ConstantInt::get(word, offset));
  return ConstantExpr::getTrunc(ConstantExpr::getSub(ConstantExpr::getPtrToInt(target, word), here),
                                half);
}

GlobalVariable* private_constant(Module& module, Type* type, const Twine& name) {
  auto* global = new GlobalVariable(module, type, true, GlobalValue::PrivateLinkage, nullptr, name);
  global->setUnnamedAddr(GlobalValue::UnnamedAddr::None);
  return global;
}

// Where the linker puts the table; null when all its places are gone in the end.
GlobalVariable* bound(Module& module, StringRef name) {
  if (GlobalVariable* known = module.getNamedGlobal(name)) return known;
  auto* global = new GlobalVariable(module, Type::getInt64Ty(module.getContext()), false,
                                    GlobalValue::ExternalWeakLinkage, nullptr, name);
  global->setVisibility(GlobalValue::HiddenVisibility);
  return global;
}

}  // namespace

Spot spot_of(const DILocation* location, const Function& function) {
  Spot spot;
  const DISubprogram* program =
      location ? location->getScope()->getSubprogram() : function.getSubprogram();
  if (!program) {
    spot.function = function.getName().str();
    return spot;
  }
  spot.function = program->getName().str();
  spot.linkage = program->getLinkageName().str();
  const DIFile* file = location ? location->getFile() : program->getFile();
  if (file) {
    SmallString<256> path;
    if (!sys::path::is_absolute(file->getFilename())) path = file->getDirectory();
    sys::path::append(path, file->getFilename());
    spot.file = path.str().str();
  }
  spot.line = location ? location->getLine() : program->getLine();
  spot.column = location ? location->getColumn() : 0;
  return spot;
}

bool Sites::is_site(const Value* value) {
  auto* global = dyn_cast<GlobalVariable>(value->stripInBoundsOffsets());
  return global && global->getSection() == kSiteSection;
}

Constant* Sites::text(Module& module, const std::string& content) {
  if (content.empty()) return nullptr;
  const std::string name = "plumb.text." + std::to_string(xxh3_64bits(content));
  if (GlobalVariable* known = module.getGlobalVariable(name, true)) return known;
  Constant* data = ConstantDataArray::getString(module.getContext(), content);
  GlobalVariable* global = private_constant(module, data->getType(), name);
  global->setInitializer(data);
  // Equal texts of all modules become one when the program is linked.
  global->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
  global->setAlignment(Align(1));
  return global;
}

GlobalVariable* Sites::detail(Module& module, const Site& site) {
  LLVMContext& context = module.getContext();
  Type* half = Type::getInt32Ty(context);
  Type* quarter = Type::getInt16Ty(context);
  StructType* type = StructType::get(context, {half, half, half, half, half, half, half, quarter,
                                               quarter, half, half, half, half, half, half, half});
  const auto number = [&](std::uint64_t value) { return ConstantInt::get(half, value); };

  GlobalVariable* members = nullptr;
  if (!site.members.empty()) {
    auto* entry = StructType::get(context, {half, half});
    auto* array = ArrayType::get(entry, site.members.size());
    members = private_constant(module, array, "plumb.members");
    std::vector<Constant*> entries;
    for (std::size_t i = 0; i < site.members.size(); ++i) {
      entries.push_back(ConstantStruct::get(
          entry, {number(site.members[i].offset),
                  relative(text(module, site.members[i].name), members, i * 8 + 4)}));
    }
    members->setInitializer(ConstantArray::get(array, entries));
    members->setAlignment(Align(4));
  }

  struct {
    unsigned line = 0;
    unsigned column = 0;
    unsigned what = 0;
  } use;
  if (site.use) {
    use = {site.use->where->getLine(), site.use->where->getColumn(),
           static_cast<unsigned>(site.use->what)};
  }

  GlobalVariable* caller = nullptr;
  for (std::size_t i = site.spots.size(); i-- > 0;) {
    const Spot& spot = site.spots[i];
    const bool innermost = i == 0;
    GlobalVariable* global = private_constant(module, type, "plumb.place");
    global->setInitializer(ConstantStruct::get(
        type, {relative(text(module, spot.function), global, 0),
               relative(text(module, spot.linkage), global, 4),
               relative(text(module, spot.file), global, 8), number(spot.line), number(spot.column),
               relative(innermost ? text(module, site.holder) : nullptr, global, 20),
               relative(innermost ? text(module, site.type) : nullptr, global, 24),
               ConstantInt::get(quarter, static_cast<std::uint16_t>(site.storage)),
               ConstantInt::get(quarter, static_cast<std::uint16_t>(site.cause)),
               relative(caller, global, 32), relative(innermost ? members : nullptr, global, 36),
               number(innermost ? site.members.size() : 0), number(innermost ? site.stride : 0),
               number(innermost ? use.line : 0), number(innermost ? use.column : 0),
               number(innermost ? use.what : 0)}));
    global->setAlignment(Align(4));
    caller = global;
  }
  return caller;
}

GlobalVariable* Sites::make(Module& module, std::vector<Site> row) {
  LLVMContext& context = module.getContext();
  Type* half = Type::getInt32Ty(context);
  StructType* type = StructType::get(context, {half, half});
  ArrayType* array = ArrayType::get(type, row.size());
  const std::string name = kPrefix + std::to_string(count_++);
  GlobalVariable* global = private_constant(module, array, name);
  global->setSection(kSiteSection);
  global->setAlignment(Align(8));
  std::vector<Constant*> entries;
  for (std::size_t i = 0; i < row.size(); ++i) {
    entries.push_back(ConstantStruct::get(
        type, {relative(detail(module, row[i]), global, i * 8), ConstantInt::get(half, 0)}));
  }
  global->setInitializer(ConstantArray::get(array, entries));
  rows_[global->getName()] = std::move(row);
  return global;
}

Constant* Sites::inlined_at(Module& module, GlobalVariable* row, const DILocation* caller) {
  if (!caller) return row;
  const auto known = rows_.find(row->getName());
  if (known == rows_.end()) return row;
  std::string key = row->getName().str();
  std::vector<Spot> spots;
  for (const DILocation* at = caller; at; at = at->getInlinedAt()) {
    spots.push_back(spot_of(at, *module.begin()));
    key += "@" + std::to_string(reinterpret_cast<std::uintptr_t>(at));
  }
  GlobalVariable*& twin = twins_[key];
  if (twin) return twin;
  std::vector<Site> sites = known->second;
  for (Site& site : sites) {
    site.spots.insert(site.spots.end(), spots.begin(), spots.end());
  }
  twin = make(module, std::move(sites));
  return twin;
}

namespace {

// A word that the runtime fills in: one per program or library, whichever module brings it.
GlobalVariable* shared_word(Module& module, const char* name, Constant* content) {
  GlobalVariable* word = module.getNamedGlobal(name);
  if (!word) {
    word = new GlobalVariable(module, content->getType(), false, GlobalValue::LinkOnceODRLinkage,
                              nullptr, name);
  }
  word->setLinkage(GlobalValue::LinkOnceODRLinkage);
  word->setVisibility(GlobalValue::HiddenVisibility);
  word->setComdat(module.getOrInsertComdat(name));
  word->setInitializer(content);
  return word;
}

// Before the module's constructors, once per program or library.
void call_at_start(Module& module, const char* name, const char* callee,
                   ArrayRef<Value*> arguments) {
  LLVMContext& context = module.getContext();
  Type* none = Type::getVoidTy(context);
  auto* function = Function::Create(FunctionType::get(none, false), GlobalValue::LinkOnceODRLinkage,
                                    name, module);
  function->setVisibility(GlobalValue::HiddenVisibility);
  function->setComdat(module.getOrInsertComdat(name));
  function->addFnAttr(Attribute::NoUnwind);
  IRBuilder<> builder(BasicBlock::Create(context, "", function));
  SmallVector<Type*, 3> types;
  for (Value* argument : arguments) types.push_back(argument->getType());
  builder.CreateCall(module.getOrInsertFunction(callee, FunctionType::get(none, types, false)),
                     arguments);
  builder.CreateRetVoid();
  appendToGlobalCtors(module, function, 0, function);
}

}  // namespace

void Sites::finish(Module& module) {
  if (module.getFunction("__plumb_module_enter")) return;
  const bool any = any_of(module.globals(), [](const GlobalVariable& global) {
    return global.getSection() == kSiteSection && !global.use_empty();
  });
  if (!any) return;
  GlobalVariable* begin = bound(module, "__start_plumb_sites");
  GlobalVariable* end = bound(module, "__stop_plumb_sites");
  // Until the module is registered, numbers are bytes from its first place.
  GlobalVariable* bias = shared_word(
      module, kBias, ConstantExpr::getPtrToInt(begin, Type::getInt64Ty(module.getContext())));
  call_at_start(module, "__plumb_module_enter", kRegister, {begin, end, bias});
}

void Sites::finish_accesses(Module& module) {
  Type* word = Type::getInt64Ty(module.getContext());
  GlobalVariable* arena = shared_word(module, kUseArena, ConstantInt::get(word, kNoArena));
  call_at_start(module, "__plumb_access_enter", kRegisterAccess, {arena});
}

}  // namespace plumb::pass
