// One sample per leak: its blocks and bytes at its allocation stack, labelled
// with kind, id and verdict. Figures of the sampled engine are scaled up
// already, as pprof expects them.
//
// Modules become mappings with ranges of their own (a report has offsets, not
// addresses), so that build-id and offset, which are the same on every
// machine, tell a server what is the same place.
// Gzip is written without compression: readers want the wrapper, and profiles
// of leaks are small.
#include "report/pprof.h"

#include <array>
#include <map>
#include <unordered_map>
#include <vector>

#include "report/protobuf.h"
#include "report/text_cells.h"

namespace plumb {

namespace {

constexpr unsigned kModuleBits = 40;  // of addresses for each mapping

class Strings {
 public:
  Strings() { id(""); }
  std::uint64_t id(const std::string& text) {
    const auto [place, is_new] = ids_.try_emplace(text, list_.size());
    if (is_new) list_.push_back(text);
    return place->second;
  }
  const std::vector<std::string>& list() const { return list_; }

 private:
  std::unordered_map<std::string, std::uint64_t> ids_;
  std::vector<std::string> list_;
};

class Builder {
 public:
  std::string build(const Report& report, const RenderOptions& options) {
    profile_.message(1, value_type("objects", "count"));
    profile_.message(1, value_type("space", "bytes"));
    for (const Leak& leak : report.leaks) {
      if (!leak.hidden() || options.show_hidden) add(leak);
    }
    for (std::size_t i = 0; i < report.modules.size(); ++i) add(report.modules[i], i);
    for (const ProtoMessage& location : locations_) profile_.message(4, location);
    for (const ProtoMessage& function : functions_) profile_.message(5, function);
    if (report.subject.duration && *report.subject.duration > 0) {
      profile_.number(10, static_cast<std::uint64_t>(*report.subject.duration * 1e9));
    }
    profile_.message(11, value_type("space", "bytes"));
    profile_.number(12, 1);
    profile_.number(14, strings_.id("space"));
    for (const std::string& text : strings_.list()) profile_.bytes(6, text);
    return profile_.text();
  }

 private:
  ProtoMessage value_type(const std::string& type, const std::string& unit) {
    ProtoMessage message;
    message.number(1, strings_.id(type));
    message.number(2, strings_.id(unit));
    return message;
  }

  void label(ProtoMessage& sample, const std::string& key, const std::string& value) {
    if (value.empty()) return;
    ProtoMessage message;
    message.number(1, strings_.id(key));
    message.number(2, strings_.id(printable(value)));
    sample.message(3, message);
  }

  void add(const Leak& leak) {
    const Count total = leak.total();
    ProtoMessage sample;
    sample.numbers(1, locations_of(leak.allocation.stack));
    sample.numbers(2, {total.blocks == 0 ? 1 : total.blocks, total.bytes});
    label(sample, "kind", std::string(name_of(leak.kind)));
    label(sample, "id", leak.id);
    if (leak.age) label(sample, "verdict", leak.age->verdict);
    profile_.message(2, sample);
  }

  void add(const Module& module, std::size_t index) {
    ProtoMessage mapping;
    mapping.number(1, index + 1);
    mapping.number(2, base_of(index));
    mapping.number(3, base_of(index + 1));
    mapping.number(5, strings_.id(printable(module.path)));
    mapping.number(6, strings_.id(printable(module.build_id)));
    mapping.number(7, 1);  // functions are named here
    mapping.number(8, 1);
    mapping.number(9, 1);
    mapping.number(10, 1);
    profile_.message(3, mapping);
  }

  static std::uint64_t base_of(std::size_t module) {
    return (std::uint64_t{module} % (1U << 20) + 1) << kModuleBits;
  }

