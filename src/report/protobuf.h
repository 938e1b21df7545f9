// Just enough of protobuf's wire format to write a message: fields are put one
// after the other, nested messages as their bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plumb {

class ProtoMessage {
 public:
  void number(unsigned field, std::uint64_t value) {
    if (value == 0) return;  // the default, never written
    key(field, 0);
    varint(value);
  }
  void bytes(unsigned field, std::string_view value) {
    key(field, 2);
    varint(value.size());
    bytes_ += value;
  }
  void message(unsigned field, const ProtoMessage& value) { bytes(field, value.bytes_); }
  void numbers(unsigned field, const std::vector<std::uint64_t>& values) {
    ProtoMessage packed;
    for (const std::uint64_t value : values) packed.varint(value);
    bytes(field, packed.bytes_);
  }
  void append(const ProtoMessage& more) { bytes_ += more.bytes_; }
  const std::string& text() const { return bytes_; }

 private:
  void key(unsigned field, unsigned type) { varint(field << 3 | type); }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
};

}  // namespace plumb
