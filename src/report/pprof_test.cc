#include "report/pprof.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "report/testdata/sample_report.h"

namespace plumb {
namespace {

// A reader of the wire format, apart from the writer on purpose.
struct Fields {
  std::map<unsigned, std::vector<std::string>> texts;
  std::map<unsigned, std::vector<std::uint64_t>> numbers;
};

std::uint64_t take_varint(std::string_view& bytes) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) break;
  }
  return value;
}

Fields parse(std::string_view bytes) {
  Fields fields;
  while (!bytes.empty()) {
    const std::uint64_t key = take_varint(bytes);
    const auto field = static_cast<unsigned>(key >> 3);
    if ((key & 7) == 0) {
      fields.numbers[field].push_back(take_varint(bytes));
    } else {
      EXPECT_EQ(key & 7, 2U);
      const std::uint64_t size = take_varint(bytes);
      EXPECT_LE(size, bytes.size());
      fields.texts[field].emplace_back(bytes.substr(0, size));
      bytes.remove_prefix(std::min<std::size_t>(size, bytes.size()));
    }
  }
  return fields;
}

std::vector<std::uint64_t> packed(const std::string& bytes) {
  std::vector<std::uint64_t> values;
  for (std::string_view rest = bytes; !rest.empty();) values.push_back(take_varint(rest));
  return values;
}

// Stored blocks only, as the writer makes them.
std::string unzipped(std::string_view bytes) {
  EXPECT_EQ(bytes.substr(0, 3), std::string_view("\x1f\x8b\x08", 3));
  bytes.remove_prefix(10);
  std::string text;
  for (bool last = false; !last;) {
    last = bytes[0] == 1;
    const std::size_t size =
        static_cast<unsigned char>(bytes[1]) + 256U * static_cast<unsigned char>(bytes[2]);
    text += bytes.substr(5, size);
    bytes.remove_prefix(5 + size);
  }
  EXPECT_EQ(bytes.size(), 8U);
  return text;
}

TEST(Pprof, SamplesAddUpAndRefersToWhatIsThere) {
  const Report report = sample::watch();
  const Fields profile = parse(unzipped(write_pprof(report, {})));
  const std::vector<std::string>& strings = profile.texts.at(6);
  ASSERT_FALSE(strings.empty());
  EXPECT_EQ(strings[0], "");
  ASSERT_EQ(profile.texts.at(1).size(), 2U);
  EXPECT_EQ(strings[parse(profile.texts.at(1)[0]).numbers.at(1)[0]], "objects");
  EXPECT_EQ(strings[parse(profile.texts.at(1)[1]).numbers.at(2)[0]], "bytes");
  std::uint64_t bytes = 0;
  for (const std::string& text : profile.texts.at(2)) {
    const Fields sample = parse(text);
    const std::vector<std::uint64_t> values = packed(sample.texts.at(2)[0]);
    ASSERT_EQ(values.size(), 2U);
    bytes += values[1];
    for (const std::uint64_t location : packed(sample.texts.at(1)[0])) {
      EXPECT_GE(location, 1U);
      EXPECT_LE(location, profile.texts.at(4).size());
    }
  }
  EXPECT_EQ(bytes, report.totals.stale.bytes);
  for (const std::string& text : profile.texts.at(5)) {
    EXPECT_LT(parse(text).numbers.at(2)[0], strings.size());
  }
}

TEST(Pprof, AnEmptyReportIsAProfile) {
  const Fields profile = parse(unzipped(write_pprof({}, {})));
  EXPECT_EQ(profile.texts.count(2), 0U);
  EXPECT_EQ(profile.texts.at(1).size(), 2U);
}

}  // namespace
}  // namespace plumb
