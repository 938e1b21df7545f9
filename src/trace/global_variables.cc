#include "trace/global_variables.h"

#include <dwarf.h>
#include <gelf.h>

#include <algorithm>

#include "trace/die_walk.h"
#include "trace/type_path.h"

namespace plumb {

namespace {

// Bounds for damaged files.
constexpr std::size_t kMostGlobals = 2'000'000;
constexpr std::size_t kMostHeaders = 10'000;

bool holds_globals(int tag) {
  switch (tag) {
    case DW_TAG_namespace:
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_subprogram:
    case DW_TAG_lexical_block:
      return true;
    default:
      return false;
  }
}

// Where a variable with a place of its own is; `in_thread`: counted from the
// begin of the module's part of each thread's memory.
std::optional<std::uint64_t> address_of(Dwarf_Die* die, bool& in_thread) {
  Dwarf_Attribute attribute;
  Dwarf_Op* ops = nullptr;
  std::size_t count = 0;
  if (dwarf_attr(die, DW_AT_location, &attribute) == nullptr ||
      dwarf_getlocation(&attribute, &ops, &count) != 0 || count == 0) {
    return std::nullopt;
  }
  in_thread = count == 2 &&
              (ops[1].atom == DW_OP_form_tls_address || ops[1].atom == DW_OP_GNU_push_tls_address);
  if (count != 1 && !in_thread) return std::nullopt;
  switch (ops[0].atom) {
    case DW_OP_addr:
    case DW_OP_const4u:
    case DW_OP_const8u:
      return ops[0].number;
    case DW_OP_addrx:
    case DW_OP_constx:
    case DW_OP_GNU_addr_index:
    case DW_OP_GNU_const_index: {
      Dwarf_Attribute result;
      Dwarf_Addr value = 0;
      if (dwarf_getlocation_attr(&attribute, &ops[0], &result) != 0) return std::nullopt;
      if (dwarf_formaddr(&result, &value) == 0 || dwarf_formudata(&result, &value) == 0) {
        return value;
      }
      return std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

// How far the thread pointer is behind the begin of the program's part.
std::optional<std::int64_t> thread_size_of(Elf* elf) {
  std::size_t count = 0;
  if (elf == nullptr || elf_getphdrnum(elf, &count) != 0) return std::nullopt;
  bool is_program = false;
  std::optional<std::int64_t> size;
  for (std::size_t i = 0; i < count && i < kMostHeaders; ++i) {
    GElf_Phdr header;
    if (gelf_getphdr(elf, static_cast<int>(i), &header) == nullptr) continue;
    is_program = is_program || header.p_type == PT_INTERP;
    if (header.p_type != PT_TLS || header.p_memsz > (1u << 30)) continue;
    const std::uint64_t align = std::max<std::uint64_t>(header.p_align, 1);
    if (align > 4096) continue;
    size = static_cast<std::int64_t>((header.p_memsz + align - 1) / align * align);
  }
  return is_program ? size : std::nullopt;
}

}  // namespace

GlobalVariables::GlobalVariables(DwarfInfo& dwarf, const ElfModule& module)
    : dwarf_(dwarf), thread_size_(thread_size_of(module.elf())) {}

void GlobalVariables::read() {
  read_ = true;
  dwarf_.each_unit([&](Dwarf_Die unit) {
    for (DieWalk walk(unit); !walk.done() && globals_.size() < kMostGlobals;) {
      if (holds_globals(walk.tag())) {
        walk.enter();
        continue;
      }
      if (walk.tag() == DW_TAG_variable) {
        bool in_thread = false;
        if (const auto address = address_of(walk.die(), in_thread); address) {
          const std::optional<Dwarf_Die> type = type_of(walk.die());
          (in_thread ? thread_locals_ : globals_)
              .push_back({*address, type ? size_of_type(*type) : 0, *walk.die()});
        }
      }
      walk.skip();
    }
  });
  std::ranges::sort(globals_, {}, &Global::address);
  std::ranges::sort(thread_locals_, {}, &Global::address);
}

std::optional<FoundVariable> GlobalVariables::find(std::vector<Global>& among,
                                                   std::uint64_t address) {
  if (!read_) read();
  auto next = std::ranges::upper_bound(among, address, {}, &Global::address);
  if (next == among.begin()) return std::nullopt;
  Global& global = *--next;
  if (address - global.address >= global.size) return std::nullopt;
  const char* name = name_of(&global.die);
  const std::optional<Dwarf_Die> type = type_of(&global.die);
  if (name == nullptr || !type) return std::nullopt;
  const std::optional<std::string> path = path_to_pointer(*type, address - global.address);
  return FoundVariable{name + path.value_or(""), type_name(*type), "global", 0, 0};
}

std::optional<FoundVariable> GlobalVariables::at(std::uint64_t address) {
  return find(globals_, address);
}

std::optional<FoundVariable> GlobalVariables::in_thread_at(std::int64_t offset) {
  if (!thread_size_ || *thread_size_ + offset < 0) return std::nullopt;
  std::optional<FoundVariable> result =
      find(thread_locals_, static_cast<std::uint64_t>(*thread_size_ + offset));
  if (result) result->storage = "thread";
  return result;
}

}  // namespace plumb
