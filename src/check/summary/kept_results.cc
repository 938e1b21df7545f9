#include "check/summary/kept_results.h"

#include <algorithm>

#include <xxhash.h>

#include "base/archive.h"

namespace plumb::check {

namespace {

struct Dependency {
  std::uint64_t what = 0;  // identity
  std::uint64_t hash = 0;
};

struct Trace {
  std::vector<Dependency> symbols;
  std::vector<Dependency> summaries;
  std::vector<Dependency> bodies;
};

std::uint64_t hash_of(const ArchiveWriter& writer) {
  return XXH3_64bits(writer.bytes.data(), writer.bytes.size());
}

constexpr std::size_t kTraceLength = sizeof(std::uint64_t);

}  // namespace

KeptResults::KeptResults(const Program& program, const std::vector<std::string>& units,
                         std::vector<std::string> paths, unsigned threads)
    : identities_(program, units, threads),
      store_(std::move(paths)),
      summaries_(program.functions().size(), 0) {}

std::uint64_t KeptResults::name_of(const std::vector<FunctionId>& component) const {
  ArchiveWriter writer;
  for (const FunctionId id : component) writer(identities_.body(id));
  return hash_of(writer);
}

std::uint64_t KeptResults::name_of(FunctionId function, std::string_view what) const {
  ArchiveWriter writer;
  writer(identities_.body(function), std::string(what));
  return hash_of(writer);
}

std::string KeptResults::with_trace(std::string_view result, const std::vector<FunctionId>& own,
                                    const std::vector<bool>* done, Reads& reads) const {
  const Program& program = identities_.program();
  Trace trace;
  for (const std::uint32_t each : reads.symbols.numbers()) {
    const ProgramSymbolId id = ProgramSymbolId::of(each);
    trace.symbols.push_back({identities_.symbol(id), identities_.facts(id)});
  }
  for (const std::uint32_t each : reads.summaries.numbers()) {
    const FunctionId id = FunctionId::of(each);
    if (std::ranges::binary_search(own, id)) continue;
    trace.summaries.push_back({identities_.function(id), summary_of(id, done)});
  }
  for (const std::uint32_t each : reads.bodies.numbers()) {
    const FunctionId id = FunctionId::of(each);
    trace.bodies.push_back(
        {identities_.symbol(program.functions()[each].symbol), identities_.body(id)});
  }
  ArchiveWriter writer;
  writer(trace.symbols, trace.summaries, trace.bodies);
  const std::uint64_t length = writer.bytes.size();
  std::string out(reinterpret_cast<const char*>(&length), kTraceLength);
  out += writer.bytes;
  out += result;
  return out;
}

std::optional<std::string_view> KeptResults::valid(std::string_view kept,
                                                   const std::vector<bool>* done) const {
  std::uint64_t length = 0;
  if (kept.size() < kTraceLength) return std::nullopt;
  std::memcpy(&length, kept.data(), kTraceLength);
  kept.remove_prefix(kTraceLength);
  if (length > kept.size()) return std::nullopt;
  ArchiveReader reader(kept.substr(0, length));
  Trace trace;
  reader(trace.symbols, trace.summaries, trace.bodies);
  if (!reader.whole()) return std::nullopt;
  const auto same_symbol = [&](const Dependency& each) {
    const std::optional<ProgramSymbolId> id = identities_.find_symbol(each.what);
    return id && identities_.facts(*id) == each.hash;
  };
  const auto same_summary = [&](const Dependency& each) {
    const std::optional<FunctionId> id = identities_.find_function(each.what);
    return id && summary_of(*id, done) == each.hash;
  };
  const auto same_body = [&](const Dependency& each) {
    const std::optional<FunctionId> id = identities_.find_function(each.what);
    return id && identities_.body(*id) == each.hash;
  };
  if (!std::ranges::all_of(trace.symbols, same_symbol)) return std::nullopt;
  if (!std::ranges::all_of(trace.summaries, same_summary)) return std::nullopt;
  if (!std::ranges::all_of(trace.bodies, same_body)) return std::nullopt;
  return kept.substr(length);
}

std::optional<ComponentResult> KeptResults::find(const std::vector<FunctionId>& component,
                                                 const std::vector<Summary>& summaries,
                                                 const std::vector<bool>& done) {
  const auto kept = valid(store_.find(unit_of(component[0]), name_of(component)), &done);
  if (!kept) return std::nullopt;
  std::optional<ComponentResult> result = component_from(identities_, component, *kept);
  if (!result) return std::nullopt;
  // Which of a callee's blocks is meant.
  const auto means_a_block = [&](const Origin& origin) {
    if (origin.callee == Origin::kNone) return true;
    const FunctionId callee = FunctionId::of(origin.callee);
    const auto own = std::ranges::lower_bound(component, callee);
    if (own != component.end() && *own == callee) {
      // Of an earlier round, perhaps: findings look before they use it.
      return true;
    }
    return done[callee.index] && origin.inner < summaries[callee.index].blocks.size();
  };
  for (const Summary& summary : result->summaries) {
    for (const NewBlock& block : summary.blocks) {
      if (!means_a_block(block.origin)) return std::nullopt;
    }
  }
  for (const Candidate& each : result->candidates) {
    if (!means_a_block(each.origin)) return std::nullopt;
  }
  for (std::size_t i = 0; i < component.size(); ++i) {
    summaries_[component[i].index] = result->hashes[i];
  }
  ++found_;
  return result;
}

void KeptResults::keep(const std::vector<FunctionId>& component, ComponentResult& result,
                       const std::vector<bool>& done, Reads& reads) {
  result.hashes.clear();
  for (std::size_t i = 0; i < component.size(); ++i) {
    result.hashes.push_back(summary_hash(identities_, result.summaries[i]));
    summaries_[component[i].index] = result.hashes[i];
  }
  store_.keep(unit_of(component[0]), name_of(component),
              with_trace(to_bytes(identities_, result), component, &done, reads));
}

std::optional<std::string_view> KeptResults::find(FunctionId function, std::uint64_t name) {
  return valid(store_.find(unit_of(function), name), nullptr);
}

void KeptResults::keep(FunctionId function, std::uint64_t name, std::string_view result,
                       Reads& reads) {
  store_.keep(unit_of(function), name, with_trace(result, {}, nullptr, reads));
}

}  // namespace plumb::check
