# SPDX-License-Identifier: Apache-2.0
# One step of building the client, run by CMake while building: STEP=packages fetches what package-lock.json names,
# STEP=client checks the types and bundles. FILES sets root, work, npm, packages and sources.
cmake_minimum_required(VERSION 3.25)
include(${FILES})

function(copy)
  foreach(file IN LISTS ARGN)
    get_filename_component(folder ${work}/${file} DIRECTORY)
    file(COPY ${root}/${file} DESTINATION ${folder})
  endforeach()
endfunction()

function(run hint)
  execute_process(COMMAND ${npm} ${ARGN} WORKING_DIRECTORY ${work} RESULT_VARIABLE status
                  OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(status)
    list(JOIN ARGN " " command)
    message(NOTICE "${output}")
    message(FATAL_ERROR "npm ${command} failed: ${hint}")
  endif()
endfunction()

if(STEP STREQUAL "packages")
  file(MAKE_DIRECTORY ${work})
  copy(${packages})
  run("it needs the configured registry; -DSONDE_VIEWER=OFF builds without the viewer" ci)
else()
  # A file that is gone must not be found by an import or by the tests.
  file(REMOVE_RECURSE ${work}/src ${work}/test ${work}/bench ${work}/dist)
  copy(${sources})
  run("the messages above name the file and the line" run build)
endif()
