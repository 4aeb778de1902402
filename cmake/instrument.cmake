# SPDX-License-Identifier: Apache-2.0
# An instrument is a folder. What the build must know of it is one call in its CMakeLists.txt:
#   sonde_instrument(ptycho
#     PLACE 2                          in overviews, smaller first
#     ROOMS optics scan ... verbs      its folders, lower ones first: a room uses only rooms before it in this list
#     LIBRARIES math/dense             folders of the engine that only some instruments need
#     BINDINGS ptycho_run.cpp ...      in python/src: objects written by hand, with one `const Bindings ptycho_bindings`
#     PYTHON ptycho.py ...             in python/sonde: the module of that name and what it imports
#     PYTHON_NAMES viewer.view         names of those files that are names of the package too
#     TESTS tests.cmake)               tests of program, Python and examples; those of its rooms are beside their sources
# What program, Python, help, reference pages, `sonde bench`, `sonde demo` and the viewer must know is one constant,
# sonde::<name>::instrument of its room `verbs` (engine/run/instrument.h). The file packages.txt in the folder lists the
# Debian packages that only this instrument needs; `./dev` reads it before there is a build.
#
# SONDE_INSTRUMENTS chooses among the folders of src/sonde/instruments; SONDE_EXTRA_INSTRUMENTS names folders elsewhere.

# sonde_find_instruments(<variable>): the folders of the instruments of this build.
function(sonde_find_instruments variable)
  file(GLOB listings CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/sonde/instruments/*/CMakeLists.txt)
  set(names)
  foreach(listing IN LISTS listings)
    cmake_path(GET listing PARENT_PATH folder)
    cmake_path(GET folder FILENAME name)
    list(APPEND names ${name})
  endforeach()
  set(chosen ${SONDE_INSTRUMENTS})
  if(chosen STREQUAL "all")
    set(chosen ${names})
  endif()
  set(folders)
  foreach(name IN LISTS chosen)
    if(NOT name IN_LIST names)
      list(JOIN names ", " known)
      message(FATAL_ERROR "SONDE_INSTRUMENTS=${SONDE_INSTRUMENTS}: \"${name}\" is not an instrument; expected all, or some of ${known}")
    endif()
    list(APPEND folders ${CMAKE_SOURCE_DIR}/src/sonde/instruments/${name})
  endforeach()
  foreach(folder IN LISTS SONDE_EXTRA_INSTRUMENTS)
    cmake_path(ABSOLUTE_PATH folder BASE_DIRECTORY ${CMAKE_SOURCE_DIR} NORMALIZE)
    if(NOT EXISTS ${folder}/CMakeLists.txt)
      message(FATAL_ERROR "SONDE_EXTRA_INSTRUMENTS: ${folder} has no CMakeLists.txt that calls sonde_instrument()")
    endif()
    list(APPEND folders ${folder})
  endforeach()
  set(${variable} ${folders} PARENT_SCOPE)
endfunction()

# sonde_add_instrument(<folder> [APART]): reads the folder's CMakeLists.txt. What is APART is built, but is not part of the
# program, the Python package or what is installed; tests link it to programs of their own.
function(sonde_add_instrument folder)
  cmake_parse_arguments(ADD "APART" "" "" ${ARGN})
  cmake_path(GET folder FILENAME name)
  set(sonde_instrument_apart ${ADD_APART})
  add_subdirectory(${folder} ${CMAKE_BINARY_DIR}/src/sonde/instruments/${name})
endfunction()

function(sonde_instrument name)
  cmake_parse_arguments(OF "" "PLACE;TESTS" "ROOMS;LIBRARIES;BINDINGS;PYTHON;PYTHON_NAMES" ${ARGN})
  if(OF_UNPARSED_ARGUMENTS OR OF_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "sonde_instrument(${name}): not understood: ${OF_UNPARSED_ARGUMENTS} ${OF_KEYWORDS_MISSING_VALUES}")
  endif()
  set(libraries)
  foreach(folder IN LISTS OF_LIBRARIES)
    cmake_path(GET folder FILENAME library)
    if(NOT TARGET sonde_lib_${library})
      add_subdirectory(${CMAKE_SOURCE_DIR}/src/sonde/engine/${folder} ${CMAKE_BINARY_DIR}/src/sonde/engine/${folder})
    endif()
    list(APPEND libraries ${library})
  endforeach()
  foreach(room IN LISTS OF_ROOMS)
    add_subdirectory(${room})
  endforeach()
  if(sonde_instrument_apart)
    sonde_library(${name} USES engine ${libraries} APART)
  else()
    sonde_library(${name} USES engine ${libraries})
    set_property(GLOBAL APPEND PROPERTY sonde_instruments "${OF_PLACE} ${name}")
  endif()
  if(OF_TESTS)
    cmake_path(ABSOLUTE_PATH OF_TESTS)
  endif()
  foreach(key BINDINGS PYTHON PYTHON_NAMES TESTS)
    set_property(GLOBAL PROPERTY sonde_${name}_${key} ${OF_${key}})
  endforeach()
endfunction()

# sonde_instruments(<variable>): the names of those of this build, in the order of overviews.
function(sonde_instruments variable)
  get_property(names GLOBAL PROPERTY sonde_instruments)
  list(SORT names COMPARE NATURAL)
  list(TRANSFORM names REPLACE "^[0-9]* " "")
  set(${variable} ${names} PARENT_SCOPE)
endfunction()

# sonde_has_instruments(<variable> <instrument>...): whether this build has all of them.
function(sonde_has_instruments variable)
  sonde_instruments(names)
  set(${variable} ON PARENT_SCOPE)
  foreach(name IN LISTS ARGN)
    if(NOT name IN_LIST names)
      set(${variable} OFF PARENT_SCOPE)
    endif()
  endforeach()
endfunction()
