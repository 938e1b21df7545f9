# Precompiled headers. Most of a build goes into reading the same few headers:
# the standard library's, fmt's, nlohmann's and GoogleTest's.
#
#   plumb_precompiled(TARGET)        for the command's parts
#   plumb_precompiled_test(TARGET)   for programs of GoogleTest
#   plumb_precompiled_llvm(TARGET)   for what clang loads
#
# The `release` preset does without (PLUMB_PRECOMPILE=NONE), so that a missing
# #include is an error there, and in `./dev lint`, which goes by its flags.
set(PLUMB_PRECOMPILE ALL CACHE STRING "What uses precompiled headers: ALL or NONE")
set_property(CACHE PLUMB_PRECOMPILE PROPERTY STRINGS ALL NONE)

set(plumb_headers <algorithm> <array> <charconv> <chrono> <cstdint> <cstring> <expected>
    <filesystem> <functional> <limits> <map> <memory> <optional> <random> <set> <span> <sstream>
    <string> <string_view> <thread> <tuple> <unordered_map> <unordered_set> <utility> <vector>
    <fmt/format.h> <fmt/ranges.h> <nlohmann/json.hpp>)

# Built with the flags of its users: clang refuses headers that were not.
function(plumb_headers_of name)
  cmake_parse_arguments(ARG "" "" "HEADERS;LIBS;OPTIONS" ${ARGN})
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/${name}.cc CONTENT "")
  add_library(${name} STATIC EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/${name}.cc)
  target_link_libraries(${name} PRIVATE plumb_flags fmt::fmt nlohmann_json::nlohmann_json ${ARG_LIBS})
  target_compile_options(${name} PRIVATE ${ARG_OPTIONS})
  target_precompile_headers(${name} PRIVATE ${ARG_HEADERS})
endfunction()

function(plumb_precompiled target)
  if(PLUMB_PRECOMPILE STREQUAL "ALL")
    if(NOT TARGET plumb_headers)
      plumb_headers_of(plumb_headers HEADERS ${plumb_headers})
    endif()
    target_precompile_headers(${target} REUSE_FROM plumb_headers)
  endif()
endfunction()

# A test is run once for each time that it is compiled: optimising it hardly pays.
# (Not at all optimised, its copies of inline functions would slow the library down.
# With sanitizers that is still cheaper than optimising what they insert.)
set(plumb_test_optimisation -O1)
if(PLUMB_SANITIZE)
  set(plumb_test_optimisation -O0)
endif()

function(plumb_precompiled_test target)
  target_compile_options(${target} PRIVATE ${plumb_test_optimisation})
  set_target_properties(${target} PROPERTIES PLUMB_IS_TEST ON)
  if(PLUMB_PRECOMPILE STREQUAL "ALL")
    if(NOT TARGET plumb_test_headers)
      plumb_headers_of(plumb_test_headers OPTIONS ${plumb_test_optimisation} LIBS GTest::gtest GTest::gmock
                       HEADERS ${plumb_headers} <gtest/gtest.h> <gmock/gmock.h>)
      set_target_properties(plumb_test_headers PROPERTIES PLUMB_IS_TEST ON)
    endif()
    target_precompile_headers(${target} REUSE_FROM plumb_test_headers)
  endif()
endfunction()

# Each has flags of its own, so that none can use another's.
function(plumb_precompiled_llvm target)
  if(PLUMB_PRECOMPILE STREQUAL "ALL")
    target_precompile_headers(${target} PRIVATE <llvm/ADT/DenseMap.h> <llvm/IR/CFG.h>
      <llvm/IR/Constants.h> <llvm/IR/DebugInfoMetadata.h> <llvm/IR/IRBuilder.h>
      <llvm/IR/InstIterator.h> <llvm/IR/Instructions.h> <llvm/IR/IntrinsicInst.h>
      <llvm/IR/Module.h> <llvm/IR/Operator.h>)
  endif()
endfunction()
