# SPDX-License-Identifier: Apache-2.0
# Tests of the whole program with models of the ground; those of its rooms are beside their sources.
set(ranks)
if(SONDE_WITH_MPI)
  set(ranks ranks)
endif()
sonde_cli_test(maxwell PARTS run native fwi convert snapshots wrong_input ${ranks})

sonde_python_test(maxwell_field)
sonde_python_test(maxwell_native)
