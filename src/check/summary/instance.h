// The summary of a callee, at one call of it.
#pragma once

#include <cstdint>
#include <vector>

#include "check/summary/function_run.h"

namespace plumb::check {

// Values of a summary as values of the caller, at one call. Made on demand: most
// of a summary's values do not matter at most calls.
class FunctionRun::Instance {
 public:
  Instance(FunctionRun& run, State& state, std::uint32_t index, FunctionId callee,
           const std::vector<ValueId>& arguments, bool makes_focus)
      : run_(run),
        state_(state),
        index_(index),
        callee_(callee),
        arguments_(arguments),
        makes_focus_(makes_focus),
        values_(run.known_.find(callee)->values),
        map_(values_.size(), kNoValue) {
    const ProgramView::Signature target = run.program_.signature(callee);
    if (target.variadic) named_ = target.params;
  }

  FunctionId callee() const { return callee_; }

  ValueId operator()(ValueId id) {
    if (id == kNoValue) return kNoValue;
    if (map_[id.index] != kNoValue) return map_[id.index];
    const ValueId made = make(values_[id]);
    map_[id.index] = made;
    return made;
  }

 private:
  ValueId make(const Value& v) {
    Values& out = run_.values_;
    switch (v.kind) {
      case ValueKind::integer:
        return out.integer(v.number);
      case ValueKind::param: {
        const auto number = static_cast<std::size_t>(v.number);
        const bool has_name = number < named_ && number < arguments_.size();
        return has_name ? arguments_[number] : out.fresh();
      }
      case ValueKind::object: {
        const ObjectId object{v.number};
        if (object.kind() != ObjectKind::heap) return out.object(object);
        if (object.index() == 0 && makes_focus_) return run_.focus_;
        const ValueId block = run_.block_from({index_, callee_.index, object.index()});
        run_.renew(state_, block);
        run_.forget_failure(state_, block);
        return block;
      }
      case ValueKind::cell: {
        const ValueId base = (*this)(v.a);
        return run_.load(state_, out.pointer(base, v.number), v.width);
      }
      case ValueKind::pointer:
        return out.pointer((*this)(v.a), v.number);
      case ValueKind::index: {
        const ValueId a = (*this)(v.a);
        return out.index(a, (*this)(v.b), v.number);
      }
      case ValueKind::binary: {
        const ValueId a = (*this)(v.a);
        return out.binary(v.code, a, (*this)(v.b), v.width);
      }
      case ValueKind::compare: {
        const ValueId a = (*this)(v.a);
        return out.compare(v.code, a, (*this)(v.b), v.width);
      }
      case ValueKind::cast:
        return out.cast(v.code, (*this)(v.a), v.width);
      case ValueKind::reach:
        return out.reach((*this)(v.a));
      case ValueKind::pair: {
        const ValueId a = (*this)(v.a);
        return out.pair(a, (*this)(v.b));
      }
      case ValueKind::element:
        if (v.number >= static_cast<std::int64_t>(Elements::found)) {
          return out.found_element((*this)(v.a));
        }
        return out.element((*this)(v.a), static_cast<Elements>(v.number));
      case ValueKind::fresh:
      case ValueKind::merge:
      case ValueKind::none:
        break;
    }
    return out.fresh();
  }

  FunctionRun& run_;
  State& state_;
  std::uint32_t index_;
  FunctionId callee_;
  const std::vector<ValueId>& arguments_;
  bool makes_focus_;
  std::size_t named_ = SIZE_MAX;  // variadic: parameters that stand for one argument each
  const Values& values_;
  std::vector<ValueId> map_;
};

}  // namespace plumb::check
