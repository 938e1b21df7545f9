# One folder of src/ is one target. The link list given here is also the list
# of folders whose headers it may include: tools/check_includes.py reads both.
#
#   plumb_library(core DEPS base LIBS fmt::fmt)
#
# takes every *.cc beside the CMakeLists.txt; *_test.cc become the GoogleTest
# program plumb_<name>_test.
#
# What is built by default is what is installed. Unit tests are a target of their
# own, so that nobody waits for those of a preset in which they are not run.
if(PLUMB_TESTS)
  add_custom_target(unit_tests)
  add_test(NAME build.unit_tests
           COMMAND ${CMAKE_COMMAND} --build ${CMAKE_BINARY_DIR} --target unit_tests)
  set_tests_properties(build.unit_tests PROPERTIES FIXTURES_SETUP unit_tests TIMEOUT 1500)
endif()

# plumb_unit_test(base plumb_base_test)
function(plumb_unit_test name target)
  set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
  add_dependencies(unit_tests ${target})
  add_test(NAME unit.${name} COMMAND ${target})
  # What tests leave behind stays in the build folder.
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/unit_tmp)
  set_tests_properties(unit.${name} PROPERTIES FIXTURES_REQUIRED unit_tests
    ENVIRONMENT TEST_TMPDIR=${CMAKE_BINARY_DIR}/unit_tmp)
endfunction()

function(plumb_library name)
  cmake_parse_arguments(ARG "" "" "DEPS;LIBS;TEST_LIBS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER sources EXCLUDE REGEX "(_test|/main)\\.cc$")
  string(REPLACE "/" "_" target plumb_${name})

  if(sources)
    add_library(${target} STATIC ${sources})
    plumb_precompiled(${target})
    set(scope PUBLIC)
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(${target} ${scope} ${PROJECT_SOURCE_DIR}/src)
  foreach(dep IN LISTS ARG_DEPS)
    string(REPLACE "/" "_" dep_target plumb_${dep})
    target_link_libraries(${target} ${scope} ${dep_target})
  endforeach()
  target_link_libraries(${target} ${scope} plumb_flags ${ARG_LIBS})

  if(tests AND PLUMB_TESTS)
    add_executable(${target}_test ${tests})
    plumb_precompiled_test(${target}_test)
    target_link_libraries(${target}_test PRIVATE ${target} ${ARG_TEST_LIBS} GTest::gtest_main GTest::gmock)
    target_compile_definitions(${target}_test PRIVATE
      PLUMB_TEST_DATA="${CMAKE_CURRENT_SOURCE_DIR}/testdata")
    plumb_unit_test(${name} ${target}_test)
  endif()
endfunction()

# A module that clang loads: lib/plumb/libplumb_<last part of name>.so. It is
# built from the folder's own sources and the few others named, without the
# flags of the command, since clang is not sanitized and has no RTTI.
#
#   plumb_plugin(check/lower DEPS check/model base SOURCES base/text.cc LIBS ...)
function(plumb_plugin name)
  cmake_parse_arguments(ARG "" "" "DEPS;SOURCES;LIBS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  list(TRANSFORM ARG_SOURCES PREPEND ${PROJECT_SOURCE_DIR}/src/)
  get_filename_component(short ${name} NAME)
  set(target plumb_${short})
  add_library(${target} MODULE ${sources} ${ARG_SOURCES})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_include_directories(${target} SYSTEM PRIVATE ${llvm_include})
  target_compile_options(${target} PRIVATE -fno-rtti -fvisibility=hidden -Wall -Wextra -Wshadow
                         -Wno-unused-parameter)
  target_link_libraries(${target} PRIVATE ${ARG_LIBS})
  target_link_options(${target} PRIVATE -fuse-ld=lld-19)
  plumb_precompiled_llvm(${target})
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/plumb)
  install(TARGETS ${target} LIBRARY DESTINATION lib/plumb)
endfunction()
