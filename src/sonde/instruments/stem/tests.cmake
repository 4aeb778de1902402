# SPDX-License-Identifier: Apache-2.0
# Tests of program, Python and examples with 4D-STEM; those of its rooms are beside their sources.
sonde_cli_test(stem_data)
sonde_cli_test(stem_adversity)
target_compile_definitions(cli_stem_adversity PRIVATE SONDE_FAILING_READ="$<TARGET_FILE:failing_read>")
add_dependencies(cli_stem_adversity failing_read)
sonde_cli_test(stem_damage)
sonde_cli_test(stem_settings)
sonde_cli_test(stem_formats)
sonde_cli_test(stem_results)
sonde_cli_test(stem_events)
if(NOT SONDE_SANITIZE) # what the guide's commands do, the other tests do too
  sonde_cli_test(stem_docs)
endif()

foreach(file load formats images outputs deflection imager lifetime exchange errors threads series package view docs foreign map dask libertem analysis_pages phase radial bragg strain cepstrum crystal orient events calibration)
  sonde_python_test(${file})
endforeach()

set(scan ${CMAKE_BINARY_DIR}/examples/scan_master.h5)
add_test(NAME examples/simulate COMMAND sonde stem simulate ${scan} --scan-shape 16,16 --quiet)
set_tests_properties(examples/simulate PROPERTIES LABELS unit FIXTURES_SETUP example_scan)
# A .tif would also say how much memory was free.
sonde_example(virtual_image LINKS sonde::stem INPUTS ${scan} OUTPUTS adf.npy NEEDS example_scan
              FINDS "adf.npy: [0-9]+ detector pixels, centre 4[67]\\.")
