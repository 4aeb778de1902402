# SPDX-License-Identifier: Apache-2.0
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

set(sonde_warnings -Wall -Wextra -Wpedantic -Wconversion -Wshadow)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  list(APPEND sonde_warnings -Wno-restrict) # g++ 12 at -O3 sees an overlap in "text" + std::string&& that is not there
endif()
if(SONDE_WERROR)
  list(APPEND sonde_warnings -Werror)
endif()

if(SONDE_SANITIZE)
  add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:-fsanitize=${SONDE_SANITIZE}> $<$<COMPILE_LANGUAGE:C,CXX>:-fno-omit-frame-pointer>)
  add_link_options(-fsanitize=${SONDE_SANITIZE})
  if(SONDE_SANITIZE MATCHES "undefined")
    # A null pointer or a place outside an object ends in AddressSanitizer's hands anyway; these checks were a fifth of
    # the time to compile.
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize=null,vptr,object-size> $<$<COMPILE_LANGUAGE:C,CXX>:-fno-sanitize-recover=undefined>)
    # For code that is not ours to judge, and for tests: AddressSanitizer alone.
    set(sonde_not_undefined -fno-sanitize=undefined)
  elseif(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND SONDE_SANITIZE STREQUAL "thread")
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-tsan>) # fences in Boost.Asio, which are not followed
  endif()
endif()

# Looked for once in a build folder: `./dev test` installs both, and found later they would change every command, so that
# all that `./dev demo` has compiled would be compiled again. `cmake -USONDE_CCACHE -USONDE_MOLD build/release` looks again.
if(NOT DEFINED SONDE_CCACHE)
  find_program(SONDE_CCACHE ccache)
endif()
if(SONDE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER ${SONDE_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${SONDE_CCACHE})
  if(SONDE_PRECOMPILE) # else ccache passes by what has a precompiled header
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${SONDE_CCACHE})
    add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>)
  endif()
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${SONDE_CCACHE})
endif()
# A program loads only the libraries that it uses: two thousand tests start in a quarter of the time. The standard library
# comes first, else the linker takes its inline functions from our archives, whose members then need all they link to.
if(NOT SONDE_SANITIZE)
  add_link_options($<$<LINK_LANG_AND_ID:CXX,GNU,Clang>:LINKER:--no-as-needed,-lstdc++,--as-needed>)
endif()
if(NOT DEFINED SONDE_MOLD)
  find_program(SONDE_MOLD mold)
endif()
if(SONDE_MOLD AND NOT SONDE_SANITIZE)
  add_link_options($<$<LINK_LANGUAGE:CXX>:-fuse-ld=mold>)
endif()
