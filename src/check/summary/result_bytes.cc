#include "check/summary/result_bytes.h"

#include <algorithm>
#include <unordered_map>

#include <xxhash.h>

#include "base/archive.h"

namespace plumb::check {

// A member that is added to one of these belongs into its description below.
static_assert(sizeof(Value) == 24 && sizeof(Fact) == 24 && sizeof(Cell) == 24);
static_assert(sizeof(Case) == 176 && sizeof(Origin) == 16 && sizeof(Effect) == 128);
static_assert(sizeof(TrailStep) == 12 && sizeof(Candidate) == 136);
static_assert(sizeof(Summary) == sizeof(Values) + sizeof(Effect) + 152);

template <typename Archive>
void fields(Archive& archive, Like<Value> auto& it) {
  archive(it.kind, it.code, it.depth, it.width, it.a, it.b, it.number);
}

template <typename Archive>
void fields(Archive& archive, Like<Fact> auto& it) {
  archive(it.low, it.high, it.nonzero);
}

template <typename Archive>
void fields(Archive& archive, Like<Guard> auto& it) {
  archive(it.value, it.fact);
}

template <typename Archive>
void fields(Archive& archive, Like<GuardSet> auto& it) {
  archive(it.guards);
}

template <typename Archive>
void fields(Archive& archive, Like<Cell> auto& it) {
  archive(it.base, it.offset, it.width, it.value);
}

template <typename Archive>
void fields(Archive& archive, Like<Case> auto& it) {
  archive(it.throws, it.thrown, it.fate, it.in_place, it.by_content, it.oom, it.freed_by, it.result,
          it.result_fact, it.guards, it.ways, it.ways_lost, it.parked, it.holders, it.beside);
}

template <typename Archive>
void fields(Archive& archive, Like<NewBlock> auto& it) {
  archive(it.origin, it.family, it.cases);
}

template <typename Archive>
void fields(Archive& archive, Like<Input> auto& it) {
  archive(it.value, it.cases);
}

template <typename Archive>
void fields(Archive& archive, Like<Meaning> auto& it) {
  archive(it.possible, it.guards, it.ways);
}

template <typename Archive>
void fields(Archive& archive, Like<Throw> auto& it) {
  archive(it.thrown, it.ways);
}

template <typename Archive>
void fields(Archive& archive, Like<Effect> auto& it) {
  archive(it.returns, it.throws, it.result, it.result_fact, it.meanings, it.writes, it.moves);
}

template <typename Archive>
void fields(Archive& archive, Like<Summary> auto& it) {
  if constexpr (Archive::kReads) {
    std::vector<Value> values;
    archive(values);
    std::optional<Values> table = Values::restore(std::move(values));
    if (table) {
      it.values = std::move(*table);
    } else {
      archive.refuse();
    }
  } else {
    archive(it.values.all());
  }
  archive(it.effect, it.blocks, it.inputs, it.known, it.complete, it.over_budget, it.cuts,
          it.taken_from, it.taken_below, it.may_take, it.handed_to);
}

template <typename Archive>
void fields(Archive& archive, Like<TrailStep> auto& it) {
  archive(it.operation, it.branch, it.rests, it.way);
}

template <typename Archive>
void fields(Archive& archive, Like<Candidate> auto& it) {
  archive(it.function, it.origin, it.operation, it.lost_at, it.used_at, it.kind, it.holder,
          it.trail, it.merged, it.later, it.oom, it.parked, it.below, it.verdict, it.freed_at,
          it.family, it.freed_by, it.indirect, it.held_by);
}

namespace {

// Calls `symbol` with each ProgramSymbolId and `function` with each FunctionId, to
// be changed.
template <typename Symbol, typename Function>
void each_number(std::vector<Case>& cases, const Symbol& symbol, const Function&) {
  for (Case& each : cases) {
    if (each.parked != kNotParked) symbol(each.parked);
    for (std::uint32_t& thrown : each.thrown) {
      if (thrown < kAnyClass) symbol(thrown);
    }
  }
}

template <typename Symbol, typename Function>
void each_number(Origin& origin, const Symbol&, const Function& function) {
  function(origin.function);
  if (origin.callee != Origin::kNone) function(origin.callee);
}

template <typename Symbol, typename Function>
void each_number(Summary& summary, const Symbol& symbol, const Function& function) {
  for (NewBlock& block : summary.blocks) {
    each_number(block.origin, symbol, function);
    each_number(block.cases, symbol, function);
  }
  for (Input& input : summary.inputs) each_number(input.cases, symbol, function);
  for (Throw& each : summary.effect.throws) {
    if (each.thrown < kAnyClass) symbol(each.thrown);
  }
  for (std::uint32_t& global : summary.taken_from) symbol(global);
  for (std::uint32_t& global : summary.taken_below) symbol(global);
  for (std::uint32_t& global : summary.may_take) symbol(global);
  for (std::uint32_t& taker : summary.handed_to) symbol(taker);
  std::ranges::sort(summary.may_take);
  for (std::uint32_t i = 0; i < summary.values.size(); ++i) {
    const Value& value = summary.values[ValueId::of(i)];
    if (value.kind != ValueKind::object) continue;
    const ObjectId object{value.number};
    if (object.kind() != ObjectKind::global && object.kind() != ObjectKind::function) continue;
    std::uint32_t index = object.index();
    symbol(index);
    summary.values.rename(ValueId::of(i), ObjectId::of(object.kind(), index));
  }
}

template <typename Symbol, typename Function>
void each_number(Candidate& candidate, const Symbol& symbol, const Function& function) {
  function(candidate.function);
  each_number(candidate.origin, symbol, function);
  if (candidate.parked != kNotParked) symbol(candidate.parked);
  if (candidate.indirect) each_number(candidate.held_by, symbol, function);
}

// Identities in the order in which they are first mentioned.
class Table {
 public:
  explicit Table(const Identities& identities) : identities_(identities) {}

