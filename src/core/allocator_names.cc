#include "core/allocator_names.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <unordered_map>

#include "core/function_name.h"

namespace plumb {

namespace {

struct AllocatorName {
  std::string_view name;  // undecorated: no prefix, parameters or template arguments
  std::string_view api;   // as Allocation::api has it
  AllocatorRole role;
};

using enum AllocatorRole;

constexpr AllocatorName kAllocators[] = {
    {"malloc", "malloc", allocate},
    {"calloc", "calloc", allocate},
    {"realloc", "realloc", allocate},
    {"reallocarray", "reallocarray", allocate},
    {"memalign", "memalign", allocate},
    {"posix_memalign", "posix_memalign", allocate},
    {"aligned_alloc", "aligned_alloc", allocate},
    {"valloc", "valloc", allocate},
    {"pvalloc", "pvalloc", allocate},
    {"malloc_hook_ini", "malloc", allocate},
    {"_int_malloc", "malloc", allocate},
    {"_int_realloc", "realloc", allocate},
    {"_int_memalign", "memalign", allocate},
    {"_mid_memalign", "memalign", allocate},

    {"operator new", "operator new", allocate},
    {"operator new[]", "operator new[]", allocate},
    {"_Znwm", "operator new", allocate},
    {"_ZnwmRKSt9nothrow_t", "operator new", allocate},
    {"_ZnwmSt11align_val_t", "operator new", allocate},
    {"_ZnwmSt11align_val_tRKSt9nothrow_t", "operator new", allocate},
    {"_Znam", "operator new[]", allocate},
    {"_ZnamRKSt9nothrow_t", "operator new[]", allocate},
    {"_ZnamSt11align_val_t", "operator new[]", allocate},
    {"_ZnamSt11align_val_tRKSt9nothrow_t", "operator new[]", allocate},
    {"__builtin_new", "operator new", allocate},
    {"__builtin_vec_new", "operator new[]", allocate},

    {"strdup", "strdup", derived},
    {"strndup", "strndup", derived},
    {"wcsdup", "wcsdup", derived},
    {"asprintf", "asprintf", derived},
    {"asprintf_chk", "asprintf", derived},
    {"vasprintf", "vasprintf", derived},
    {"vasprintf_chk", "vasprintf", derived},
    {"vasprintf_internal", "vasprintf", derived},
    {"_IO_vasprintf", "vasprintf", derived},
    {"getline", "getline", derived},
    {"getdelim", "getdelim", derived},
    {"_IO_getdelim", "getdelim", derived},
    {"realpath", "realpath", derived},
    {"realpath_chk", "realpath", derived},
    {"realpath_stk", "realpath", derived},
    {"canonicalize_file_name", "canonicalize_file_name", derived},
    {"get_current_dir_name", "get_current_dir_name", derived},
    {"tempnam", "tempnam", derived},

    {"std::allocator::allocate", "operator new", plumbing},
    {"std::__new_allocator::allocate", "operator new", plumbing},
    {"std::allocator_traits::allocate", "operator new", plumbing},
    {"std::__allocate_guarded", "operator new", plumbing},
    {"std::__detail::__allocate_guarded", "operator new", plumbing},
    {"__gnu_cxx::new_allocator::allocate", "operator new", plumbing},
    {"__gnu_cxx::malloc_allocator::allocate", "malloc", plumbing},
    {"__gnu_cxx::__alloc_traits::allocate", "operator new", plumbing},
    {"std::__1::allocator::allocate", "operator new", plumbing},
    {"std::__1::allocator::allocate_at_least", "operator new", plumbing},
    {"std::__1::allocator_traits::allocate", "operator new", plumbing},
    {"std::__1::allocator_traits::allocate_at_least", "operator new", plumbing},
    {"std::__1::__allocate_at_least", "operator new", plumbing},
    {"std::__1::__libcpp_allocate", "operator new", plumbing},
    {"std::__1::__libcpp_operator_new", "operator new", plumbing},
    {"std::allocator::deallocate", "operator delete", plumbing},
    {"std::__new_allocator::deallocate", "operator delete", plumbing},
    {"std::allocator_traits::deallocate", "operator delete", plumbing},
    {"__gnu_cxx::new_allocator::deallocate", "operator delete", plumbing},
    {"__gnu_cxx::malloc_allocator::deallocate", "free", plumbing},
    {"__gnu_cxx::__alloc_traits::deallocate", "operator delete", plumbing},
    {"std::__1::allocator::deallocate", "operator delete", plumbing},
    {"std::__1::allocator_traits::deallocate", "operator delete", plumbing},
    {"std::__1::__libcpp_deallocate", "operator delete", plumbing},
    {"std::__1::__libcpp_operator_delete", "operator delete", plumbing},

    {"free", "free", release},
    {"cfree", "free", release},
    {"free_sized", "free", release},
    {"free_aligned_sized", "free", release},
    {"_int_free", "free", release},
    {"operator delete", "operator delete", release},
    {"operator delete[]", "operator delete[]", release},
    {"_ZdlPv", "operator delete", release},
    {"_ZdlPvm", "operator delete", release},
    {"_ZdlPvSt11align_val_t", "operator delete", release},
    {"_ZdlPvmSt11align_val_t", "operator delete", release},
    {"_ZdlPvRKSt9nothrow_t", "operator delete", release},
    {"_ZdlPvSt11align_val_tRKSt9nothrow_t", "operator delete", release},
    {"_ZdaPv", "operator delete[]", release},
    {"_ZdaPvm", "operator delete[]", release},
    {"_ZdaPvSt11align_val_t", "operator delete[]", release},
    {"_ZdaPvmSt11align_val_t", "operator delete[]", release},
    {"_ZdaPvRKSt9nothrow_t", "operator delete[]", release},
    {"_ZdaPvSt11align_val_tRKSt9nothrow_t", "operator delete[]", release},
};

// The demangled signatures, which patterns of other tools may spell out.
constexpr std::array<std::string_view, 4> kNewSignatures = {
    "(unsigned long)",
    "(unsigned long, std::nothrow_t const&)",
    "(unsigned long, std::align_val_t)",
    "(unsigned long, std::align_val_t, std::nothrow_t const&)",
};

// What glibc, sanitizers and other allocators put before the C names; longest
// first where one begins with another.
constexpr std::array<std::string_view, 13> kPrefixes = {
    "__interceptor_trampoline_",
    "___interceptor_",
    "__interceptor_",
    "__GI___libc_",
    "__GI___",
    "__GI_",
    "__libc_",
    "__wrap_",
    "__",
    "je_",
    "tc_",
    "mi_",
    "_libc_",
};

constexpr std::array<std::string_view, 22> kStartUp = {
    "_start",
    "__libc_start_main",
    "__libc_start_main_impl",
    "__libc_start_call_main",
    "generic_start_main",
    "(below main)",
    "__libc_csu_init",
    "call_init",
    "_dl_init",
    "_dl_start",
    "_dl_start_user",
    "_dl_start_final",
    "_dl_sysdep_start",
    "dl_main",
    "start_thread",
    "clone",
    "__clone",
    "clone3",
    "__clone3",
    "__clone_internal",
    "thread_start",
    "execute_native_thread_routine",
};

const AllocatorName* find_exact(std::string_view name) {
  static const auto kTable = [] {
    std::unordered_map<std::string_view, const AllocatorName*> table;
    for (const AllocatorName& entry : kAllocators) table.emplace(entry.name, &entry);
    return table;
  }();
  const auto found = kTable.find(name);
  return found == kTable.end() ? nullptr : found->second;
}

const AllocatorName* find_c_name(std::string_view name) {
  if (const AllocatorName* entry = find_exact(name)) return entry;
  for (const std::string_view prefix : kPrefixes) {
    if (!name.starts_with(prefix)) continue;
    const AllocatorName* entry = find_exact(name.substr(prefix.size()));
    if (entry != nullptr) return entry;
  }
  return nullptr;
}

// A plain C identifier, perhaps with a version or a clone suffix.
bool is_plain(std::string_view name) { return name.find_first_of(" (<:") == name.npos; }

const AllocatorName* find_allocator(std::string_view function) {
  if (const AllocatorName* entry = find_c_name(function)) return entry;
  // Long names that cannot be the table's are most of what is asked.
  if (is_plain(function)) {
    if (function.find_first_of(".@") == function.npos) return nullptr;
    return find_c_name(normalised_function(function));
  }
  const bool possible = function.starts_with("operator ") ||
                        function.find("alloc") != function.npos ||
                        function.find("__libcpp_operator_") != function.npos;
  if (!possible) return nullptr;
  const std::string name = normalised_function(function);
  return find_c_name(without_template_arguments(function_stem(name)));
}

}  // namespace

bool is_allocator_function(std::string_view function) {
  return find_allocator(function) != nullptr;
}

bool is_allocator_frame(const Frame& frame) {
  return is_allocator_function(frame.function) ||
         (frame.function.empty() && is_allocator_function(frame.linkage));
}

bool is_start_up_function(std::string_view function) {
  if (std::ranges::find(kStartUp, function) != kStartUp.end()) return true;
  if (!is_plain(function) || function.find_first_of(".@") == function.npos) return false;
  const std::string name = normalised_function(function);
  return std::ranges::find(kStartUp, name) != kStartUp.end();
}

std::vector<std::string_view> names_of_api(std::string_view api) {
  static const auto kByApi = [] {
    // The table and the composed signatures live as long as the program.
    static std::vector<std::string> signatures;
    signatures.reserve(2 * kNewSignatures.size());
    std::unordered_map<std::string_view, std::vector<std::string_view>> names;
    for (const AllocatorName& entry : kAllocators) {
      if (entry.role == allocate || entry.role == derived) names[entry.api].push_back(entry.name);
    }
    for (const std::string_view form : {"operator new", "operator new[]"}) {
      for (const std::string_view signature : kNewSignatures) {
        names[form].push_back(signatures.emplace_back(std::string(form) + std::string(signature)));
      }
    }
    return names;
  }();
  std::vector<std::string_view> names = {api};
  if (const auto found = kByApi.find(api); found != kByApi.end()) {
    for (const std::string_view name : found->second) {
      if (name != api) names.push_back(name);
    }
  }
  return names;
}

std::string_view api_name(std::string_view function) {
  const AllocatorName* entry = find_exact(function);
  return entry == nullptr ? function : entry->api;
}

bool is_derived_api(std::string_view api) {
  const AllocatorName* entry = find_exact(api);
  return entry != nullptr && entry->role == derived;
}

}  // namespace plumb
