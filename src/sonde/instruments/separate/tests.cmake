# SPDX-License-Identifier: Apache-2.0
# Tests of the whole program with trained networks; those of its rooms are beside their sources.
sonde_cli_test(separate)
sonde_python_test(separate)
sonde_cli_test(separate_scores)
if(SONDE_WITH_PYTHON)
  execute_process(COMMAND ${Python_EXECUTABLE} -c "import mido, mir_eval" RESULT_VARIABLE missing OUTPUT_QUIET ERROR_QUIET)
  if(NOT missing EQUAL 0)
    message(FATAL_ERROR "python3-mido and python3-mir-eval are needed by tests/python: `./dev test` installs them")
  endif()
endif()
sonde_python_test(separate_midi)
