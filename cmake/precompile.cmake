# SPDX-License-Identifier: Apache-2.0
# Half of a build from nothing reads the same headers again: with SONDE_PRECOMPILE they are read once for the rooms and
# once for the tests. `dev` does without, so that a file that forgets an #include does not compile.

# The standard headers that many files include; those of the tests come on top.
set(sonde_common_headers
  <algorithm> <array> <cmath> <complex> <cstdint> <cstring> <filesystem> <functional> <limits> <map> <memory> <mutex>
  <numbers> <numeric> <optional> <random> <span> <string> <string_view> <thread> <utility> <variant> <vector>
  <fmt/format.h>)

# sonde_precompiled(<target> <holder>): the target shares what the holder has precompiled.
function(sonde_precompiled target holder)
  if(TARGET ${holder})
    get_target_property(headers ${holder} PRECOMPILE_HEADERS)
    if(headers)
      target_precompile_headers(${target} REUSE_FROM ${holder})
      target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${sonde_precompiled_warnings}>)
    endif()
  endif()
endfunction()

# g++ 12 forgets that precompiled standard headers are not ours, and warns of "text" + std::string&& in them.
set(sonde_precompiled_warnings)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  set(sonde_precompiled_warnings -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
endif()

if(SONDE_PRECOMPILE)
  set(source ${CMAKE_BINARY_DIR}/generated/precompiled.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "// Holds the precompiled headers of the rooms.\n")
  add_library(sonde_precompiled OBJECT ${source})
  target_compile_options(sonde_precompiled PRIVATE ${sonde_warnings})
  target_link_libraries(sonde_precompiled PUBLIC fmt::fmt)
  target_precompile_headers(sonde_precompiled PRIVATE ${sonde_common_headers})
endif()

# What every GoogleTest program shares: main() and how tests are compiled.
if(SONDE_TESTS)
  include(GoogleTest)
  add_library(sonde_test_main OBJECT ${CMAKE_SOURCE_DIR}/tests/support/main.cpp ${CMAKE_SOURCE_DIR}/tests/support/places.cpp)
  target_include_directories(sonde_test_main PUBLIC ${CMAKE_SOURCE_DIR})
  set_source_files_properties(${CMAKE_SOURCE_DIR}/tests/support/places.cpp PROPERTIES COMPILE_DEFINITIONS
                              "SONDE_SOURCE_DIR=\"${CMAKE_SOURCE_DIR}\";SONDE_PROGRAM=\"${CMAKE_BINARY_DIR}/sonde\"")
  # What a test inherits comes behind its own options and would win over sonde_unity()'s.
  set(warnings ${sonde_warnings})
  if(SONDE_UNITY)
    list(REMOVE_ITEM warnings -Wshadow)
  endif()
  # A third of a whole build was the optimiser at work on test code.
  # A failed assertion names a file as the repository does, and ccache has a test that another clone has compiled.
  target_compile_options(sonde_test_main PUBLIC ${warnings} $<$<CONFIG:Release>:-O1> ${sonde_not_undefined}
                         -fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=)
  target_link_libraries(sonde_test_main PUBLIC GTest::gmock fmt::fmt)
  add_library(sonde_test_devices OBJECT ${CMAKE_SOURCE_DIR}/tests/support/devices.cpp)
  target_include_directories(sonde_test_devices PRIVATE ${CMAKE_SOURCE_DIR})
  target_compile_options(sonde_test_devices PRIVATE ${sonde_warnings})
  if(SONDE_PRECOMPILE)
    # As programs are compiled, not as libraries: precompiled headers are of one kind.
    set_target_properties(sonde_test_main PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(sonde_test_main PRIVATE -fPIE)
    target_precompile_headers(sonde_test_main PRIVATE ${sonde_common_headers} <gtest/gtest.h> <gmock/gmock.h>)
  endif()
endif()
