# SPDX-License-Identifier: Apache-2.0
# Tests of the whole program with models of the ground; those of its rooms are beside their sources.
set(ranks)
if(SONDE_WITH_MPI)
  set(ranks ranks)
endif()
sonde_cli_test(maxwell PARTS run native fwi convert snapshots wrong_input ${ranks})

if(SONDE_WITH_PYTHON)
  execute_process(COMMAND ${Python_EXECUTABLE} -c "import scipy, torch" RESULT_VARIABLE missing OUTPUT_QUIET ERROR_QUIET)
  if(NOT missing EQUAL 0)
    message(FATAL_ERROR "python3-scipy and python3-torch are needed by tests/python: `./dev test` installs them")
  endif()
endif()
foreach(file field native operator tide)
  sonde_python_test(maxwell_${file})
endforeach()

sonde_example(radar_gradient LINKS sonde::maxwell OUTPUTS gradient.npy
              FINDS "it falls fastest where eps_r rises at z = 1\\.[0-9]+ m, x = 1\\.[0-9]+ m")
