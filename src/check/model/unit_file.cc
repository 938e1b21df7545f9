#include "check/model/unit_file.h"

#include <cstring>

#include <xxhash.h>

#include "base/archive.h"
#include "base/file.h"
#include "check/model/unit_sound.h"

namespace plumb::check {

namespace {

constexpr std::string_view kMagic = "plumb unit 10\n\0\0";

static_assert(kPlain<Operation> && kPlain<Operand> && kPlain<Block> && kPlain<Location>);

}  // namespace

template <typename Archive>
void fields(Archive& archive, Like<Var> auto& it) {
  archive(it.name, it.type, it.shape, it.size, it.simple, it.parameter, it.location);
}

template <typename Archive>
void fields(Archive& archive, Like<Field> auto& it) {
  archive(it.name, it.offset, it.type);
}

template <typename Archive>
void fields(Archive& archive, Like<Type> auto& it) {
  archive(it.shape, it.target, it.size, it.fields);
}

template <typename Archive>
void fields(Archive& archive, Like<Function> auto& it) {
  archive(it.symbol, it.display, it.linkage, it.noreturn, it.variadic, it.returns_pointer,
          it.return_width, it.params, it.type, it.result_shape, it.location, it.vars, it.integers,
          it.pool, it.operations, it.blocks);
}

template <typename Archive>
void fields(Archive& archive, Like<Member> auto& it) {
  archive(it.record, it.offset);
}

template <typename Archive>
void fields(Archive& archive, Like<Initial> auto& it) {
  archive(it.offset, it.width, it.is_symbol, it.symbol, it.value, it.member);
}

template <typename Archive>
void fields(Archive& archive, Like<Global> auto& it) {
  archive(it.symbol, it.linkage, it.constant, it.thread_local_storage, it.defined, it.size,
          it.display, it.shape, it.initial);
}

template <typename Archive>
void fields(Archive& archive, Like<Declaration> auto& it) {
  archive(it.symbol, it.noreturn, it.allocates, it.const_params, it.kept_params, it.number_params,
          it.type);
}

template <typename Archive>
void fields(Archive& archive, Like<Unit> auto& it) {
  archive(it.source, it.symbols, it.files, it.types, it.functions, it.globals, it.declarations,
          it.aliases, it.class_tables, it.address_taken);
}

std::string unit_bytes(const Unit& unit) {
  ArchiveWriter writer;
  writer(unit);
  const std::uint64_t sum = XXH3_64bits(writer.bytes.data(), writer.bytes.size());
  std::string out(kMagic);
  out.append(reinterpret_cast<const char*>(&sum), sizeof sum);
  out += writer.bytes;
  return out;
}

Result<void> write_unit(const Unit& unit, const std::string& path) {
  return write_file(path, unit_bytes(unit));
}

Result<Unit> parse_unit(std::string_view bytes, const std::string& name) {
  std::uint64_t sum = 0;
  if (bytes.size() < kMagic.size() + sizeof sum || !bytes.starts_with(kMagic)) {
    return fail(name, "is not a unit file of this version");
  }
  std::memcpy(&sum, bytes.data() + kMagic.size(), sizeof sum);
  bytes.remove_prefix(kMagic.size() + sizeof sum);
  if (XXH3_64bits(bytes.data(), bytes.size()) != sum) return fail(name, "is damaged");
  Unit unit;
  ArchiveReader reader(bytes);
  reader(unit);
  if (!reader.whole() || !is_sound(unit)) return fail(name, "is damaged");
  return unit;
}

Result<Unit> read_unit(const std::string& path) {
  const Result<std::string> bytes = read_file(path);
  if (!bytes) return std::unexpected(bytes.error());
  return parse_unit(*bytes, path);
}

}  // namespace plumb::check
