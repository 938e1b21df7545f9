// Where the symbols come from, and what happens when the file is not what it
// was, not there, or not what it seems.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <random>

#include "trace/elf_module.h"
#include "trace/symbolise.h"
#include "trace/symbolise_testing.h"

namespace plumb {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// One small program with full debug information for all tests here.
class SymbolFiles : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    origin_ = new Workshop;
    origin_->run("clang++-19 -O2 -g -Wl,--build-id " + places_source() + " -o places -ldl");
    marks_ = marks(origin_->run("./places"));
    Result<std::unique_ptr<ElfModule>> module = ElfModule::open(origin_->at("places"), {});
    ASSERT_TRUE(module.has_value());
    build_id_ = (*module)->build_id();
    ASSERT_EQ(build_id_.size(), 40U);
  }
  static void TearDownTestSuite() {
    delete origin_;
    origin_ = nullptr;
  }
  void SetUp() override { shop_.run("cp " + origin_->at("places") + " ."); }

  std::string by_id_path() const {
    return ".build-id/" + build_id_.substr(0, 2) + "/" + build_id_.substr(2) + ".debug";
  }
  CodeAddress method() const { return return_address(marks_.at("method")); }

  static void expect_full(Symboliser& symbols, CodeAddress address) {
    const Frame frame = symbols.frames(address).front();
    EXPECT_EQ(frame.function, "shop::Till::open(int)");
    EXPECT_EQ(frame.line, line_with("mark(\"method\")"));
    EXPECT_EQ(symbols.modules()[0].debug, "full");
    EXPECT_THAT(symbols.notes(), IsEmpty());
  }
  static void expect_bare(Symboliser& symbols, CodeAddress address) {
    Frame expected;
    expected.module = address.module;
    expected.offset = address.offset;
    EXPECT_EQ(symbols.frames(address), std::vector<Frame>{expected});
    EXPECT_EQ(symbols.modules()[0].debug, "none");
  }

  Workshop shop_;
  static inline Workshop* origin_ = nullptr;
  static inline std::map<std::string, std::uint64_t> marks_;
  static inline std::string build_id_;
};

TEST_F(SymbolFiles, TheSameBuildIsUsed) {
  Symboliser symbols({module_of(shop_.at("places"), build_id_)});
  expect_full(symbols, method());
}

TEST_F(SymbolFiles, DebugFileByBuildId) {
  shop_.write("debug/" + by_id_path(), "");
  shop_.run("objcopy --only-keep-debug places debug/" + by_id_path() + " && strip places");
  Symboliser symbols({module_of(shop_.at("places"))}, looking_in(shop_.at("debug")));
  expect_full(symbols, method());
  Symboliser blind({module_of(shop_.at("places"))}, looking_in(shop_.at("elsewhere")));
  EXPECT_FALSE(blind.frames(method()).front().line);
  EXPECT_EQ(blind.notes().at(0).code, "no-debug-info");
}

TEST_F(SymbolFiles, DebugFileOfAnotherBuildByItsName) {
  // The name says the right build, the content is another one.
  shop_.run("clang++-19 -O1 -g -Wl,--build-id " + places_source() +
            " -o other -ldl && strip places");
  shop_.write("debug/" + by_id_path(), shop_.read("other"));
  Symboliser symbols({module_of(shop_.at("places"))}, looking_in(shop_.at("debug")));
  EXPECT_FALSE(symbols.frames(method()).front().line);
}

TEST_F(SymbolFiles, DebugLinkBesideBelowAndInTheDebugDirectory) {
  const std::string tree = "debug" + shop_.path().string();
  for (const std::string& place : {std::string("."), std::string(".debug"), tree}) {
    shop_.run("cp " + origin_->at("places") + " . && mkdir -p " + place +
              " && objcopy --only-keep-debug places " + place + "/places.debug && " +
              "strip places && objcopy --add-gnu-debuglink=" + place + "/places.debug places");
    Symboliser symbols({module_of(shop_.at("places"))}, looking_in(shop_.at("debug")));
    expect_full(symbols, method());
    shop_.run("rm " + place + "/places.debug");
    Symboliser without({module_of(shop_.at("places"))}, looking_in(shop_.at("debug")));
    EXPECT_FALSE(without.frames(method()).front().line);
  }
}

TEST_F(SymbolFiles, DebugLinkOfAnotherBuildIsRefused) {
  shop_.run("clang++-19 -O1 -g -Wl,--build-id " + places_source() +
            " -o other -ldl && "
            "objcopy --only-keep-debug other places.debug && strip places && "
            "objcopy --add-gnu-debuglink=places.debug places");
  Symboliser symbols({module_of(shop_.at("places"))}, looking_in(shop_.at("debug")));
  EXPECT_FALSE(symbols.frames(method()).front().line);
}

TEST_F(SymbolFiles, DebugLinkWithoutBuildIdIsCheckedByItsSum) {
  shop_.run("clang++-19 -O2 -g -Wl,--build-id=none " + places_source() + " -o places -ldl");
  const std::uint64_t offset = marks(shop_.run("./places")).at("method");
  shop_.run(
      "objcopy --only-keep-debug places places.debug && strip places && "
      "objcopy --add-gnu-debuglink=places.debug places");
  Symboliser symbols({module_of(shop_.at("places"))}, looking_in(shop_.at("debug")));
  expect_full(symbols, return_address(offset));
  shop_.run("printf x >> places.debug");
  Symboliser damaged({module_of(shop_.at("places"))}, looking_in(shop_.at("debug")));
  EXPECT_FALSE(damaged.frames(return_address(offset)).front().line);
}

