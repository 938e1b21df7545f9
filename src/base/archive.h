// Values as bytes and back. One description of a type serves both directions:
//
//   template <typename Archive> void fields(Archive& archive, Like<Var> auto& it) {
//     archive(it.name, it.type, it.size);
//   }
//
// The reader believes nothing: a count that the bytes that are left cannot hold
// fails it, and a reader that failed gives zeros and empty lists from then on.
// Limit: the bytes are those of this machine's byte order.
#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace plumb {

// A T, const or not.
template <typename T, typename Wanted>
concept Like = std::same_as<std::remove_cvref_t<T>, Wanted>;

// What is stored byte for byte has no padding, so that equal values are equal bytes.
template <typename T>
constexpr bool kPlain =
    std::is_trivially_copyable_v<T> && std::has_unique_object_representations_v<T>;

class ArchiveWriter {
 public:
  static constexpr bool kReads = false;

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

class ArchiveReader {
 public:
  static constexpr bool kReads = true;

  explicit ArchiveReader(std::string_view bytes) : bytes_(bytes) {}

  template <typename... T>
  void operator()(T&... items) {
    (get(items), ...);
  }
  bool whole() const { return !failed_ && bytes_.empty(); }
  bool failed() const { return failed_; }
  // For what the description of a type finds wrong.
  void refuse() { failed_ = true; }

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
  // A bool of any other byte than these two would be undefined behaviour.
  void get(bool& item) {
    std::uint8_t byte = 0;
    raw(&byte, sizeof byte);
    if (byte > 1) failed_ = true;
    item = byte == 1;
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

}  // namespace plumb
