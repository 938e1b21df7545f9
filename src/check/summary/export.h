// Copies values of a run into the table of a summary. What only the run knows
// (its variables, its unknowns, where its paths met) becomes a fresh value, the
// same each time.
#pragma once

#include <vector>

#include "check/summary/value.h"

namespace plumb::check {

class ValueExport {
 public:
  ValueExport(const Values& from, Values& to) : from_(from), to_(to) {}
  ValueId operator()(ValueId id);
  // Where the value is something new on every path: it stays a merged value then.
  void keep_merged(ValueId id);

 private:
  const Values& from_;
  Values& to_;
  std::vector<ValueId> map_;
};

}  // namespace plumb::check
