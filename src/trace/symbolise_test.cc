// Every compiler and kind of debug information must give the same answers
// about the same source.
#include "trace/symbolise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "trace/symbolise_testing.h"

namespace plumb {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Build {
  std::string name;
  std::string compiler;
  std::string flags;
};

void PrintTo(const Build& build, std::ostream* out) { *out << build.name; }

std::vector<std::string> functions_of(const std::vector<Frame>& frames) {
  std::vector<std::string> names;
  for (const Frame& frame : frames) names.push_back(frame.function);
  return names;
}

class EveryBuild : public ::testing::TestWithParam<Build> {
 protected:
  void SetUp() override {
    if (!have_tool(GetParam().compiler)) GTEST_SKIP() << GetParam().compiler << " is not installed";
    std::unique_ptr<Workshop>& shop = shops_[GetParam().name];
    if (!shop) {
      shop = std::make_unique<Workshop>();
      shop->run(GetParam().compiler + " " + GetParam().flags + " " + places_source() +
                " -o places -ldl");
    }
    program_ = shop->at("places");
    marks_ = marks(shop->run("./places"));
    ASSERT_EQ(marks_.size(), 6U);
  }

  // clang gives the place of the callee's name, gcc that of the parenthesis.
  static std::uint32_t call_column(const std::string& callee) {
    const bool gcc = GetParam().compiler == "g++";
    return 3 + (gcc ? static_cast<std::uint32_t>(callee.size()) : 0);
  }

  std::string program_;
  std::map<std::string, std::uint64_t> marks_;

 private:
  static inline std::map<std::string, std::unique_ptr<Workshop>> shops_;  // built once
};

TEST_P(EveryBuild, NamesFunctionsAndLines) {
  Symboliser symbols({module_of(program_)});
  const auto innermost_frame = [&](const std::string& tag) {
    return symbols.frames(return_address(marks_.at(tag))).front();
  };
  const auto expect_at = [&](const std::string& tag, const std::string& function,
                             const std::string& linkage, std::uint32_t function_line) {
    const Frame frame = innermost_frame(tag);
    EXPECT_EQ(frame.function, function);
    EXPECT_EQ(frame.linkage, linkage);
    EXPECT_EQ(frame.file, places_source());
    EXPECT_EQ(frame.line, line_with("mark(\"" + tag + "\")"));
    EXPECT_EQ(frame.column, call_column("mark")) << "of " << tag;
    EXPECT_EQ(frame.function_line, function_line);
    EXPECT_FALSE(frame.inlined);
    EXPECT_EQ(frame.module, ModuleId::of(0));
    EXPECT_EQ(frame.offset, marks_.at(tag));
  };
  expect_at("template", "void shop::generic<char>(char)", "_ZN4shop7genericIcEEvT_",
            line_with("void generic(T)"));
  expect_at("method", "shop::Till::open(int)", "_ZN4shop4Till4openEi",
            line_with("void Till::open(int) {"));
  expect_at("anonymous", "shop::(anonymous namespace)::secret(double)",
            "_ZN4shop12_GLOBAL__N_16secretEd", line_with("void secret(double)"));
  expect_at("extern-c", "plain_c", "", line_with("void plain_c(int)"));
  expect_at("visit", "visit", "", line_with("void visit(int x)"));
  EXPECT_EQ(symbols.modules()[0].debug, "full");
  EXPECT_THAT(symbols.notes(), IsEmpty());
}

TEST_P(EveryBuild, ShowsInlinedFrames) {
  Symboliser symbols({module_of(program_)});
  const std::vector<Frame> frames = symbols.frames(return_address(marks_.at("inlined")));
  ASSERT_EQ(frames.size(), 3U);
  EXPECT_THAT(frames[0].function, ::testing::StartsWith("shop::innermost"));
  EXPECT_EQ(frames[1].function, "shop::middle(int)");
  EXPECT_EQ(frames[2].function, "shop::outer(int)");
  EXPECT_TRUE(frames[0].inlined);
  EXPECT_TRUE(frames[1].inlined);
  EXPECT_FALSE(frames[2].inlined);
  EXPECT_EQ(frames[0].line, line_with("mark(\"inlined\")"));
  EXPECT_EQ(frames[1].line, line_with("// calls innermost"));
  EXPECT_EQ(frames[2].line, line_with("// calls middle"));
  EXPECT_EQ(frames[0].function_line, line_with("void innermost(int)"));
  EXPECT_EQ(frames[1].function_line, line_with("void middle(int x)"));
  for (const Frame& frame : frames) {
    EXPECT_EQ(frame.file, places_source());
    EXPECT_EQ(frame.offset, marks_.at("inlined"));
  }
  EXPECT_EQ(frames[0].column, call_column("mark"));
  EXPECT_EQ(frames[1].column, call_column("innermost"));
  EXPECT_EQ(frames[2].column, call_column("middle"));
}

INSTANTIATE_TEST_SUITE_P(
    Compilers, EveryBuild,
    ::testing::Values(Build{"gcc_O0_dwarf5", "g++", "-O0 -gdwarf-5"},
                      Build{"gcc_O2_dwarf4_nopie", "g++", "-O2 -gdwarf-4 -no-pie"},
                      Build{"gcc_O2_compressed", "g++", "-O2 -g -gz=zlib"},
                      Build{"gcc_O2_split5", "g++", "-O2 -gdwarf-5 -gsplit-dwarf"},
                      Build{"gcc_O2_split4", "g++", "-O2 -gdwarf-4 -gsplit-dwarf"},
                      Build{"clang_O0_dwarf4", "clang++-19", "-O0 -gdwarf-4"},
                      Build{"clang_O2_dwarf5_nopie", "clang++-19", "-O2 -gdwarf-5 -no-pie"},
                      Build{"clang_O2_dwarf5_lld", "clang++-19",
                            "-O2 -gdwarf-5 -fuse-ld=lld-19 -ffunction-sections -Wl,--gc-sections"},
                      Build{"clang_O2_compressed", "clang++-19", "-O2 -g -gz=zlib"},
                      Build{"clang_O2_split5", "clang++-19", "-O2 -gdwarf-5 -gsplit-dwarf"},
                      Build{"clang_O2_split4", "clang++-19", "-O2 -gdwarf-4 -gsplit-dwarf"}),
    [](const ::testing::TestParamInfo<Build>& info) { return info.param.name; });

// With less than full debug information, what is there is used and the rest
// stays empty.
class LessDebug : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!have_tool("clang++-19")) GTEST_SKIP() << "clang++-19 is not installed";
  }
  std::uint64_t build(const std::string& flags, const std::string& tag) {
    shop_.run("clang++-19 " + flags + " " + places_source() + " -o places -ldl");
    return marks(shop_.run("./places")).at(tag);
  }
  Workshop shop_;
};

