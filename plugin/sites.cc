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

template <typename T>
void append(std::string& key, const T& number) {
  key.append(reinterpret_cast<const char*>(&number), sizeof number);
}

void append(std::string& key, const std::string& text) {
  append(key, text.size());
  key += text;
}

// Equal for equal places only.
void append(std::string& key, const Site& site) {
  append(key, site.spot.line);
  append(key, site.spot.function);
  append(key, site.spot.name);
  append(key, site.caller);
  append(key, site.holder);
  append(key, site.type);
  append(key, site.storage);
  append(key, site.cause);
  append(key, site.stride);
  append(key, site.use ? site.use->where : nullptr);
  append(key, site.use ? site.use->what : UseKind::access);
  append(key, site.members.size());
  for (const Member& member : site.members) {
    append(key, member.offset);
    append(key, member.name);
  }
}

}  // namespace

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

Spot spot_of(const DILocation* location, const Function& function) {
  Spot spot;
  spot.line = location;
  spot.function = location ? location->getScope()->getSubprogram() : function.getSubprogram();
  if (!spot.function) spot.name = function.getName().str();
  return spot;
}

bool Sites::is_site(const Value* value) {
  auto* global = dyn_cast<GlobalVariable>(value->stripInBoundsOffsets());
  return global && global->getSection() == kSiteSection;
}

GlobalVariable* Sites::make(Module& module, std::vector<Site> row) {
  std::string key;
  for (const Site& site : row) append(key, site);
  GlobalVariable*& known = made_[key];
  if (known) return known;
  Type* half = Type::getInt32Ty(module.getContext());
  ArrayType* array = ArrayType::get(StructType::get(half, half), row.size());
  const std::string name = kPrefix + std::to_string(count_++);
  GlobalVariable* global = private_constant(module, array, name);
  global->setInitializer(ConstantAggregateZero::get(array));
  global->setSection(kSiteSection);
  global->setAlignment(Align(8));
  rows_[global->getName()] = std::move(row);
  known = global;
  return global;
}

Constant* Sites::inlined_at(Module& module, GlobalVariable* row, const DILocation* caller) {
  if (!caller) return row;
  const auto known = rows_.find(row->getName());
  if (known == rows_.end()) return row;
  GlobalVariable*& twin = twins_[{row, caller}];
  if (twin) return twin;
  std::vector<Site> sites = known->second;
  for (Site& site : sites) site.caller = caller;
  twin = make(module, std::move(sites));
  return twin;
}

namespace {

// Writes what places stand for (runtime/compiled/places.h). Equal texts, and calls that
// several places were inlined at, are written once.
class Writer {
 public:
  explicit Writer(Module& module)
      : module_(module),
        half_(Type::getInt32Ty(module.getContext())),
        quarter_(Type::getInt16Ty(module.getContext())),
        detail_(StructType::get(module.getContext(),
                                {half_, half_, half_, half_, half_, half_, half_, quarter_,
                                 quarter_, half_, half_, half_, half_, half_, half_, half_})) {}

  void write(GlobalVariable& global, ArrayRef<Site> row) {
    auto* array = cast<ArrayType>(global.getValueType());
    auto* entry = cast<StructType>(array->getElementType());
    std::vector<Constant*> entries;
    for (std::size_t i = 0; i < row.size(); ++i) {
      entries.push_back(
          ConstantStruct::get(entry, {relative(detail(row[i]), &global, i * 8), number(0)}));
    }
    global.setInitializer(ConstantArray::get(array, entries));
  }

 private:
  Constant* number(std::uint64_t value) const { return ConstantInt::get(half_, value); }

  Constant* text(StringRef content) {
    if (content.empty()) return nullptr;
    GlobalVariable*& known = texts_[content];
    if (known) return known;
    Constant* data = ConstantDataArray::getString(module_.getContext(), content);
    known = private_constant(module_, data->getType(), "plumb.text");
    known->setInitializer(data);
    // Equal texts of all modules become one when the program is linked.
    known->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
    known->setAlignment(Align(1));
    return known;
  }

