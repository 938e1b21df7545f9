#include "trace/symbol_table.h"

#include <gelf.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>
#include <utility>

#include "base/demangle.h"

namespace plumb {
namespace {

constexpr std::uint64_t kReachWithoutSize = 4096;
constexpr std::size_t kLongestSymbol = 64 << 10;

struct Section {
  Elf_Scn* handle = nullptr;
  GElf_Shdr header{};
};

// The section of the given type, or of the given name.
template <typename Predicate>
Section find_section(Elf* elf, Predicate wanted) {
  for (Elf_Scn* scn = nullptr; (scn = elf_nextscn(elf, scn)) != nullptr;) {
    Section section{scn, {}};
    if (gelf_getshdr(scn, &section.header) != nullptr && wanted(section.header)) return section;
  }
  return {};
}

std::string_view section_name(Elf* elf, const GElf_Shdr& header) {
  std::size_t names = 0;
  if (elf_getshdrstrndx(elf, &names) != 0) return {};
  const char* name = elf_strptr(elf, names, header.sh_name);
  return name != nullptr ? name : std::string_view();
}

// A function comes before a mere label, what others can call before
// what they cannot.
int kind_rank(const GElf_Sym& symbol) {
  const bool local = GELF_ST_BIND(symbol.st_info) == STB_LOCAL;
  const bool label = GELF_ST_TYPE(symbol.st_info) == STT_NOTYPE;
  return (label ? 2 : 0) + (local ? 1 : 0);
}

// The versions of the symbols of .dynsym; null when the table is another.
Elf_Data* versions_of(Elf* elf, Elf_Scn* table) {
  const std::size_t index = elf_ndxscn(table);
  const Section versions = find_section(elf, [index](const GElf_Shdr& header) {
    return header.sh_type == SHT_GNU_versym && header.sh_link == index;
  });
  return versions.handle != nullptr ? elf_getdata(versions.handle, nullptr) : nullptr;
}

// Kept for old programs only: "cfree" beside "free".
bool is_old_version(Elf_Data* versions, std::size_t index, std::string_view name) {
  constexpr GElf_Versym kHidden = 0x8000;
  GElf_Versym version = 0;
  if (versions != nullptr && gelf_getversym(versions, static_cast<int>(index), &version)) {
    return (version & kHidden) != 0;
  }
  return name.find('@') != std::string_view::npos && name.find("@@") == std::string_view::npos;
}

// The name of the symbol that a relocation of the module refers to, by the
// address of the slot that it fills.
std::map<std::uint64_t, std::string_view> names_by_slot(Elf* elf) {
  std::map<std::uint64_t, std::string_view> names;
  for (Elf_Scn* scn = nullptr; (scn = elf_nextscn(elf, scn)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(scn, &header) == nullptr) continue;
    if (header.sh_type != SHT_RELA || header.sh_entsize != sizeof(Elf64_Rela)) continue;
    Elf_Scn* table = elf_getscn(elf, header.sh_link);
    GElf_Shdr table_header;
    if (table == nullptr || gelf_getshdr(table, &table_header) == nullptr) continue;
    if (table_header.sh_type != SHT_DYNSYM) continue;
    Elf_Data* entries = elf_getdata(scn, nullptr);
    Elf_Data* symbols = elf_getdata(table, nullptr);
    if (entries == nullptr || symbols == nullptr) continue;
    const std::size_t count = entries->d_size / sizeof(Elf64_Rela);
    for (std::size_t i = 0; i < count; ++i) {
      GElf_Rela entry;
      GElf_Sym symbol;
      if (gelf_getrela(entries, static_cast<int>(i), &entry) == nullptr) break;
      const auto type = GELF_R_TYPE(entry.r_info);
      if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) continue;
      if (gelf_getsym(symbols, static_cast<int>(GELF_R_SYM(entry.r_info)), &symbol) == nullptr) {
        continue;
      }
      const char* name = elf_strptr(elf, table_header.sh_link, symbol.st_name);
      if (name != nullptr && *name != '\0') names.emplace(entry.r_offset, name);
    }
  }
  return names;
}

// The slot through which the stub at `code` jumps: "jmp *disp(%rip)", possibly
// after endbr64 and a bnd prefix. 0 when it is no such stub.
std::uint64_t slot_of_stub(const unsigned char* code, std::size_t size, std::uint64_t address) {
  std::size_t at = 0;
  const auto skip = [&](std::initializer_list<unsigned char> bytes) {
    if (at + bytes.size() <= size && std::equal(bytes.begin(), bytes.end(), code + at)) {
      at += bytes.size();
      return true;
    }
    return false;
  };
  skip({0xf3, 0x0f, 0x1e, 0xfa});
  skip({0xf2});
  if (!skip({0xff, 0x25}) || at + 4 > size) return 0;
  std::int32_t displacement = 0;
  std::memcpy(&displacement, code + at, sizeof displacement);
  return address + at + 4 + static_cast<std::uint64_t>(static_cast<std::int64_t>(displacement));
}

}  // namespace

struct SymbolTable::Candidate {
  std::uint64_t begin = 0;
  std::uint64_t size = 0;
  int rank = 0;  // less is better
  std::string_view name;

