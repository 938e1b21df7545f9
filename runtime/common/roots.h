// What the scan starts from: all writable memory of the process, except the
// allocator's, our own, and what is dead.
#pragma once

#include "common/maps.h"
#include "common/memory.h"

namespace plumb::rt {

// Sorts and unites overlapping ranges in place.
void normalise(OwnVector<Range>& ranges);

// Calls visit(Range) for each part of the mappings that is a root. Pages that
// were never touched are left out: they can hold no reference, and reading
// them would cost memory.
class RootWalk {
 public:
  using Visit = void (*)(void* context, Range range);
  // `excluded` must be normalised.
  RootWalk(const OwnVector<Mapping>& mappings, const OwnVector<Range>& excluded)
      : mappings_(mappings), excluded_(excluded) {}
  void visit(Visit visitor, void* context);

 private:
  void visit_touched(const Mapping& mapping, Range range, int pagemap, Visit visitor,
                     void* context);

  const OwnVector<Mapping>& mappings_;
  const OwnVector<Range>& excluded_;
};

}  // namespace plumb::rt
