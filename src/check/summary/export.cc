#include "check/summary/export.h"

namespace plumb::check {

ValueId ValueExport::operator()(ValueId id) {
  if (id == kNoValue) return kNoValue;
  if (map_.size() <= id.index) map_.resize(from_.size(), kNoValue);
  if (map_[id.index] != kNoValue) return map_[id.index];
  const Value v = from_[id];
  // Parts first: they may grow the map.
  const auto has_a = v.kind != ValueKind::merge && v.a != kNoValue;
  const ValueId a = has_a ? (*this)(v.a) : kNoValue;
  const ValueId b = v.b != kNoValue ? (*this)(v.b) : kNoValue;
  ValueId out = kNoValue;
  switch (v.kind) {
    case ValueKind::integer:
      out = to_.integer(v.number);
      break;
    case ValueKind::param:
      out = to_.param(static_cast<std::uint32_t>(v.number));
      break;
    case ValueKind::object:
      out = ObjectId{v.number}.kind() == ObjectKind::var ? to_.fresh()
                                                         : to_.object(ObjectId{v.number});
      break;
    case ValueKind::cell:
      out = to_.cell(a, v.number, v.width);
      break;
    case ValueKind::pointer:
      out = to_.pointer(a, v.number);
      break;
    case ValueKind::index:
      out = to_.index(a, b, v.number);
      break;
    case ValueKind::binary:
      out = to_.binary(v.code, a, b, v.width);
      break;
    case ValueKind::compare:
      out = to_.compare(v.code, a, b, v.width);
      break;
    case ValueKind::cast:
      out = to_.cast(v.code, a, v.width);
      break;
    case ValueKind::reach:
      out = to_.reach(a);
      break;
    case ValueKind::pair:
      out = to_.pair(a, b);
      break;
    case ValueKind::element:
      out = v.number < static_cast<std::int64_t>(Elements::found)
                ? to_.element(a, static_cast<Elements>(v.number))
                : to_.found_element(a);
      break;
    case ValueKind::fresh:
    case ValueKind::merge:
    case ValueKind::none:
      out = to_.fresh();
      break;
  }
  map_[id.index] = out;
  return out;
}

void ValueExport::keep_merged(ValueId id) {
  if (map_.size() <= id.index) map_.resize(from_.size(), kNoValue);
  if (map_[id.index] == kNoValue) map_[id.index] = to_.merged();
}

}  // namespace plumb::check
