# SPDX-License-Identifier: Apache-2.0
# Most of a build from nothing is reading headers: with SONDE_UNITY several sources of a folder are compiled as one. It is
# for builds from nothing; without it a changed source is one short compilation. A source with flags of its own is always
# compiled by itself, as CMake sees to.
#
# Sources of one batch see each other's includes and names. What that hides is found by tools/check_sources, and by the
# order of another build: with SONDE_UNITY_REVERSED what came after a source comes before it.

# sonde_ordered(<variable>): the sources in the order in which they are batched.
macro(sonde_ordered variable)
  if(SONDE_UNITY_REVERSED)
    list(REVERSE ${variable})
  endif()
endmacro()

function(sonde_unity target)
  if(NOT SONDE_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${SONDE_UNITY_BATCH})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # An included source is a header to g++, which warns of types with members from its unnamed namespace. And a local name
    # may be that of a neighbour's constant; within a source tools/check_sources reports it.
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>
                           $<$<COMPILE_LANGUAGE:CXX>:-Wno-shadow> $<$<COMPILE_LANGUAGE:CXX>:-Wshadow=local>)
  endif()
endfunction()
