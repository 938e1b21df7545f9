// Programs made at test time, and what they print about themselves.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "trace/symbolise.h"

namespace plumb {

// A directory of its own that goes away with it.
class Workshop {
 public:
  Workshop() {
    std::string pattern = std::filesystem::temp_directory_path() / "plumb-symbols-XXXXXX";
    path_ = std::filesystem::canonical(mkdtemp(pattern.data()));
  }
  ~Workshop() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Workshop(const Workshop&) = delete;
  Workshop& operator=(const Workshop&) = delete;

  std::string at(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

  // Runs a shell command in the directory; its output. The test fails when
  // the command does.
  std::string run(const std::string& command) const {
    const std::string whole = "cd '" + path_.string() + "' && ( " + command + " ) 2>&1";
    FILE* pipe = popen(whole.c_str(), "r");
    std::string output;
    std::array<char, 4096> buffer;
    std::size_t count = 0;
    while ((count = fread(buffer.data(), 1, buffer.size(), pipe)) > 0) {
      output.append(buffer.data(), count);
    }
    EXPECT_EQ(pclose(pipe), 0) << command << "\n" << output;
    return output;
  }

  void write(const std::string& name, const std::string& content) const {
    std::filesystem::create_directories(std::filesystem::path(at(name)).parent_path());
    std::ofstream(at(name), std::ios::binary) << content;
  }

  std::string read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(at(name), std::ios::binary).rdbuf();
    return text.str();
  }

 private:
  std::filesystem::path path_;
};

inline bool have_tool(const std::string& name) {
  return std::system(("command -v " + name + " >/dev/null 2>&1").c_str()) == 0;
}

inline std::string places_source() { return std::string(PLUMB_TEST_DATA) + "/symbolise/places.cc"; }

// The line of the test program that contains the text.
inline std::uint32_t line_with(const std::string& text) {
  std::ifstream file(places_source());
  std::string line;
  for (std::uint32_t number = 1; std::getline(file, line); ++number) {
    if (line.find(text) != std::string::npos) return number;
  }
  ADD_FAILURE() << "no line has " << text;
  return 0;
}

// tag -> return address, of the lines whose module ends in `module` ("-" is
// the program itself).
inline std::map<std::string, std::uint64_t> marks(const std::string& output,
                                                  const std::string& module = "-") {
  std::map<std::string, std::uint64_t> result;
  std::istringstream lines(output);
  std::string tag, path;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::uint64_t offset = 0;
    if (fields >> tag >> path >> std::hex >> offset && path.ends_with(module)) {
      result[tag] = offset;
    }
  }
  return result;
}

inline Module module_of(const std::string& path, const std::string& build_id = {}) {
  Module module;
  module.path = path;
  module.build_id = build_id;
  return module;
}

inline SymboliserOptions looking_in(const std::string& directory) {
  SymboliserOptions options;
  options.debug_directories = {directory};
  return options;
}

inline CodeAddress return_address(std::uint64_t offset, std::uint32_t module = 0) {
  return {ModuleId::of(module), offset, true};
}

}  // namespace plumb
