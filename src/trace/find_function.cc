#include "trace/find_function.h"

#include <elfutils/libdwfl.h>
#include <gelf.h>

#include <memory>
#include <string_view>

#include "base/demangle.h"
#include "base/result.h"
#include "trace/elf_module.h"

namespace plumb {

std::optional<std::uint64_t> find_function(const std::string& path, const std::string& name) {
  const Result<std::unique_ptr<ElfModule>> module = ElfModule::open(path, {});
  if (!module) return std::nullopt;
  Demangler demangle;
  std::optional<std::uint64_t> by_source;
  const int count = dwfl_module_getsymtab((*module)->handle());
  for (int i = 0; i < count; ++i) {
    GElf_Sym symbol;
    GElf_Addr address = 0;
    const char* text = dwfl_module_getsym_info((*module)->handle(), i, &symbol, &address, nullptr,
                                               nullptr, nullptr);
    if (text == nullptr || GELF_ST_TYPE(symbol.st_info) != STT_FUNC ||
        symbol.st_shndx == SHN_UNDEF) {
      continue;
    }
    const std::uint64_t place = address - (*module)->bias();
    if (name == text) return place;
    if (by_source || !std::string_view(text).starts_with("_Z")) continue;
    const std::string source = demangle(text);
    if (source == name || source.starts_with(name + "(")) by_source = place;
  }
  return by_source;
}

}  // namespace plumb
