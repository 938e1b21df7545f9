// Snapshots of watched programs: whatever the bytes are, the reader gives a
// snapshot from which a report with holding sums is made, or an error.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "core/accounting.h"
#include "watch/watch.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  plumb::StalePolicy policy;
  policy.list_all = true;
  const plumb::Result<plumb::Report> report = plumb::report_of_snapshot(bytes, "fuzz", policy);
  if (!report) {
    PLUMB_CHECK(!report.error().what.empty());
    return 0;
  }
  PLUMB_CHECK(plumb::check_totals(*report).has_value());
  return 0;
}