  Constant* path(const DIFile* file) {
    if (!file) return nullptr;
    SmallString<256> path;
    if (!sys::path::is_absolute(file->getFilename())) path = file->getDirectory();
    sys::path::append(path, file->getFilename());
    return text(path);
  }

  GlobalVariable* members(const Site& site) {
    if (site.members.empty()) return nullptr;
    auto* entry = StructType::get(module_.getContext(), {half_, half_});
    auto* array = ArrayType::get(entry, site.members.size());
    GlobalVariable* members = private_constant(module_, array, "plumb.members");
    std::vector<Constant*> entries;
    for (std::size_t i = 0; i < site.members.size(); ++i) {
      entries.push_back(
          ConstantStruct::get(entry, {number(site.members[i].offset),
                                      relative(text(site.members[i].name), members, i * 8 + 4)}));
    }
    members->setInitializer(ConstantArray::get(array, entries));
    members->setAlignment(Align(4));
    return members;
  }

  // The call, and what that was inlined at in turn.
  GlobalVariable* caller(const DILocation* innermost) {
    std::vector<const DILocation*> missing;
    const DILocation* at = innermost;
    for (; at && !callers_.contains(at); at = at->getInlinedAt()) missing.push_back(at);
    GlobalVariable* outer = at ? callers_.lookup(at) : nullptr;
    while (!missing.empty()) {
      at = missing.back();
      missing.pop_back();
      Site call;
      call.spot.line = at;
      call.spot.function = at->getScope()->getSubprogram();
      outer = detail(call, outer);
      callers_[at] = outer;
    }
    return outer;
  }

  GlobalVariable* detail(const Site& site) { return detail(site, caller(site.caller)); }

  GlobalVariable* detail(const Site& site, GlobalVariable* caller) {
    const Spot& spot = site.spot;
    const DISubprogram* program = spot.function;
    const StringRef name = program ? program->getName() : StringRef(spot.name);
    StringRef linkage = program ? program->getLinkageName() : "";
    if (!program && name.starts_with("_Z")) linkage = name;
    const DIFile* file =
        spot.line ? spot.line->getFile() : (program ? program->getFile() : nullptr);
    const unsigned line = spot.line ? spot.line->getLine() : (program ? program->getLine() : 0);
    struct {
      unsigned line = 0;
      unsigned column = 0;
      unsigned what = 0;
    } use;
    if (site.use) {
      use = {site.use->where->getLine(), site.use->where->getColumn(),
             static_cast<unsigned>(site.use->what)};
    }
    GlobalVariable* global = private_constant(module_, detail_, "plumb.place");
    global->setInitializer(ConstantStruct::get(
        detail_,
        {// A mangled name tells the source's: whoever reads it does that.
         relative(linkage.starts_with("_Z") ? nullptr : text(name), global, 0),
         relative(text(linkage), global, 4), relative(path(file), global, 8), number(line),
         number(spot.line ? spot.line->getColumn() : 0), relative(text(site.holder), global, 20),
         relative(text(site.type), global, 24),
         ConstantInt::get(quarter_, static_cast<std::uint16_t>(site.storage)),
         ConstantInt::get(quarter_, static_cast<std::uint16_t>(site.cause)),
         relative(caller, global, 32), relative(members(site), global, 36),
         number(site.members.size()), number(site.stride), number(use.line), number(use.column),
         number(use.what)}));
    global->setAlignment(Align(4));
    return global;
  }

  Module& module_;
  Type* half_;
  Type* quarter_;
  StructType* detail_;
  StringMap<GlobalVariable*> texts_;
  DenseMap<const DILocation*, GlobalVariable*> callers_;
};

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
  twins_.clear();
  made_.clear();
  Writer writer(module);
  bool any = false;
  for (GlobalVariable& global : make_early_inc_range(module.globals())) {
    if (global.getSection() != kSiteSection) continue;
    if (global.use_empty()) {
      global.eraseFromParent();
      continue;
    }
    any = true;
    const auto row = rows_.find(global.getName());
    if (row == rows_.end()) continue;  // of a module that was linked in, finished
    writer.write(global, row->second);
    rows_.erase(row);
  }
  if (!any || module.getFunction("__plumb_module_enter")) return;
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