TEST_F(LessDebug, LineTablesGiveInlinedFramesToo) {
  const std::uint64_t offset = build("-O2 -gline-tables-only", "inlined");
  Symboliser symbols({module_of(shop_.at("places"))});
  const std::vector<Frame>& frames = symbols.frames(return_address(offset));
  EXPECT_THAT(functions_of(frames), ElementsAre("innermost", "middle", "shop::outer(int)"));
  EXPECT_EQ(frames[0].line, line_with("mark(\"inlined\")"));
  EXPECT_EQ(frames[2].line, line_with("// calls middle"));
}

TEST_F(LessDebug, SplitWithoutItsFilesGivesLinesAndANote) {
  const std::uint64_t offset = build("-O2 -g -gsplit-dwarf -fno-split-dwarf-inlining", "inlined");
  shop_.run("rm -f *.dwo");
  Symboliser symbols({module_of(shop_.at("places"))});
  const std::vector<Frame>& frames = symbols.frames(return_address(offset));
  EXPECT_THAT(functions_of(frames), ElementsAre("shop::outer(int)"));
  EXPECT_EQ(frames[0].line, line_with("mark(\"inlined\")"));
  EXPECT_EQ(symbols.modules()[0].debug, "lines");
  const std::vector<Note> notes = symbols.notes();
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0].code, "no-split-debug");
  EXPECT_THAT(notes[0].text, ::testing::HasSubstr("1 unit"));
}

TEST_F(LessDebug, SymbolTableGivesNamesOnly) {
  const std::uint64_t offset = build("-O2 -g0", "method");
  Symboliser symbols({module_of(shop_.at("places"))});
  const std::vector<Frame>& frames = symbols.frames(return_address(offset));
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(frames[0].function, "shop::Till::open(int)");
  EXPECT_EQ(frames[0].linkage, "_ZN4shop4Till4openEi");
  EXPECT_EQ(frames[0].file, "");
  EXPECT_FALSE(frames[0].line);
  EXPECT_EQ(symbols.modules()[0].debug, "symbols");
  const std::vector<Note> notes = symbols.notes();
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0].code, "no-debug-info");
  EXPECT_EQ(notes[0].text, "no debug information for places: lines are missing there");
  EXPECT_THAT(notes[0].remedy, ::testing::HasSubstr("-g"));
}