  template <typename T>
  T outward(T item) {
    each_number(
        item, [&](std::uint32_t& id) { id = number(identities_.symbol(ProgramSymbolId::of(id))); },
        [&](std::uint32_t& id) { id = number(identities_.function(FunctionId::of(id))); });
    return item;
  }

  // False when a number means nothing here.
  template <typename T>
  bool inward(T& item) const {
    bool good = true;
    each_number(
        item,
        [&](std::uint32_t& id) {
          const auto found = id < list.size() ? identities_.find_symbol(list[id]) : std::nullopt;
          good = good && found;
          id = found ? found->index : 0;
        },
        [&](std::uint32_t& id) {
          const auto found = id < list.size() ? identities_.find_function(list[id]) : std::nullopt;
          good = good && found;
          id = found ? found->index : 0;
        });
    return good;
  }

  std::vector<std::uint64_t> list;

 private:
  std::uint32_t number(std::uint64_t identity) {
    const auto [entry, fresh] =
        numbers_.try_emplace(identity, static_cast<std::uint32_t>(list.size()));
    if (fresh) list.push_back(identity);
    return entry->second;
  }

  const Identities& identities_;
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;
};

bool is_sound(const Origin& origin, FunctionId function, const Function& body) {
  return origin.function == function.index && origin.operation < body.operations.size();
}

bool is_sound(const std::vector<Case>& cases, const Values& values) {
  const auto named = [&](ValueId id) { return id.index < values.size(); };
  return std::ranges::all_of(cases, [&](const Case& each) {
    const auto cells = [&](const std::vector<Cell>& list) {
      return std::ranges::all_of(
          list, [&](const Cell& cell) { return named(cell.base) && named(cell.value); });
    };
    const auto guards = [&](const std::vector<Guard>& list) {
      return std::ranges::all_of(list, [&](const Guard& guard) { return named(guard.value); });
    };
    return each.fate <= Fate::escaped && named(each.result) && cells(each.holders) &&
           cells(each.beside) && guards(each.guards) &&
           std::ranges::all_of(each.ways, [&](const GuardSet& way) { return guards(way.guards); });
  });
}

bool is_sound(const Summary& summary, FunctionId function, const Function& body) {
  const Values& values = summary.values;
  const auto named = [&](ValueId id) { return id.index < values.size(); };
  const Effect& effect = summary.effect;
  return named(effect.result) &&
         std::ranges::all_of(
             effect.writes,
             [&](const Cell& cell) { return named(cell.base) && named(cell.value); }) &&
         std::ranges::all_of(
             effect.moves, [&](const Move& each) { return named(each.from) && named(each.to); }) &&
         std::ranges::all_of(effect.throws,
                             [&](const Throw& each) {
                               return std::ranges::all_of(each.ways, [&](const GuardSet& way) {
                                 return std::ranges::all_of(way.guards, [&](const Guard& guard) {
                                   return named(guard.value);
                                 });
                               });
                             }) &&
         (effect.meanings.empty() || effect.meanings.size() == kSigns) &&
         std::ranges::all_of(effect.meanings,
                             [&](const Meaning& each) {
                               const auto sound = [&](const std::vector<Guard>& guards) {
                                 return std::ranges::all_of(guards, [&](const Guard& guard) {
                                   return named(guard.value);
                                 });
                               };
                               return sound(each.guards) &&
                                      std::ranges::all_of(each.ways, [&](const GuardSet& way) {
                                        return sound(way.guards);
                                      });
                             }) &&
         std::ranges::all_of(summary.blocks,
                             [&](const NewBlock& block) {
                               return is_sound(block.origin, function, body) &&
                                      is_sound(block.cases, values);
                             }) &&
         std::ranges::all_of(summary.inputs, [&](const Input& input) {
           return named(input.value) && is_sound(input.cases, values);
         });
}

bool is_sound(const Candidate& candidate, FunctionId function, const Function& body) {
  const std::size_t count = body.operations.size();
  return candidate.function == function.index && is_sound(candidate.origin, function, body) &&
         candidate.operation < count && candidate.lost_at < count && candidate.used_at < count &&
         candidate.freed_at < count &&
         (!candidate.indirect || is_sound(candidate.held_by, function, body)) &&
         candidate.kind <= LossKind::freed_wrongly && candidate.verdict <= Verdict::refuted &&
         std::ranges::all_of(
             candidate.trail,
             [&](const TrailStep& step) {
               if (step.operation >= count) return false;
               const Operation& o = body.operations[step.operation];
               return o.op != Op::switch_to || step.branch != 1 || 2u * step.way + 1 < o.pool_count;
             });
}

const Function& body_of(const Identities& identities, FunctionId id) {
  return *identities.program().functions()[id.index].body;
}

}  // namespace

std::string to_bytes(const Identities& identities, const ComponentResult& result) {
  Table table(identities);
  ComponentResult plain;
  for (const Summary& each : result.summaries) plain.summaries.push_back(table.outward(each));
  for (const Candidate& each : result.candidates) plain.candidates.push_back(table.outward(each));
  ArchiveWriter writer;
  writer(table.list, result.hashes, plain.summaries, plain.candidates);
  return std::move(writer.bytes);
}

std::string to_bytes(const Identities& identities, const std::vector<Candidate>& candidates) {
  Table table(identities);
  std::vector<Candidate> plain;
  for (const Candidate& each : candidates) plain.push_back(table.outward(each));
  ArchiveWriter writer;
  writer(table.list, plain);
  return std::move(writer.bytes);
}

std::optional<ComponentResult> component_from(const Identities& identities,
                                              const std::vector<FunctionId>& component,
                                              std::string_view bytes) {
  ArchiveReader reader(bytes);
  Table table(identities);
  ComponentResult out;
  reader(table.list, out.hashes, out.summaries, out.candidates);
  if (!reader.whole() || out.summaries.size() != component.size()) return std::nullopt;
  if (out.hashes.size() != component.size()) return std::nullopt;
  for (std::size_t i = 0; i < component.size(); ++i) {
    if (!table.inward(out.summaries[i])) return std::nullopt;
    if (!is_sound(out.summaries[i], component[i], body_of(identities, component[i]))) {
      return std::nullopt;
    }
  }
  for (Candidate& each : out.candidates) {
    if (!table.inward(each)) return std::nullopt;
    const FunctionId function = FunctionId::of(each.function);
    if (!std::ranges::binary_search(component, function)) return std::nullopt;
    if (!is_sound(each, function, body_of(identities, function))) return std::nullopt;
  }
  return out;
}

std::optional<std::vector<Candidate>> candidates_from(const Identities& identities,
                                                      FunctionId function, std::string_view bytes) {
  ArchiveReader reader(bytes);
  Table table(identities);
  std::vector<Candidate> out;
  reader(table.list, out);
  if (!reader.whole()) return std::nullopt;
  for (Candidate& each : out) {
    if (!table.inward(each) || !is_sound(each, function, body_of(identities, function))) {
      return std::nullopt;
    }
  }
  return out;
}

std::uint64_t summary_hash(const Identities& identities, const Summary& summary) {
  Table table(identities);
  Summary plain = table.outward(summary);
  for (NewBlock& block : plain.blocks) block.origin.operation = 0;
  plain.handed_to.clear();  // nothing that a caller rests on
  ArchiveWriter writer;
  writer(table.list, plain);
  const std::uint64_t hash = XXH3_64bits(writer.bytes.data(), writer.bytes.size());
  return hash ? hash : 1;
}

}  // namespace plumb::check
