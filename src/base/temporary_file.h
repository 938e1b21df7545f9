// A file of our own that is gone with us.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace plumb {

class TemporaryFile {
 public:
  // Empty, in the folder for temporary files; its name ends in `ending`.
  static Result<TemporaryFile> create(std::string_view ending = {});

  TemporaryFile(TemporaryFile&& other) noexcept;
  TemporaryFile& operator=(TemporaryFile&&) = delete;
  ~TemporaryFile();

  const std::string& path() const { return path_; }

 private:
  explicit TemporaryFile(std::string path);

  std::string path_;
};

}  // namespace plumb
