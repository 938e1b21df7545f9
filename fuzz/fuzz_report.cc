// Reads anything as a report. What is accepted must be JSON by another
// parser's judgement, too, and must survive being written: the report read
// back is equal, and written once more it has the same bytes.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/check.h"
#include "report/json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const plumb::Result<plumb::Report> report = plumb::read_json(text);
  if (!report) {
    PLUMB_CHECK(!report.error().what.empty());
    return 0;
  }
  PLUMB_CHECK(nlohmann::json::accept(text));
  const std::string written = plumb::write_json(*report);
  const plumb::Result<plumb::Report> again = plumb::read_json(written);
  PLUMB_CHECK(again.has_value());
  PLUMB_CHECK(*again == *report);
  PLUMB_CHECK(plumb::write_json(*again) == written);
  return 0;
}
