// What functions do to memory, said by models instead of found out: those that the
// program does not define (models/*.models), and those that the user declares, whether
// the program defines them or not. By symbol; a user may also write the name that the
// source has (`Pool::take`), which stands for all functions of that name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "check/summary/containers.h"
#include "check/summary/state.h"

namespace plumb::check {

// Bits of parameters.
using Params = std::uint32_t;

// What the compiler calls to throw and to catch.
enum class ExceptionEffect : std::uint8_t { none, throws, rethrows, begins, ends };

struct LibraryModel {
  bool is_memory() const { return family == "malloc" || family == "new" || family == "new[]"; }

  bool allocates = false;  // the result is a new block
  bool zeroed = false;
  bool returns_or_allocates = false;  // realpath: a block if the parameter is null
  int alloc_to = -1;                  // a new block is stored through this parameter
  int grow_to = -1;                   // getline
  int reallocates = -1;
  int returns = -1;          // the result is this parameter
  int within = -1;           // the result points into this parameter, or is null
  int calls = -1;            // starts the function in this parameter with the next one
  int joins = -1;            // the result of the thread in parameter 0 is stored through this one
  bool result_zero = false;  // when the allocation succeeds, or there is none
  bool result_positive = false;
  bool may_fail = false;        // with another result, and no block, for reasons of its own
  bool result_natural = false;  // not negative
  bool result_length = false;   // of something in memory
  bool result_status = false;   // not below -1
  Params sizes = 0;             // how much to allocate: not zero
  Params frees = 0;
  Params keeps = 0;
  Params writes = 0;
  std::vector<std::pair<int, int>> changes{};  // a parameter, and how many bytes there
  bool copies = false;                         // memcpy
  bool noreturn = false;
  ExceptionEffect exception = ExceptionEffect::none;
  std::int8_t noreturn_if = -1;  // does not come back when this parameter is not zero
  std::string family = "malloc";
  FamilyId family_id = 0;
  ContainerEffect container = ContainerEffect::none;
  bool declared = false;  // by the user: counts for a function that is defined, too
};

class Library {
 public:
  // Adds models; a line that is not understood is an error.
  Result<void> add(const ModelText& models, bool declared);

  // Of the models of resources, those of the ones that are asked for.
  Result<void> add_resources(const ModelText& models, const std::vector<std::string>& asked);

  // Containers and what their members do: models/containers.models.
  Result<void> add_containers(const ModelText& models);

  // What the user calls as the source does is found by its symbol from now on.
  void find_by_source_name(const std::vector<std::string>& symbols);

  // "malloc", "new[]"; of 0, nothing.
  std::string_view family(FamilyId id) const {
    return id == 0 || id > families_.size() ? std::string_view{} : families_[id - 1u];
  }

  const LibraryModel* find(const std::string& symbol) const;

 private:
  template <typename Take>  // (name, model)
  Result<void> each_model(const ModelText& models, const Take& take);

  std::unordered_map<std::string, LibraryModel> models_;
  std::unordered_map<std::string, LibraryModel> by_source_name_;    // "Pool::take"
  std::vector<std::pair<std::string, LibraryModel>> by_beginning_;  // "_ZNSo"; the last counts
  Containers containers_;
  FamilyId family_of(const std::string& name);
  std::vector<std::string> families_;
};

}  // namespace plumb::check