TEST_F(LessDebug, StrippedLibraryKeepsWhatItExports) {
  shop_.run("clang++-19 -O2 " + places_source() +
            " -o places -ldl -rdynamic && clang++-19 -O2 "
            "-fPIC -shared -Wl,-Bsymbolic -DAS_LIBRARY " +
            places_source() + " -o libshop.so && strip libshop.so");
  const auto offsets = marks(shop_.run("./places ./libshop.so"), "libshop.so");
  Symboliser symbols({module_of(shop_.at("libshop.so"))});
  EXPECT_EQ(symbols.frames(return_address(offsets.at("method"))).front().function,
            "shop::Till::open(int)");
  // Local, so gone: no neighbour's name is taken instead.
  EXPECT_EQ(symbols.frames(return_address(offsets.at("anonymous"))).front().function, "");
  EXPECT_EQ(symbols.modules()[0].debug, "symbols");
}

TEST_F(LessDebug, StrippedProgramIsAnOffsetInAModule) {
  const std::uint64_t offset = build("-O2 -s -static-pie", "visit");
  Symboliser symbols({module_of(shop_.at("places"))});
  const std::vector<Frame>& frames = symbols.frames(return_address(offset));
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(frames[0].function, "");
  EXPECT_EQ(frames[0].offset, offset);
  EXPECT_EQ(frames[0].module, ModuleId::of(0));
  EXPECT_EQ(symbols.modules()[0].debug, "none");
  EXPECT_THAT(symbols.notes().at(0).text, ::testing::HasSubstr("function names"));
}

TEST_F(LessDebug, MiniDebugInfoNamesLocals) {
  if (!have_tool("xz")) GTEST_SKIP() << "xz is not installed";
  const std::uint64_t offset = build("-O2", "anonymous");
  shop_.run(
      "objcopy --only-keep-debug places mini && xz -k mini && strip places && "
      "objcopy --add-section .gnu_debugdata=mini.xz places");
  Symboliser symbols({module_of(shop_.at("places"))});
  EXPECT_EQ(symbols.frames(return_address(offset)).front().function,
            "shop::(anonymous namespace)::secret(double)");
}

TEST_F(LessDebug, StubsAreNamed) {
  build("-O2 -g -Wl,-z,lazy", "visit");
  Symboliser symbols({module_of(shop_.at("places"))});
  std::vector<std::string> stubs;
  for (std::uint64_t at = 0x1000; at < 0x1200; at += 16) {
    const Frame& frame = symbols.frames({ModuleId::of(0), at, false}).front();
    if (frame.function.ends_with("@plt")) stubs.push_back(frame.function);
  }
  EXPECT_THAT(stubs, ::testing::Contains("dl_iterate_phdr@plt"));
}

TEST_F(LessDebug, LibraryUnloadedBeforeTheReport) {
  shop_.run("clang++-19 -O2 " + places_source() +
            " -o places -ldl -rdynamic && clang++-19 -O2 -g "
            "-fPIC -shared -Wl,-Bsymbolic -DAS_LIBRARY " +
            places_source() + " -o libshop.so");
  const std::string output = shop_.run("./places ./libshop.so");
  EXPECT_THAT(output, ::testing::HasSubstr("unloaded"));
  const auto offsets = marks(output, "libshop.so");
  Symboliser symbols({module_of(shop_.at("places")), module_of(shop_.at("libshop.so"))});
  const std::vector<Frame>& frames = symbols.frames(return_address(offsets.at("inlined"), 1));
  ASSERT_EQ(frames.size(), 3U);
  EXPECT_EQ(frames[2].function, "shop::outer(int)");
  EXPECT_EQ(frames[2].line, line_with("// calls middle"));
  EXPECT_EQ(frames[2].module, ModuleId::of(1));
  EXPECT_EQ(symbols.modules()[0].debug, "") << "nobody asked about it";
}

// A call that does not return may be the last instruction of its function:
// the return address is then in the next one.
TEST_F(LessDebug, ReturnAddressesBelongToTheCall) {
  shop_.write("last.c",
              "#include <stdlib.h>\n"
              "__attribute__((noinline, noreturn)) void fatal(void) {\n"
              "  abort();\n"
              "}\n"
              "int after(int x) { return x; }\n"
              "int main(int c, char **v) { (void)v; if (c > 5) fatal(); return after(c); }\n");
  shop_.run("clang-19 -O2 -g last.c -o last -falign-functions=1");
  // The end of fatal() is where its only call returns to.
  std::istringstream table(shop_.run("nm -S --defined-only last | grep ' fatal$'"));
  std::uint64_t begin = 0, size = 0;
  table >> std::hex >> begin >> size;
  ASSERT_GT(size, 0U);
  Symboliser symbols({module_of(shop_.at("last"))});
  const Frame call = symbols.frames({ModuleId::of(0), begin + size, true}).front();
  EXPECT_EQ(call.function, "fatal");
  EXPECT_EQ(call.line, 3U);
  EXPECT_EQ(call.offset, begin + size);
  EXPECT_NE(symbols.frames({ModuleId::of(0), begin + size, false}).front().function, "fatal");
}

