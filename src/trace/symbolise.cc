#include "trace/symbolise.h"

#include <algorithm>
#include <deque>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/demangle.h"
#include "base/text.h"
#include "trace/dwarf_info.h"
#include "trace/elf_module.h"
#include "trace/symbol_table.h"
#include "trace/symbolise_notes.h"
#include "trace/variables.h"

namespace plumb {
namespace {

constexpr std::string_view kDeleted = " (deleted)";

struct AddressHash {
  std::size_t operator()(const CodeAddress& address) const {
    const std::uint64_t mixed =
        (address.offset * 2 + (address.is_return ? 1 : 0)) * 0x9E3779B97F4A7C15ULL;
    return static_cast<std::size_t>(mixed ^ (mixed >> 32) ^ address.module.index);
  }
};

// "[vdso]", "[heap]", "//anon": nothing on disk, nothing to be missed.
bool is_pseudo(std::string_view path) {
  return path.empty() || path.starts_with('[') || path == "//anon" ||
         base_name(path) == "linux-vdso.so.1";
}

bool is_c_library(std::string_view path) {
  const std::string_view name = base_name(path);
  return name == "libc.so.6" || name.starts_with("ld-linux") || name.starts_with("libpthread");
}

// What the compiler and the linker add to every program never has lines.
bool is_linker_code(std::string_view function) {
  static constexpr std::string_view kNames[] = {
      "_start",
      "_init",
      "_fini",
      "frame_dummy",
      "register_tm_clones",
      "deregister_tm_clones",
      "__do_global_dtors_aux",
      "__clang_call_terminate",
      "_dl_relocate_static_pie",
  };
  return function.ends_with("@plt") || std::ranges::find(kNames, function) != std::end(kNames);
}

// The C library's part of a stack's outer end is the same in every stack and
// names nothing of the program.
bool is_start_up(const Frame& frame, const std::vector<Module>& modules) {
  if (frame.function == "_start") return true;
  return frame.module && frame.module->index < modules.size() &&
         is_c_library(modules[frame.module->index].path);
}

}  // namespace

// A module that was asked about.
struct LoadedModule {
  std::unique_ptr<ElfModule> elf;  // null: nothing usable, `state` says why
  std::unique_ptr<SymbolTable> symbols;
  std::unique_ptr<DwarfInfo> dwarf;
  std::unique_ptr<Variables> variables;
  ModuleState state;

  SymbolTable& symbol_table() {
    if (!symbols) symbols = std::make_unique<SymbolTable>(*elf);
    return *symbols;
  }
};

struct Symboliser::Impl {
  std::vector<Module> modules;
  SymboliserOptions options;
  Demangler demangle;
  std::vector<std::unique_ptr<LoadedModule>> loaded;  // by module; null until asked about
  std::unordered_map<CodeAddress, const std::vector<Frame>*, AddressHash> known;
  std::deque<std::vector<Frame>> kept;  // does not move what `known` points to