  // The best name first among those of one address.
  auto order() const {
    const std::size_t underscores = std::min(name.find_first_not_of('_'), name.size());
    return std::tuple(begin, size == 0, rank, underscores, name);
  }
};

SymbolTable::SymbolTable(const ElfModule& module) {
  // libdwfl knows which files hold the table; the names are then read through
  // libelf, which alone checks that they end inside their section.
  std::vector<std::pair<Elf*, std::uint64_t>> tables;
  const int count = dwfl_module_getsymtab(module.handle());
  for (int i = 0; i < count; ++i) {
    GElf_Sym symbol;
    GElf_Addr address = 0;
    Elf* elf = nullptr;
    Dwarf_Addr bias = 0;
    if (dwfl_module_getsym_info(module.handle(), i, &symbol, &address, nullptr, &elf, &bias) ==
            nullptr ||
        elf == nullptr) {
      continue;
    }
    const std::pair table(elf, bias - module.bias());
    if (std::find(tables.begin(), tables.end(), table) == tables.end()) tables.push_back(table);
  }
  std::vector<Candidate> candidates;
  for (const auto& [elf, shift] : tables) read_table(module, elf, shift, candidates);
  add_functions(candidates);
  add_stubs(module);
  symbols_.finish();
}

void SymbolTable::read_table(const ElfModule& module, Elf* elf, std::uint64_t shift,
                             std::vector<Candidate>& candidates) {
  Section table =
      find_section(elf, [](const GElf_Shdr& header) { return header.sh_type == SHT_SYMTAB; });
  if (table.handle == nullptr) {
    table = find_section(elf, [](const GElf_Shdr& header) { return header.sh_type == SHT_DYNSYM; });
  }
  if (table.handle == nullptr || table.header.sh_entsize != sizeof(Elf64_Sym)) return;
  Elf_Data* data = elf_getdata(table.handle, nullptr);
  if (data == nullptr) return;
  Elf_Data* versions = versions_of(elf, table.handle);
  const std::size_t count = data->d_size / sizeof(Elf64_Sym);
  for (std::size_t i = 1; i < count; ++i) {
    GElf_Sym symbol;
    if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) break;
    const auto type = GELF_ST_TYPE(symbol.st_info);
    if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE) continue;
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx == SHN_ABS) continue;
    const std::uint64_t address = symbol.st_value + shift;
    if (!module.in_code(address)) continue;
    const char* text = elf_strptr(elf, table.header.sh_link, symbol.st_name);
    if (text == nullptr || *text == '\0' || *text == '.' || *text == '$') continue;
    const std::string_view name(text, strnlen(text, kLongestSymbol));
    const int rank = kind_rank(symbol) * 2 + (is_old_version(versions, i, name) ? 1 : 0);
    candidates.push_back({address, symbol.st_size, rank, without_version(name)});
  }
}

void SymbolTable::add_functions(std::vector<Candidate>& candidates) {
  any_ = !candidates.empty();
  std::sort(candidates.begin(), candidates.end(),
            [](const Candidate& a, const Candidate& b) { return a.order() < b.order(); });
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Candidate& best = candidates[i];
    if (i > 0 && candidates[i - 1].begin == best.begin) continue;
    std::uint64_t end = best.begin + best.size;
    if (best.size == 0) {
      end = best.begin + kReachWithoutSize;
      const auto next = std::upper_bound(
          candidates.begin(), candidates.end(), best.begin,
          [](std::uint64_t begin, const Candidate& other) { return begin < other.begin; });
      if (next != candidates.end()) end = std::min(end, next->begin);
    }
    symbols_.add(best.begin, end, {best.begin, best.name}, best.size == 0 ? 0 : 1);
  }
}

void SymbolTable::add_stubs(const ElfModule& module) {
  constexpr std::uint64_t kStubSize = 16;
  const std::map<std::uint64_t, std::string_view> names = names_by_slot(module.elf());
  if (names.empty()) return;
  for (Elf_Scn* scn = nullptr; (scn = elf_nextscn(module.elf(), scn)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(scn, &header) == nullptr || header.sh_type != SHT_PROGBITS) continue;
    if (!section_name(module.elf(), header).starts_with(".plt")) continue;
    Elf_Data* data = elf_getdata(scn, nullptr);
    if (data == nullptr || data->d_buf == nullptr) continue;
    const auto* code = static_cast<const unsigned char*>(data->d_buf);
    // .plt.got has stubs of half the size when the linker saves room.
    const std::uint64_t step = header.sh_entsize == 8 ? 8 : kStubSize;
    for (std::uint64_t at = 0; at + step <= data->d_size; at += step) {
      const std::uint64_t address = header.sh_addr + at;
      const auto slot = names.find(slot_of_stub(code + at, step, address));
      if (slot == names.end()) continue;
      stub_names_.push_back(std::string(without_version(slot->second)) + "@plt");
      symbols_.add(address, address + step, {address, stub_names_.back()}, 2);
    }
  }
}

const Symbol* SymbolTable::find(std::uint64_t address) const { return symbols_.find(address); }

}  // namespace plumb
