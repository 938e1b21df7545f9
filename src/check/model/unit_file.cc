#include "check/model/unit_file.h"

#include <cstring>
#include <type_traits>

#include <xxhash.h>

#include "base/file.h"

namespace plumb::check {

namespace {

constexpr std::string_view kMagic = "plumb unit 3\n\0\0\0";

// Members that are stored byte for byte have no padding, so that equal units
// are equal files.
template <typename T>
constexpr bool kPlain =
    std::is_trivially_copyable_v<T> && std::has_unique_object_representations_v<T>;
static_assert(kPlain<Operation> && kPlain<Operand> && kPlain<Block> && kPlain<Location>);

// One description of each type serves both directions.
template <typename Archive, typename T>
void fields(Archive& archive, T& it) {
  using Kind = std::remove_const_t<T>;
  if constexpr (std::is_same_v<Kind, Var>) {
    archive(it.name, it.type, it.shape, it.size, it.simple, it.parameter, it.location);
  } else if constexpr (std::is_same_v<Kind, Field>) {
    archive(it.name, it.offset, it.type);
  } else if constexpr (std::is_same_v<Kind, Type>) {
    archive(it.shape, it.target, it.size, it.fields);
  } else if constexpr (std::is_same_v<Kind, Function>) {
    archive(it.symbol, it.display, it.linkage, it.noreturn, it.variadic, it.returns_pointer,
            it.return_width, it.params, it.type, it.result_shape, it.location, it.vars, it.integers,
            it.pool, it.operations, it.blocks);
  } else if constexpr (std::is_same_v<Kind, Initial>) {
    archive(it.offset, it.width, it.is_symbol, it.symbol, it.value);
  } else if constexpr (std::is_same_v<Kind, Global>) {
    archive(it.symbol, it.linkage, it.constant, it.thread_local_storage, it.defined, it.size,
            it.display, it.shape, it.initial);
  } else if constexpr (std::is_same_v<Kind, Declaration>) {
    archive(it.symbol, it.noreturn, it.allocates, it.const_params, it.kept_params);
  } else {
    static_assert(std::is_same_v<Kind, Unit>);
    archive(it.source, it.symbols, it.files, it.types, it.functions, it.globals, it.declarations,
            it.aliases, it.address_taken);
  }
}

class Writer {
 public:
  template <typename... T>
  void operator()(const T&... items) {
    (put(items), ...);
  }
  std::string bytes;

 private:
  void raw(const void* data, std::size_t size) {
    bytes.append(static_cast<const char*>(data), size);
  }
  void put(const std::string& text) {
    put(static_cast<std::uint64_t>(text.size()));
    raw(text.data(), text.size());
  }
  template <typename T>
  void put(const std::vector<T>& list) {
    put(static_cast<std::uint64_t>(list.size()));
    if constexpr (kPlain<T>) {
      raw(list.data(), list.size() * sizeof(T));
    } else {
      for (const T& item : list) put(item);
    }
  }
  template <typename T>
  void put(const T& item) {
    if constexpr (kPlain<T>) {
      raw(&item, sizeof item);
    } else {
      fields(*this, item);
    }
  }
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  template <typename... T>
  void operator()(T&... items) {
    (get(items), ...);
  }
  bool whole() const { return !failed_ && bytes_.empty(); }

 private:
  bool raw(void* data, std::size_t size) {
    if (failed_ || size > bytes_.size()) {
      failed_ = true;
      return false;
    }
    if (size) std::memcpy(data, bytes_.data(), size);
    bytes_.remove_prefix(size);
    return true;
  }
  std::uint64_t count(std::size_t least_size) {
    std::uint64_t count = 0;
    raw(&count, sizeof count);
    if (count > bytes_.size() / least_size) failed_ = true;
    return failed_ ? 0 : count;
  }
  void get(std::string& text) {
    text.resize(count(1));
    raw(text.data(), text.size());
  }
  template <typename T>
  void get(std::vector<T>& list) {
    if constexpr (kPlain<T>) {
      list.resize(count(sizeof(T)));
      raw(list.data(), list.size() * sizeof(T));
    } else {
      list.resize(count(1));
      for (T& item : list) get(item);
    }
  }
  template <typename T>
  void get(T& item) {
    if constexpr (kPlain<T>) {
      raw(&item, sizeof item);
    } else {
      fields(*this, item);
    }
  }

  std::string_view bytes_;
  bool failed_ = false;
};

}  // namespace

std::string unit_bytes(const Unit& unit) {
  Writer writer;
  fields(writer, unit);
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
  Reader reader(bytes);
  fields(reader, unit);
  if (!reader.whole()) return fail(name, "is damaged");
  return unit;
}

Result<Unit> read_unit(const std::string& path) {
  const Result<std::string> bytes = read_file(path);
  if (!bytes) return std::unexpected(bytes.error());
  return parse_unit(*bytes, path);
}

}  // namespace plumb::check
