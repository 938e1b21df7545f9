// File paths as the URIs of a SARIF file (RFC 3986 and RFC 8089).
//
// A path is bytes, a URI is ASCII: every byte that a path segment may not have
// is percent-encoded, so any path, also one that is no UTF-8, comes back
// unchanged. "." and ".." are resolved in the text alone, as a reader of the
// URI would do; the file system is not asked.
#pragma once

#include <string>
#include <string_view>

namespace plumb {

// Bytes of a path, '/' kept, encoded for a URI.
std::string percent_encoded(std::string_view path);

// Where a file is, in the terms of an artifactLocation.
struct FileUri {
  std::string uri;
  bool below_root = false;  // `uri` is relative to the source root
};

class UriMaker {
 public:
  // `source_root` is a directory, or empty for none.
  explicit UriMaker(std::string_view source_root);

  // Absolute paths below the root and relative ones become relative to it;
  // all others absolute. Without a root a relative path stays relative.
  FileUri file(std::string_view path) const;

  // The directory with a slash at its end, always absolute; empty when `path`
  // is not absolute.
  std::string directory(std::string_view path) const;

  bool has_root() const { return !root_.empty(); }
  std::string root_uri() const { return directory(root_); }

 private:
  std::string root_;  // absolute, normal, with a slash at its end; or empty
};

}  // namespace plumb
