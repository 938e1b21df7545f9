// Names, files and symbols that the functions of a unit share while it is
// lowered from LLVM IR.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Support/xxhash.h>

#include "check/lower/type_table.h"
#include "check/model/unit.h"

namespace plumb::check {

Linkage linkage_of(const llvm::GlobalValue& value);

class UnitBuilder {
 public:
  explicit UnitBuilder(const llvm::Module& module)
      : module_(module), layout_(module.getDataLayout()) {
    unit_.source = module.getSourceFileName();
    for (const llvm::DICompileUnit* unit : module.debug_compile_units()) {
      unit_.source = path_of(*unit->getFile());
      break;
    }
    unit_.files.push_back("");  // FileId 0: no file
  }

  const llvm::DataLayout& layout() const { return layout_; }

  SymbolId symbol(const llvm::GlobalValue& value) {
    auto [entry, fresh] = symbols_.try_emplace(value.getName(), unit_.symbols.size());
    if (fresh) unit_.symbols.push_back(value.getName().str());
    return SymbolId::of(entry->second);
  }

  FileId file(const llvm::DIFile* file) {
    if (!file) return {};
    auto found = files_.find(file);
    if (found != files_.end()) return FileId::of(found->second);
    const std::uint32_t index = static_cast<std::uint32_t>(unit_.files.size());
    unit_.files.push_back(path_of(*file));
    files_[file] = index;
    return FileId::of(index);
  }

  Location location(const llvm::DILocation* at) {
    if (!at) return {};
    return {file(at->getFile()), at->getLine(), at->getColumn()};
  }

  std::uint32_t type_hash(const llvm::FunctionType& type) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    type.print(stream);
    return static_cast<std::uint32_t>(llvm::xxh3_64bits(stream.str()));
  }

  // Of a structure that has a name in the source; 0 otherwise.
  std::uint32_t record_hash(const llvm::Type* type) {
    const auto* record = llvm::dyn_cast_or_null<llvm::StructType>(type);
    if (!record || !record->hasName() || record->getName().contains(".anon")) return 0;
    return static_cast<std::uint32_t>(llvm::xxh3_64bits(record->getName()));
  }

  // A class, by what the compiler calls it in the types of tables and calls. One that no
  // other unit sees has no name there, and gets one with the unit in it.
  SymbolId class_symbol(const llvm::Metadata* type) {
    const auto* named = llvm::dyn_cast<llvm::MDString>(type);
    std::string name = "class ";
    if (named) {
      name += named->getString();
    } else {
      const auto number = own_classes_.try_emplace(type, own_classes_.size()).first->second;
      name += std::to_string(number) + " of " + unit_.source;
    }
    auto [entry, fresh] = symbols_.try_emplace(name, unit_.symbols.size());
    if (fresh) unit_.symbols.push_back(std::move(name));
    return SymbolId::of(entry->second);
  }

  TypeTable& types() { return types_; }
  Unit& unit() { return unit_; }

  void add_globals();
  void add_class_tables();
  void add_declarations();

 private:
  static std::string path_of(const llvm::DIFile& file) {
    std::string path = file.getFilename().str();
    if (!path.empty() && path[0] != '/' && !file.getDirectory().empty()) {
      path = (file.getDirectory() + "/" + path).str();
    }
    return path;
  }

  void add_initial(const llvm::Constant& value, std::uint64_t at, Member member,
                   std::vector<Initial>& out);

  const llvm::Module& module_;
  const llvm::DataLayout& layout_;
  Unit unit_;
  TypeTable types_;
  llvm::StringMap<std::uint32_t> symbols_;
  llvm::DenseMap<const llvm::Metadata*, std::size_t> own_classes_;
  llvm::DenseMap<const llvm::DIFile*, std::uint32_t> files_;
};

// Lowers one function; its symbols and files go into the builder's unit.
Function lower_function(UnitBuilder& unit, const llvm::Function& source);

}  // namespace plumb::check
