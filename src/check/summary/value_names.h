// The values of a summary as the source of its function would write them: the
// parameter's name, `l->head->next`, `new#2->name`. Where debug information has
// no name, offsets stand: `l->16`.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "check/model/place_name.h"
#include "check/model/program.h"
#include "check/summary/summary.h"

namespace plumb::check {

class ValueNames {
 public:
  ValueNames(const Program& program, FunctionId function, const Summary& summary);

  // "the block" is now the one that these cases are about.
  void follow(const std::vector<Case>& cases);

  std::string text(ValueId id) const { return text(id, 0); }
  // The place that is `offset` bytes behind the pointer.
  std::string place(ValueId base, std::int64_t offset) const;
  // Of that place the last step: `head`; `*` or +16 where there is no name.
  std::string step(ValueId base, std::int64_t offset) const;
  // False for what its type says to be no pointer.
  bool may_point(ValueId id) const;

 private:
  std::string text(ValueId id, int depth) const;
  std::string object_text(ObjectId object) const;
  // What the value points to.
  Place behind_value(ValueId id) const;
  // A block has the type of the place that points to it.
  bool learn(ValueId value, TypeId pointer);
  bool learn(const Cell& cell);

  const Program& program_;
  const Unit& unit_;
  const Function& function_;
  const Values& values_;
  std::map<std::uint32_t, TypeId> blocks_;  // by object index
};

}  // namespace plumb::check
