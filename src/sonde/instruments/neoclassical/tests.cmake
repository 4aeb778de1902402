# SPDX-License-Identifier: Apache-2.0
# Tests of program, Python and examples with neoclassical transport; those of its rooms are beside their sources.
set(ranks)
if(SONDE_WITH_MPI)
  set(ranks ranks)
endif()
sonde_cli_test(neoclassical PARTS run scan database convert wrong_input ${ranks})

foreach(file neoclassical neoclassical_convert neoclassical_database neoclassical_equilibria neoclassical_profiles)
  sonde_python_test(${file})
endforeach()

sonde_example(monoenergetic LINKS sonde::neoclassical OUTPUTS stars.npz
              FINDS "stars.*npz: the field divides D11. by [0-9]+\\.[0-9] where")