  LoadedModule& load(std::size_t index);
  void find_file(const Module& module, LoadedModule& result);
  std::vector<Frame> look_up(CodeAddress address);
  void name_by_symbol(LoadedModule& module, std::uint64_t address, Frame& frame);
  void name_by_entry(LoadedModule& module, std::uint64_t entry, Frame& frame);
  void name_by_alias(LoadedModule& module, std::uint64_t entry, Frame& frame);
  const std::vector<Frame>& frames(CodeAddress address, bool matters);
};

// The file that was loaded, or else the debug file of that build alone.
void Symboliser::Impl::find_file(const Module& module, LoadedModule& result) {
  std::string path = module.path;
  bool deleted = false;
  Result<std::unique_ptr<ElfModule>> opened = ElfModule::open(path, options);
  if (!opened && path.ends_with(kDeleted)) {
    deleted = true;
    path.resize(path.size() - kDeleted.size());
    opened = ElfModule::open(path, options);
  }
  // What replaced a deleted file is the same only if it says so.
  const bool same =
      opened && (module.build_id.empty() ? !deleted : (*opened)->build_id() == module.build_id);
  if (same) {
    result.elf = std::move(*opened);
    return;
  }
  if (const std::string debug = find_by_build_id(module.build_id, options.debug_directories);
      !debug.empty()) {
    Result<std::unique_ptr<ElfModule>> alone = ElfModule::open(debug, options);
    if (alone && (*alone)->build_id() == module.build_id) {
      result.elf = std::move(*alone);
      return;
    }
  }
  result.state.trouble = !opened && !deleted ? Trouble::unreadable
                         : deleted           ? Trouble::deleted
                                             : Trouble::changed;
  if (!opened) result.state.detail = opened.error().what;
}

LoadedModule& Symboliser::Impl::load(std::size_t index) {
  std::unique_ptr<LoadedModule>& slot = loaded[index];
  if (slot) return *slot;
  slot = std::make_unique<LoadedModule>();
  LoadedModule& result = *slot;
  Module& module = modules[index];
  result.state.path = module.path;
  module.debug = "none";
  if (is_pseudo(module.path)) {
    result.state.trouble = Trouble::pseudo;
    return result;
  }
  find_file(module, result);
  if (result.elf && result.elf->dwarf() != nullptr) {
    result.dwarf = std::make_unique<DwarfInfo>(result.elf->dwarf(), *result.elf, demangle);
  }
  return result;
}

void Symboliser::Impl::name_by_symbol(LoadedModule& module, std::uint64_t address, Frame& frame) {
  const Symbol* symbol = module.symbol_table().find(address);
  if (symbol == nullptr) return;
  frame.function = symbol->name;
  constexpr std::string_view kStub = "@plt";
  const bool stub = symbol->name.ends_with(kStub);
  std::string readable =
      demangle(stub ? symbol->name.substr(0, symbol->name.size() - kStub.size()) : symbol->name);
  if (readable.empty()) return;
  frame.linkage = symbol->name;
  frame.function = std::move(readable) + (stub ? "@plt" : "");
}

// Improves a name made from scopes by the symbol that begins where the
// function does.
void Symboliser::Impl::name_by_entry(LoadedModule& module, std::uint64_t entry, Frame& frame) {
  const Symbol* symbol = module.symbol_table().find(entry);
  if (symbol == nullptr || symbol->address != entry) return;
  if (Demangler::is_mangled(symbol->name)) {
    const std::string_view linkage = without_clone_suffix(symbol->name);
    std::string readable = demangle(linkage);
    if (readable.empty()) return;
    frame.function = std::move(readable);
    frame.linkage = linkage;
  } else if (frame.function.ends_with("::" + std::string(symbol->name))) {
    frame.function = symbol->name;  // extern "C" in a namespace
  }
}

// A C library defines __libc_free and gives it the name free: what everybody
// calls it is the better name.
void Symboliser::Impl::name_by_alias(LoadedModule& module, std::uint64_t entry, Frame& frame) {
  const Symbol* symbol = module.symbol_table().find(entry);
  if (symbol == nullptr || symbol->address != entry) return;
  if (symbol->name.starts_with('_') || symbol->name.find('.') != std::string_view::npos) return;
  frame.linkage = frame.function;
  frame.function = symbol->name;
}

std::vector<Frame> Symboliser::Impl::look_up(CodeAddress address) {
  Frame bare;
  bare.offset = address.offset;
  if (address.module.index >= modules.size()) return {bare};
  bare.module = address.module;
  LoadedModule& module = load(address.module.index);
  if (!module.elf) return {bare};

  // A return address is that of the next instruction, which may belong to
  // another line, another inlined call, or after a call that does not return,
  // to another function.
  const std::uint64_t at = address.offset - (address.is_return && address.offset > 0 ? 1 : 0);
  std::vector<Frame> frames;
  if (module.dwarf) {
    std::uint64_t entry = 0;
    const std::uint64_t shift = module.elf->dwarf_shift();
    const std::vector<SourcePlace> places = module.dwarf->find(at + shift, entry);
    for (std::size_t i = 0; i < places.size(); ++i) {
      const SourcePlace& place = places[i];
      Frame frame = bare;
      frame.inlined = i + 1 < places.size();
      frame.file = place.file;
      frame.line = place.line;
      frame.column = place.column;
      if (place.function != nullptr) {
        frame.function = place.function->text;
        frame.linkage = place.function->linkage;
        frame.function_line = place.function->line;
      }
      if (!frame.inlined && frame.function.empty()) {
        name_by_symbol(module, at, frame);
      } else if (!frame.inlined && place.function->maybe_mangled && frame.linkage.empty()) {
        // gcc gives no linkage name to what has no external linkage, although
        // the symbol table may have it.
        name_by_entry(module, entry - shift, frame);
      } else if (!frame.inlined && !place.function->maybe_mangled &&
                 frame.function.starts_with('_')) {
        name_by_alias(module, entry - shift, frame);
      }
      if (frame.linkage == frame.function) frame.linkage.clear();
      frames.push_back(std::move(frame));
    }
    Module& described = modules[address.module.index];
    described.debug = module.dwarf->has_functions() ? "full"
                      : module.dwarf->has_lines()   ? "lines"
                                                    : "none";
  }
  if (frames.empty()) {
    frames.push_back(bare);
    name_by_symbol(module, at, frames.back());
  }
  Module& described = modules[address.module.index];
  if (described.debug == "none" && module.symbol_table().any()) described.debug = "symbols";
  return frames;
}

const std::vector<Frame>& Symboliser::Impl::frames(CodeAddress address, bool matters) {
  const std::vector<Frame>*& slot = known[address];
  if (slot == nullptr) slot = &kept.emplace_back(look_up(address));
  if (!matters || address.module.index >= modules.size()) return *slot;
  const Module& module = modules[address.module.index];
  ModuleState& state = loaded[address.module.index]->state;
  state.asked = true;
  const Frame& frame = slot->front();
  if (frame.line || !frame.file.empty()) return *slot;
  // Not missed: the lines of what the linker made, those of what is no
  // function at all, and those of the C library, whose names say enough.
  const bool no_function = module.debug == "full" && frame.function.empty();
  const bool named_enough = is_c_library(module.path) && !frame.function.empty();
  if (!no_function && !named_enough && !is_linker_code(frame.function)) state.without_line = true;
  return *slot;
}

Symboliser::Symboliser(std::vector<Module> modules, SymboliserOptions options)
    : impl_(std::make_unique<Impl>()) {
  impl_->loaded.resize(modules.size());
  impl_->modules = std::move(modules);
  impl_->options = std::move(options);
}

Symboliser::~Symboliser() = default;
Symboliser::Symboliser(Symboliser&&) noexcept = default;
Symboliser& Symboliser::operator=(Symboliser&&) noexcept = default;

const std::vector<Frame>& Symboliser::frames(CodeAddress address) {
  return impl_->frames(address, true);
}

std::optional<bool> Symboliser::may_return_pointer(CodeAddress address) {
  if (address.module.index >= impl_->modules.size()) return std::nullopt;
  LoadedModule& module = impl_->load(address.module.index);
  if (!module.elf || !module.dwarf || address.offset == 0) return std::nullopt;
  const std::uint64_t at = address.offset - (address.is_return ? 1 : 0);
  std::uint64_t entry = 0;
  const std::vector<SourcePlace> places = module.dwarf->find(at + module.elf->dwarf_shift(), entry);
  if (places.empty() || places.back().function == nullptr) return std::nullopt;
  return places.back().function->may_return_pointer;
}

Variables* Symboliser::variables(ModuleId id) {
  if (id.index >= impl_->modules.size()) return nullptr;
  LoadedModule& module = impl_->load(id.index);
  // A prelinked file's DWARF counts otherwise; there are none any more.
  if (!module.elf || !module.dwarf || module.elf->dwarf_shift() != 0) return nullptr;
  if (!module.variables) module.variables = std::make_unique<Variables>(*module.dwarf, *module.elf);
  return module.variables.get();
}

Stack Symboliser::stack(const std::vector<CodeAddress>& addresses) {
  Stack result;
  std::size_t inner = addresses.size();
  while (inner > 0 &&
         is_start_up(impl_->frames(addresses[inner - 1], false).back(), impl_->modules)) {
    --inner;
  }
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const std::vector<Frame>& frames = impl_->frames(addresses[i], i < inner);
    result.insert(result.end(), frames.begin(), frames.end());
  }
  return result;
}

const std::vector<Module>& Symboliser::modules() const { return impl_->modules; }

std::vector<Note> Symboliser::notes() const {
  std::vector<ModuleState> states;
  for (std::size_t i = 0; i < impl_->loaded.size(); ++i) {
    if (!impl_->loaded[i]) continue;
    ModuleState state = impl_->loaded[i]->state;
    state.debug = impl_->modules[i].debug;
    if (const DwarfInfo* dwarf = impl_->loaded[i]->dwarf.get(); dwarf != nullptr) {
      state.missing_split_units = dwarf->missing_split_units();
      state.missing_split_file = dwarf->missing_split_file();
    }
    states.push_back(std::move(state));
  }
  return symbol_notes(states);
}

}  // namespace plumb
