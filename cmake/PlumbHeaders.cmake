# Precompiled headers. Most of a build goes into reading the same few headers:
# the standard library's, fmt's, nlohmann's and GoogleTest's.
#
#   plumb_precompiled(TARGET)        for the command's parts
#   plumb_precompiled_test(TARGET)   for programs of GoogleTest
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
# (Not at all optimised, its copies of inline functions would slow the library down.)
function(plumb_precompiled_test target)
  target_compile_options(${target} PRIVATE -O1)
  set_target_properties(${target} PROPERTIES PLUMB_IS_TEST ON)
  if(PLUMB_PRECOMPILE STREQUAL "ALL")
    if(NOT TARGET plumb_test_headers)
      plumb_headers_of(plumb_test_headers OPTIONS -O1 LIBS GTest::gtest GTest::gmock
                       HEADERS ${plumb_headers} <gtest/gtest.h> <gmock/gmock.h>)
      set_target_properties(plumb_test_headers PROPERTIES PLUMB_IS_TEST ON)
    endif()
    target_precompile_headers(${target} REUSE_FROM plumb_test_headers)
  endif()
endfunction()
