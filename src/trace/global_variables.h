// The variables of one module that have an address of their own, or a place in each
// thread's memory. They are read when first asked for.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "trace/dwarf_info.h"
#include "trace/elf_module.h"
#include "trace/found_variable.h"

namespace plumb {

class GlobalVariables {
 public:
  // `dwarf` and the module's file outlive this.
  GlobalVariables(DwarfInfo& dwarf, const ElfModule& module);

  std::optional<FoundVariable> at(std::uint64_t address);
  // By the distance from the thread pointer (negative); only a program's own have a
  // fixed one.
  std::optional<FoundVariable> in_thread_at(std::int64_t offset);

 private:
  struct Global {
    std::uint64_t address = 0;
    std::uint64_t size = 0;
    Dwarf_Die die{};
  };

  void read();
  std::optional<FoundVariable> find(std::vector<Global>& among, std::uint64_t address);

  DwarfInfo& dwarf_;
  std::vector<Global> globals_;
  std::vector<Global> thread_locals_;        // by place in the module's own part
  std::optional<std::int64_t> thread_size_;  // of that part, in a program
  bool read_ = false;
};

}  // namespace plumb
