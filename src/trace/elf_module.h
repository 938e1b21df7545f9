// One executable or shared library on disk, with the separate debug file that
// belongs to it.
//
// The file is only accepted when it is a regular file with a sane ELF header;
// the libraries that read it from there on check each section themselves.
// Addresses are those of the file's own program headers, so nothing depends on
// where the module was loaded.
//
// A separate debug file is looked for by build-id
// (DIR/.build-id/xx/yyyy.debug) and by the name in .gnu_debuglink (beside the
// file, in .debug/, under DIR), and taken only when its build-id, or without
// one its checksum, is right. Servers are asked only when the options say so.
#pragma once

#include <elfutils/libdwfl.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "trace/symbolise.h"

namespace plumb {

struct AddressRange {
  std::uint64_t begin = 0, end = 0;
};

class ElfModule {
 public:
  static Result<std::unique_ptr<ElfModule>> open(const std::string& path,
                                                 const SymboliserOptions& options);
  ~ElfModule();
  ElfModule(const ElfModule&) = delete;
  ElfModule& operator=(const ElfModule&) = delete;

  // Hexadecimal; empty when the file has none.
  const std::string& build_id() const { return build_id_; }

  // Where the file has instructions.
  const std::vector<AddressRange>& code() const { return code_; }
  bool in_code(std::uint64_t address) const;

  Elf* elf() const { return elf_; }
  Dwfl_Module* handle() const { return module_; }

  // What is added to an address of the file to get one of `handle()`.
  std::uint64_t bias() const { return bias_; }

  // Null when there is no DWARF. `dwarf_shift` is added to an address of the
  // file to get one of the DWARF (0 unless the file was prelinked).
  Dwarf* dwarf();
  std::uint64_t dwarf_shift() const { return dwarf_shift_; }

 private:
  ElfModule() = default;
  static int find_debug_file(Dwfl_Module* module, void** userdata, const char* name,
                             Dwarf_Addr base, const char* file, const char* link, GElf_Word crc,
                             char** found);

  std::string search_path_;  // what libdwfl keeps a pointer to
  char* search_path_pointer_ = nullptr;
  std::vector<std::string> debug_directories_;
  bool debuginfod_ = false;
  Dwfl_Callbacks callbacks_{};

  Dwfl* session_ = nullptr;
  Dwfl_Module* module_ = nullptr;
  Elf* elf_ = nullptr;
  std::uint64_t bias_ = 0;
  std::string build_id_;
  std::vector<AddressRange> code_;
  Dwarf* dwarf_ = nullptr;
  bool dwarf_tried_ = false;
  std::uint64_t dwarf_shift_ = 0;
};

// Where a debug file of that build-id is in one of the directories, or empty.
std::string find_by_build_id(const std::string& build_id,
                             const std::vector<std::string>& directories);

}  // namespace plumb