TEST_F(LessDebug, PathsAreAbsoluteAndNormal) {
  shop_.write("src/a.c", "#include \"../inc/./b.h\"\nint main(void) { return b(); }\n");
  shop_.write("inc/b.h",
              "void *malloc(unsigned long);\n"
              "static int b(void) { return malloc(1) == 0; }\n");
  shop_.run("clang-19 -O0 -g src/../src/./a.c -o a");
  std::istringstream table(shop_.run("nm -S --defined-only a | grep ' b$'"));
  std::uint64_t begin = 0;
  table >> std::hex >> begin;
  Symboliser symbols({module_of(shop_.at("a"))});
  EXPECT_EQ(symbols.frames({ModuleId::of(0), begin, false}).front().file, shop_.at("inc/b.h"));
}

TEST_F(LessDebug, AnAliasWithoutUnderscoresIsTheName) {
  shop_.write("alias.c",
              "int __shop_close(int x) { return x; }\n"
              "extern __typeof(__shop_close) close_shop __attribute__((alias(\"__shop_close\")));\n"
              "int __only(int x) { return x + 1; }\n"
              "int main(void) { return close_shop(0) + __only(1); }\n");
  shop_.run("clang-19 -O0 -g -ffile-prefix-map=\"$PWD\"=./shop alias.c -o alias");
  Symboliser symbols({module_of(shop_.at("alias"))});
  const auto first_frame = [&](const std::string& symbol) {
    std::istringstream table(shop_.run("nm --defined-only alias | grep ' " + symbol + "$'"));
    std::uint64_t begin = 0;
    table >> std::hex >> begin;
    return symbols.frames({ModuleId::of(0), begin, false}).front();
  };
  EXPECT_EQ(first_frame("close_shop").function, "close_shop");
  EXPECT_EQ(first_frame("close_shop").linkage, "__shop_close");
  EXPECT_EQ(first_frame("__only").function, "__only");
  // The directory is relative, so the file is, once.
  EXPECT_EQ(first_frame("__only").file, "shop/alias.c");
}

TEST_F(LessDebug, LinesAreMissedInMainButNotInTheCLibrary) {
  shop_.write("leak.c",
              "#include <stdio.h>\n#include <stdlib.h>\n"
              "int main(void) { void *p = malloc(1); printf(\"%p\\n\", p); return 0; }\n");
  shop_.run("clang-19 -O0 leak.c -o leak");
  std::istringstream table(shop_.run("nm --defined-only leak | grep ' main$'"));
  std::uint64_t main_begin = 0;
  table >> std::hex >> main_begin;
  const std::string library = shop_.run("ldd leak | sed -n 's/.*=> \\(.*libc.so.6\\).*/\\1/p'");
  // Each has other names at the same address: _IO_puts, cfree.
  Symboliser symbols({module_of(shop_.at("leak")), module_of(std::string(trim(library)))},
                     looking_in(shop_.at("debug")));
  for (const std::string& name : {std::string("puts"), std::string("free")}) {
    std::istringstream exports(shop_.run("nm -D --defined-only " + std::string(trim(library)) +
                                         " | grep ' " + name + "@'"));
    std::uint64_t begin = 0;
    exports >> std::hex >> begin;
    ASSERT_GT(begin, 0U);
    EXPECT_EQ(symbols.frames(return_address(begin + 4, 1)).front().function, name);
  }
  EXPECT_THAT(symbols.notes(), IsEmpty());
  symbols.stack({return_address(main_begin + 4)});
  ASSERT_EQ(symbols.notes().size(), 1U);
  EXPECT_EQ(symbols.notes()[0].text, "no debug information for leak: lines are missing there");
}

TEST_F(LessDebug, AStackIsTheFramesOfItsAddresses) {
  const std::uint64_t offset = build("-O2 -g", "inlined");
  const auto all = marks(shop_.run("./places"));
  Symboliser symbols({module_of(shop_.at("places")), module_of("/no/such/libc.so.6")});
  const Stack stack = symbols.stack(
      {return_address(offset), return_address(all.at("visit")), return_address(0x1234, 1)});
  EXPECT_THAT(functions_of(stack),
              ElementsAre(::testing::StartsWith("shop::innermost"), "shop::middle(int)",
                          "shop::outer(int)", "visit", ""));
  // The C library at the outer end is in every stack: nobody misses it.
  EXPECT_THAT(symbols.notes(), IsEmpty());
  // In the middle it matters.
  symbols.stack({return_address(0x1234, 1), return_address(all.at("visit"))});
  ASSERT_EQ(symbols.notes().size(), 1U);
  EXPECT_EQ(symbols.notes()[0].code, "missing-module");
}

}  // namespace
}  // namespace plumb
