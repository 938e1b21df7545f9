// Raw traces: whatever the bytes are, the reader gives a trace whose sums hold,
// or an error. What it accepts it accepts again after compaction.
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/check.h"
#include "trace/record_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const plumb::Result<plumb::Trace> trace = plumb::read_trace(bytes, "fuzz");
  if (!trace) {
    PLUMB_CHECK(!trace.error().what.empty());
    return 0;
  }
  plumb::Count sum = trace->freed;
  sum += trace->excluded;
  for (const plumb::TraceGroup& group : trace->groups) {
    sum += group.direct;
    sum += group.indirect;
    PLUMB_CHECK(group.stack < trace->stacks.size());
    PLUMB_CHECK(group.sizes.min <= group.sizes.max);
  }
  PLUMB_CHECK(sum == trace->allocated);
  for (const auto& stack : trace->stacks) {
    for (const plumb::TraceAddress& address : stack) {
      PLUMB_CHECK(!address.module || address.module->index < trace->modules.size());
    }
  }
  const plumb::Result<std::string> compact = plumb::compact_trace(bytes, "fuzz");
  PLUMB_CHECK(compact.has_value());
  const plumb::Result<plumb::Trace> again =
      plumb::read_trace(std::as_bytes(std::span(*compact)), "fuzz");
  PLUMB_CHECK(again.has_value());
  PLUMB_CHECK(again->allocated == trace->allocated && again->stacks == trace->stacks);
  return 0;
}