TEST_F(SymbolFiles, ServersAreAskedOnlyWhenWanted) {
  // Nothing listens there. A client that tries makes its cache directory.
  shop_.run("strip places");
  setenv("DEBUGINFOD_URLS", "http://127.0.0.1:9/", 1);
  setenv("DEBUGINFOD_CACHE_PATH", shop_.at("cache").c_str(), 1);
  SymboliserOptions options = looking_in(shop_.at("debug"));
  Symboliser quiet({module_of(shop_.at("places"))}, options);
  quiet.frames(method());
  EXPECT_FALSE(std::filesystem::exists(shop_.at("cache")));
  if (void* client = dlopen("libdebuginfod.so.1", RTLD_NOW); client != nullptr) {
    options.debuginfod = true;
    Symboliser asking({module_of(shop_.at("places"))}, options);
    asking.frames(method());
    EXPECT_TRUE(std::filesystem::exists(shop_.at("cache")));
    dlclose(client);
  }
  unsetenv("DEBUGINFOD_URLS");
  unsetenv("DEBUGINFOD_CACHE_PATH");
}

TEST_F(SymbolFiles, AChangedFileIsNotUsed) {
  Symboliser symbols({module_of(shop_.at("places"), std::string(40, 'a'))});
  expect_bare(symbols, method());
  const std::vector<Note> notes = symbols.notes();
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0].code, "changed-module");
  EXPECT_THAT(notes[0].text, HasSubstr("places changed since the run"));
}

TEST_F(SymbolFiles, AChangedFileWhoseDebugFileIsKept) {
  shop_.write("debug/" + by_id_path(), "");
  shop_.run("objcopy --only-keep-debug places debug/" + by_id_path() +
            " && clang++-19 -O1 -Wl,--build-id " + places_source() + " -o places -ldl");
  Symboliser symbols({module_of(shop_.at("places"), build_id_)}, looking_in(shop_.at("debug")));
  expect_full(symbols, method());
}

TEST_F(SymbolFiles, AMissingFile) {
  Symboliser symbols({module_of("/no/such/program", build_id_)});
  expect_bare(symbols, method());
  ASSERT_EQ(symbols.notes().size(), 1U);
  EXPECT_EQ(symbols.notes()[0].code, "missing-module");
  EXPECT_THAT(symbols.notes()[0].text, HasSubstr("No such file"));
}

TEST_F(SymbolFiles, ADeletedFile) {
  const std::string deleted = shop_.at("places") + " (deleted)";
  // The same build is back under its name.
  Symboliser same({module_of(deleted, build_id_)});
  expect_full(same, method());
  // Another one is, or it is not known which it was.
  for (const std::string& id : {std::string(40, 'a'), std::string()}) {
    Symboliser other({module_of(deleted, id)});
    expect_bare(other, method());
    EXPECT_THAT(other.notes().at(0).text, HasSubstr("deleted or replaced"));
  }
  // A file may really be called that.
  shop_.run("mv places 'places (deleted)'");
  Symboliser called({module_of(deleted)});
  expect_full(called, method());
}

TEST_F(SymbolFiles, WhatIsNoFileIsNotMissed) {
  for (const char* path : {"[vdso]", "[heap]", "", "linux-vdso.so.1"}) {
    Symboliser symbols({module_of(path)});
    expect_bare(symbols, method());
    EXPECT_THAT(symbols.notes(), IsEmpty()) << path;
  }
}

TEST_F(SymbolFiles, AnUnknownModule) {
  Symboliser symbols({});
  const std::vector<Frame> frames = symbols.frames(return_address(0x10, 7));
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_FALSE(frames[0].module);
  EXPECT_EQ(frames[0].offset, 0x10U);
}

TEST_F(SymbolFiles, WhatIsNotElf) {
  shop_.write("text", std::string(500, 'x'));
  shop_.write("empty", "");
  shop_.write("magic",
              "\x7f"
              "ELF");
  ASSERT_EQ(mkfifo(shop_.at("pipe").c_str(), 0600), 0);
  for (const char* name : {"text", "empty", "magic", "pipe", "."}) {
    Symboliser symbols({module_of(shop_.at(name))});
    expect_bare(symbols, method());
    EXPECT_EQ(symbols.notes().at(0).code, "missing-module") << name;
  }
}

TEST_F(SymbolFiles, TruncatedAnywhere) {
  const std::string whole = shop_.read("places");
  std::mt19937 random(7);
  for (int i = 0; i < 60; ++i) {
    shop_.write("short", whole.substr(0, random() % whole.size()));
    Symboliser symbols({module_of(shop_.at("short"))});
    for (const auto& [tag, offset] : marks_) {
      EXPECT_FALSE(symbols.frames(return_address(offset)).empty()) << tag;
    }
    symbols.notes();
  }
}

TEST_F(SymbolFiles, AddressesOutsideTheModule) {
  Symboliser symbols({module_of(shop_.at("places"))});
  for (const std::uint64_t offset :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 40, UINT64_MAX}) {
    const std::vector<Frame>& frames = symbols.frames(return_address(offset));
    ASSERT_EQ(frames.size(), 1U);
    EXPECT_FALSE(frames[0].line);
    EXPECT_EQ(frames[0].function, "");
  }
}

TEST_F(SymbolFiles, EachAddressOnce) {
  Symboliser symbols({module_of(shop_.at("places"))});
  const std::vector<Frame>* first = &symbols.frames(method());
  for (std::uint64_t offset = 0; offset < 5000; ++offset) symbols.frames(return_address(offset));
  EXPECT_EQ(&symbols.frames(method()), first);
}

}  // namespace
}  // namespace plumb
