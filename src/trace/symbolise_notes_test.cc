#include "trace/symbolise_notes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/debug_package.h"
#include "trace/symbolise_testing.h"

namespace plumb {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

ModuleState stripped(const std::string& path) {
  ModuleState state;
  state.path = path;
  state.debug = "symbols";
  state.asked = true;
  state.without_line = true;
  return state;
}

TEST(SymbolNotes, OneNoteForAllStrippedModules) {
  std::vector<ModuleState> states;
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) {
    states.push_back(stripped(std::string("/opt/") + name));
  }
  const std::vector<Note> notes = symbol_notes(states);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0].text,
            "no debug information for a, b, c and 3 others: lines are missing there");
}

TEST(SymbolNotes, ModulesThatNobodyAskedAboutAreNotNamed) {
  ModuleState state = stripped("/opt/app");
  state.asked = false;
  EXPECT_THAT(symbol_notes({state}), IsEmpty());
}

TEST(SymbolNotes, PartsWithoutDebugInformation) {
  ModuleState state = stripped("/opt/app");
  state.debug = "full";
  EXPECT_THAT(symbol_notes({state}).at(0).text, HasSubstr("for parts of app:"));
  state.without_line = false;
  EXPECT_THAT(symbol_notes({state}), IsEmpty());
}

TEST(SymbolNotes, OwnModulesAreToBeCompiledOthersInstalled) {
  const Note own = symbol_notes({stripped("/opt/app")}).at(0);
  EXPECT_THAT(own.remedy, HasSubstr("compile with -g"));
  EXPECT_THAT(own.remedy, Not(HasSubstr("install")));
  const Note system = symbol_notes({stripped("/usr/lib/libnobodyhasthis.so")}).at(0);
  EXPECT_EQ(system.remedy, "install the -dbgsym package");
}

TEST(DebugPackage, IsThatOfTheOwner) {
  const Workshop shop;
  shop.write("info/libfoo1:amd64.list", "/.\n/usr/lib/libfoo.so.1\n/usr/share/doc\n");
  shop.write("info/libc6:amd64.list", "/lib/x86_64-linux-gnu/libc.so.6\n");
  shop.write("info/other.list", "/usr/lib/libfoo.so.1.2\n/usr/lib/libfoo.so.1/x\n");
  shop.write("info/other.md5sums", "/usr/lib/libbar.so\n");
  EXPECT_EQ(debug_package_of("/usr/lib/libfoo.so.1", shop.at("info")), "libfoo1-dbgsym");
  EXPECT_EQ(debug_package_of("/usr/lib/x86_64-linux-gnu/libc.so.6", shop.at("info")), "libc6-dbg");
  EXPECT_EQ(debug_package_of("/usr/lib/libbar.so", shop.at("info")), "");
  EXPECT_EQ(debug_package_of("/usr/lib/libfoo.so.1", shop.at("nowhere")), "");
}

}  // namespace
}  // namespace plumb