  // Inlined frames share the location of the function they were inlined into.
  std::vector<std::uint64_t> locations_of(const Stack& stack) {
    std::vector<std::uint64_t> ids;
    ProtoMessage lines;
    std::string key;
    for (std::size_t i = 0; i < stack.size(); ++i) {
      const Frame& frame = stack[i];
      ProtoMessage line;
      line.number(1, function_of(frame));
      line.number(2, frame.line.value_or(0));
      lines.message(4, line);
      key += line.text();
      if (frame.inlined && i + 1 < stack.size()) continue;
      ids.push_back(location_of(frame, lines, key));
      lines = {};
      key.clear();
    }
    if (ids.empty()) ids.push_back(location_of({}, unknown_line(), "?"));
    return ids;
  }

  ProtoMessage unknown_line() {
    Frame frame;
    frame.function = "?";
    ProtoMessage line;
    line.number(1, function_of(frame));
    ProtoMessage lines;
    lines.message(4, line);
    return lines;
  }

  std::uint64_t location_of(const Frame& frame, const ProtoMessage& lines, std::string key) {
    const std::uint64_t offset = frame.offset.value_or(0);
    const std::uint64_t module = frame.module ? frame.module->index + 1 : 0;
    key.append(reinterpret_cast<const char*>(&offset), sizeof offset);
    key.append(reinterpret_cast<const char*>(&module), sizeof module);
    const auto [place, is_new] = location_ids_.try_emplace(key, locations_.size() + 1);
    if (is_new) {
      ProtoMessage location;
      location.number(1, place->second);
      location.number(2, module);
      constexpr std::uint64_t kMask = (std::uint64_t{1} << kModuleBits) - 1;
      location.number(3, module == 0 ? offset : base_of(module - 1) + (offset & kMask));
      ProtoMessage whole = location;
      whole.append(lines);
      locations_.push_back(std::move(whole));
    }
    return place->second;
  }

  std::uint64_t function_of(const Frame& frame) {
    std::string name = frame.function.empty() ? frame.linkage : frame.function;
    if (name.empty()) name = "?";
    const std::string key = name + '\0' + frame.file;
    const auto [place, is_new] = function_ids_.try_emplace(key, functions_.size() + 1);
    if (is_new) {
      ProtoMessage function;
      function.number(1, place->second);
      function.number(2, strings_.id(printable(name)));
      function.number(3, strings_.id(printable(frame.linkage.empty() ? name : frame.linkage)));
      function.number(4, strings_.id(printable(frame.file)));
      function.number(5, frame.function_line.value_or(0));
      functions_.push_back(std::move(function));
    }
    return place->second;
  }

  Strings strings_;
  ProtoMessage profile_;
  std::vector<ProtoMessage> locations_;
  std::vector<ProtoMessage> functions_;
  std::map<std::string, std::uint64_t> location_ids_;
  std::map<std::string, std::uint64_t> function_ids_;
};

std::uint32_t crc_of(std::string_view bytes) {
  static const std::array<std::uint32_t, 256> table = [] {
    std::array<std::uint32_t, 256> made{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0xedb88320U : 0);
      made[i] = value;
    }
    return made;
  }();
  std::uint32_t crc = ~0U;
  for (const char letter : bytes) {
    crc = table[(crc ^ static_cast<unsigned char>(letter)) & 0xff] ^ (crc >> 8);
  }
  return ~crc;
}

void put_little(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
}

std::string gzipped(std::string_view bytes) {
  std::string out("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
  const std::uint32_t crc = crc_of(bytes);
  const std::size_t size = bytes.size();
  do {
    const std::string_view part = bytes.substr(0, 0xffff);
    bytes.remove_prefix(part.size());
    out += bytes.empty() ? '\1' : '\0';  // a stored block; is it the last?
    put_little(out, part.size(), 2);
    put_little(out, ~part.size(), 2);
    out += part;
  } while (!bytes.empty());
  put_little(out, crc, 4);
  put_little(out, size, 4);
  return out;
}

}  // namespace

std::string write_pprof(const Report& report, const RenderOptions& options) {
  return gzipped(Builder().build(report, options));
}

}  // namespace plumb
