#include "check/lower/lower.h"

#include <cstdlib>
#include <string>
#include <vector>

#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/Demangle/Demangle.h>

#include "check/lower/unit_builder.h"

namespace plumb::check {

namespace {

// True when the parameter's declared type is a pointer to const something. Tables
// that keep what they are given take it as a pointer to const void.
bool points_to_const(const llvm::DIType* type) {
  const auto* derived = llvm::dyn_cast_or_null<llvm::DIDerivedType>(type);
  while (derived && (derived->getTag() == llvm::dwarf::DW_TAG_typedef ||
                     derived->getTag() == llvm::dwarf::DW_TAG_const_type ||
                     derived->getTag() == llvm::dwarf::DW_TAG_restrict_type)) {
    derived = llvm::dyn_cast_or_null<llvm::DIDerivedType>(derived->getBaseType());
  }
  if (!derived || (derived->getTag() != llvm::dwarf::DW_TAG_pointer_type &&
                   derived->getTag() != llvm::dwarf::DW_TAG_reference_type)) {
    return false;
  }
  const auto* pointee = llvm::dyn_cast_or_null<llvm::DIDerivedType>(derived->getBaseType());
  return pointee && pointee->getTag() == llvm::dwarf::DW_TAG_const_type && pointee->getBaseType();
}

// The same as the mangled name says it, parameter by parameter with `this`: member
// functions of the C++ library are declared without debug information.
std::vector<bool> const_params_by_name(const llvm::Function& function) {
  const std::string name = function.getName().str();
  llvm::ItaniumPartialDemangler demangler;
  if (demangler.partialDemangle(name.c_str()) || !demangler.isFunction()) return {};
  const auto text_of = [](char* text) {
    std::string out = text ? text : "";
    std::free(text);
    return out;
  };
  const std::string params = text_of(demangler.getFunctionParameters(nullptr, nullptr));
  const std::string whole = text_of(demangler.finishDemangle(nullptr, nullptr));
  std::vector<bool> out;
  std::string one;
  int depth = 0;
  for (const char c : params) {
    const bool outside = depth == 1;
    if (c == '(' || c == '<' || c == '[') ++depth;
    if (c == ')' || c == '>' || c == ']') --depth;
    if ((outside && c == ',') || depth == 0) {
      const llvm::StringRef type = llvm::StringRef(one).trim();
      const bool reads = (type.ends_with(" const*") || type.ends_with(" const&")) &&
                         !type.starts_with("void const");
      if (!type.empty() && type != "void") out.push_back(reads);
      one.clear();
    } else if (c != '(' || depth != 1) {
      one += c;
    }
  }
  // Which class a member belongs to is not asked: the number of arguments tells.
  const std::size_t given = function.arg_size() - (function.hasStructRetAttr() ? 1 : 0);
  if (given == out.size() + 1) {
    out.insert(out.begin(), llvm::StringRef(whole).ends_with(" const"));
  }
  if (given != out.size()) return {};
  if (function.hasStructRetAttr()) out.insert(out.begin(), false);
  return out;
}

bool is_constructor(const llvm::Function& function) {
  const std::string name = function.getName().str();
  llvm::ItaniumPartialDemangler demangler;
  if (demangler.partialDemangle(name.c_str()) || !demangler.isCtorOrDtor()) return false;
  char* const base = demangler.getFunctionBaseName(nullptr, nullptr);
  const bool constructs = base && *base != '~';
  std::free(base);
  return constructs;
}

}  // namespace

Linkage linkage_of(const llvm::GlobalValue& value) {
  if (value.hasLocalLinkage()) return Linkage::internal;
  // A copy for optimisation of what is defined elsewhere.
  if (value.hasAvailableExternallyLinkage()) return Linkage::weak;
  return value.isWeakForLinker() ? Linkage::weak : Linkage::external;
}

void UnitBuilder::add_initial(const llvm::Constant& value, std::uint64_t at, Member member,
                              std::vector<Initial>& out) {
  constexpr std::size_t kMost = 4096;  // a table larger than this is data, not structure
  if (value.isNullValue() || llvm::isa<llvm::UndefValue>(value)) return;
  const auto add_data = [&](std::uint64_t from) {
    const std::uint64_t end = at + layout_.getTypeAllocSize(value.getType()).getFixedValue();
    if (from >= end) return;
    if (out.size() > kMost && out.back().width == 0) {  // with what is between the two
      from = out.back().offset;
      out.pop_back();
    }
    out.push_back({from, 0, false, {}, static_cast<std::int64_t>(end - from), {}});
  };
  if (out.size() > kMost) {
    add_data(at);
    return;
  }
  if (const auto* integer = llvm::dyn_cast<llvm::ConstantInt>(&value)) {
    if (integer->getBitWidth() <= 64) {
      out.push_back({at, integer->getBitWidth() / 8, false, {}, integer->getSExtValue(), {}});
    } else {
      add_data(at);
    }
    return;
  }
  if (value.getType()->isPointerTy()) {
    llvm::APInt offset(64, 0);
    const llvm::Value* base =
        value.stripAndAccumulateConstantOffsets(layout_, offset, /*AllowNonInbounds=*/true);
    if (const auto* global = llvm::dyn_cast<llvm::GlobalValue>(base)) {
      out.push_back({at, 8, true, symbol(*global), offset.getSExtValue(), member});
    } else {
      add_data(at);
    }
    return;
  }
  if (const auto* structure = llvm::dyn_cast<llvm::ConstantStruct>(&value)) {
    const llvm::StructLayout* fields = layout_.getStructLayout(structure->getType());
    for (unsigned i = 0; i < structure->getNumOperands(); ++i) {
      const std::uint64_t offset = fields->getElementOffset(i);
      add_initial(*structure->getOperand(i), at + offset,
                  {record_hash(structure->getType()), static_cast<std::int64_t>(offset)}, out);
    }
    return;
  }
  if (const auto* array = llvm::dyn_cast<llvm::ConstantArray>(&value)) {
    const std::uint64_t size = layout_.getTypeAllocSize(array->getType()->getElementType());
    for (unsigned i = 0; i < array->getNumOperands(); ++i) {
      add_initial(*array->getOperand(i), at + i * size, {}, out);
    }
    return;
  }
  // Strings and other data arrays are not followed, but a text that begins is not empty.
  const auto* text = llvm::dyn_cast<llvm::ConstantDataArray>(&value);
  const bool has_characters = text && text->getElementType()->isIntegerTy(8);
  if (has_characters) add_initial(*text->getElementAsConstant(0), at, {}, out);
  add_data(has_characters && text->getElementAsInteger(0) != 0 ? at + 1 : at);
}

void UnitBuilder::add_globals() {
  for (const llvm::GlobalVariable& global : module_.globals()) {
    Global out;
    out.symbol = symbol(global);
    out.linkage = linkage_of(global);
    out.constant = global.isConstant();
    out.thread_local_storage = global.isThreadLocal();
    out.defined = global.hasInitializer();
    out.size = global.getValueType()->isSized()
                   ? layout_.getTypeAllocSize(global.getValueType()).getFixedValue()
                   : 0;
    llvm::SmallVector<llvm::DIGlobalVariableExpression*, 1> debug;
    global.getDebugInfo(debug);
    if (!debug.empty()) {
      out.display = debug[0]->getVariable()->getName().str();
      out.shape = types_.of(debug[0]->getVariable()->getType());
    }
    if (global.hasInitializer()) add_initial(*global.getInitializer(), 0, {}, out.initial);
    unit_.globals.push_back(std::move(out));
  }
}

void UnitBuilder::add_class_tables() {
  for (const llvm::GlobalVariable& global : module_.globals()) {
    llvm::SmallVector<llvm::MDNode*, 4> types;
    global.getMetadata(llvm::LLVMContext::MD_type, types);
    for (const llvm::MDNode* type : types) {
      // The types of members, for calls through pointers to them, are told in the same way.
      const auto* named = llvm::dyn_cast<llvm::MDString>(type->getOperand(1));
      if (named && named->getString().ends_with(".virtual")) continue;
      const auto* offset = llvm::mdconst::extract<llvm::ConstantInt>(type->getOperand(0));
      unit_.class_tables.push_back(
          {class_symbol(type->getOperand(1)), symbol(global), offset->getSExtValue()});
    }
  }
}

void UnitBuilder::add_declarations() {
  for (const llvm::Function& function : module_) {
    if (!function.isDeclaration() || function.isIntrinsic()) continue;
    Declaration out;
    out.symbol = symbol(function);
    out.type = type_hash(*function.getFunctionType());
    out.noreturn = function.doesNotReturn();
    out.allocates =
        function.hasFnAttribute(llvm::Attribute::AllocKind) || function.returnDoesNotAlias();
    const llvm::DISubprogram* debug = function.getSubprogram();
    const llvm::DITypeRefArray types = debug && debug->getType() ? debug->getType()->getTypeArray()
                                                                 : llvm::DITypeRefArray(nullptr);
    const std::vector<bool> by_name = types ? std::vector<bool>{} : const_params_by_name(function);
    // The place for a result that is returned in memory is no parameter of the source.
    const unsigned first = function.hasStructRetAttr() ? 0 : 1;
    for (unsigned i = 0; i < function.arg_size() && i < 64; ++i) {
      if (function.getArg(i)->getType()->isIntegerTy()) out.number_params |= 1ull << i;
      if (!function.getArg(i)->getType()->isPointerTy()) continue;
      if (!function.getArg(i)->hasAttribute(llvm::Attribute::NoCapture))
        out.kept_params |= 1ull << i;
      const bool is_const =
          types ? i + first > 0 && i + first < types.size() && points_to_const(types[i + first])
                : i < by_name.size() && by_name[i];
      if (is_const) out.const_params |= 1ull << i;
    }
    // A constructor that is given nothing in which it could put the object down does not
    // keep its address: those that do are given a parent or a list.
    const std::uint64_t others = out.kept_params & ~out.const_params & ~std::uint64_t{1};
    if (others == 0 && is_constructor(function)) out.kept_params &= ~std::uint64_t{1};
    // What a declaration does not name may be kept, unless the call has a format for it. (Where
    // a block is made, arguments without a name are what it is made of.)
    const std::size_t named = function.arg_size();
    if (function.isVarArg() && named < 64 && !out.allocates) out.kept_params |= ~0ull << named;
    unit_.declarations.push_back(out);
  }
}

Unit lower_module(const llvm::Module& module) {
  UnitBuilder builder(module);
  for (const llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    builder.unit().functions.push_back(lower_function(builder, function));
  }
  for (const llvm::GlobalAlias& alias : module.aliases()) {
    const auto* function = llvm::dyn_cast_or_null<llvm::Function>(alias.getAliaseeObject());
    if (!function || function->isDeclaration()) continue;
    builder.unit().aliases.push_back(
        {builder.symbol(alias), builder.symbol(*function), linkage_of(alias), {}});
  }
  builder.add_globals();
  builder.add_class_tables();
  builder.add_declarations();
  for (const llvm::Function& function : module) {
    if (!function.isIntrinsic() && function.hasAddressTaken()) {
      builder.unit().address_taken.push_back(builder.symbol(function));
    }
  }
  builder.unit().types = builder.types().take();
  return std::move(builder.unit());
}

}  // namespace plumb::check
