#include "core/allocator_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/leak.h"
#include "core/test_leaks.h"

namespace plumb {
namespace {

using test::frame;
using test::stack;
using ::testing::Contains;
using ::testing::ElementsAre;

TEST(AllocatorNames, KnowsTheFamilies) {
  for (const char* name :
       {"malloc",
        "calloc",
        "realloc",
        "reallocarray",
        "memalign",
        "posix_memalign",
        "aligned_alloc",
        "valloc",
        "pvalloc",
        "strdup",
        "strndup",
        "wcsdup",
        "asprintf",
        "vasprintf",
        "__libc_malloc",
        "__libc_calloc",
        "__interceptor_malloc",
        "___interceptor_strdup",
        "__interceptor_trampoline_calloc",
        "__GI___libc_malloc",
        "__GI___strdup",
        "__strdup",
        "__asprintf_chk",
        "__vasprintf_internal",
        "getline",
        "malloc@@GLIBC_2.2.5",
        "operator new(unsigned long)",
        "operator new[](unsigned long)",
        "operator new(unsigned long, std::nothrow_t const&)",
        "operator new(unsigned long, std::align_val_t)",
        "_Znwm",
        "_ZnamSt11align_val_t",
        "free",
        "__libc_free",
        "operator delete(void*)",
        "operator delete[](void*, unsigned long)",
        "_ZdlPvm",
        "std::allocator<int>::allocate(unsigned long)",
        "__gnu_cxx::new_allocator<std::pair<int const, a> >::allocate(unsigned long, void const*)",
        "std::__new_allocator<char>::allocate(unsigned long, void const*)",
        "std::allocator_traits<std::allocator<int> >::allocate(std::allocator<int>&, unsigned "
        "long)",
        "std::allocator_traits<std::allocator<int> >::allocate[abi:cxx11](unsigned long)",
        "void* std::__1::__libcpp_operator_new[abi:v15006]<unsigned long>(unsigned long)"}) {
    EXPECT_TRUE(is_allocator_function(name)) << name;
  }
}

TEST(AllocatorNames, LeavesTheProgramsOwn) {
  for (const char* name : {"", "xmalloc", "my_malloc", "mallocate", "pool::malloc(int)",
                           "Foo::operator new(unsigned long)", "main",
                           "mystd::allocator<int>::allocate(unsigned long)", "strdupa",
                           "operator newt", "std::vector<int>::push_back(int const&)", "allocate",
                           "__libc_start_main", "free_list", "std::allocator<int>::allocator()"}) {
    EXPECT_FALSE(is_allocator_function(name)) << name;
  }
}

TEST(AllocatorNames, KnowsWhatRunsBelowMain) {
  for (const char* name :
       {"_start", "__libc_start_main", "__libc_start_call_main", "__libc_start_main@@GLIBC_2.34",
        "start_thread", "clone", "clone3", "call_init.part.0"}) {
    EXPECT_TRUE(is_start_up_function(name)) << name;
  }
  for (const char* name : {"main", "start", "clone_node", "Tree::clone()", ""}) {
    EXPECT_FALSE(is_start_up_function(name)) << name;
  }
}

TEST(AllocatorNames, GivesTheNamesOfAnApi) {
  EXPECT_THAT(names_of_api("operator new"),
              testing::IsSupersetOf({"operator new", "operator new(unsigned long)", "_Znwm"}));
  EXPECT_THAT(names_of_api("operator new"), testing::Not(Contains("_Znam")));
  EXPECT_THAT(names_of_api("pool_get"), ElementsAre("pool_get"));
  EXPECT_TRUE(is_derived_api("strdup"));
  EXPECT_FALSE(is_derived_api("malloc"));
  EXPECT_FALSE(is_derived_api("pool_get"));
}

TEST(AllocatorNames, GivesTheApiOfASymbol) {
  EXPECT_EQ(api_name("_Znwm"), "operator new");
  EXPECT_EQ(api_name("_ZnamRKSt9nothrow_t"), "operator new[]");
  EXPECT_EQ(api_name("strdup"), "strdup");
  EXPECT_EQ(api_name("pool_take"), "pool_take");
}

TEST(UserFrame, SkipsTheAllocator) {
  const Stack with = stack({"malloc", "operator new(unsigned long)", "make", "main"});
  EXPECT_EQ(user_frame(with), &with[2]);
  const Stack without = stack({"make", "main"});
  EXPECT_EQ(user_frame(without), &without[0]);
}

TEST(UserFrame, OfNothingButTheAllocatorIsItsOutermost) {
  EXPECT_EQ(user_frame({}), nullptr);
  const Stack only = stack({"malloc", "strdup"});
  EXPECT_EQ(user_frame(only), &only[1]);
}

TEST(UserFrame, UsesTheSymbolWhereThereIsNoName) {
  Stack frames = stack({"", "main"});
  frames[0].linkage = "_Znwm";
  EXPECT_EQ(user_frame(frames), &frames[1]);
  frames[0].linkage = "_Z4makev";
  EXPECT_EQ(user_frame(frames), &frames[0]);
}

TEST(Count, StaysAtTheEndOfItsRange) {
  Leak leak;
  leak.direct.bytes = ~std::uint64_t{0};
  leak.indirect.bytes = 2;
  leak.direct.blocks = 1;
  leak.indirect.blocks = 2;
  EXPECT_EQ(leak.total().bytes, ~std::uint64_t{0});
  EXPECT_EQ(leak.total().blocks, 3u);
}

}  // namespace
}  // namespace plumb
