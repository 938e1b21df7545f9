#include "report/sarif_uri.h"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

namespace plumb {
namespace {

// What RFC 3986 allows in a path segment. ':' is left out: in the first
// segment of a relative reference it would end a scheme.
bool plain_in_path(unsigned char c) {
  constexpr std::string_view kMarks = "/-._~!$&'()*+,;=@";
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         kMarks.contains(static_cast<char>(c));
}

// Without ".", ".." and doubled slashes. Two slashes at the start would name a
// host in a URI; one is what Linux reads.
std::string normal(std::string_view path) {
  std::string text = std::filesystem::path(path).lexically_normal().string();
  if (text.starts_with('/')) text.erase(0, text.find_first_not_of('/') - 1);
  return text.empty() && path.starts_with('/') ? "/" : text;
}

}  // namespace

std::string percent_encoded(std::string_view path) {
  std::string out;
  out.reserve(path.size());
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (plain_in_path(byte)) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", byte);
    }
  }
  return out;
}

UriMaker::UriMaker(std::string_view source_root) {
  if (source_root.empty()) return;
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(source_root, error);
  if (error) return;
  root_ = normal(absolute.string());
  if (!root_.ends_with('/')) root_ += '/';
}

FileUri UriMaker::file(std::string_view path) const {
  std::string text = normal(path);
  if (!text.starts_with('/')) {
    if (root_.empty()) return {percent_encoded(text), false};
    text = normal(root_ + text);
  }
  if (!root_.empty() && text.starts_with(root_) && text.size() > root_.size()) {
    return {percent_encoded(std::string_view(text).substr(root_.size())), true};
  }
  return {"file://" + percent_encoded(text), false};
}

std::string UriMaker::directory(std::string_view path) const {
  if (!path.starts_with('/')) return {};
  std::string text = normal(path);
  if (!text.ends_with('/')) text += '/';
  return "file://" + percent_encoded(text);
}

}  // namespace plumb
