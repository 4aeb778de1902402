# SPDX-License-Identifier: Apache-2.0
# Tests of the whole program with trained networks; those of its rooms are beside their sources.
# Networks of full size and whole songs take minutes under a sanitiser, and the tests of the rooms run the same code there.
set(long)
if(SONDE_SANITIZE)
  set(long FILTER "*.ContinuesAfterCtrlC*:*.InfoCountsParameters*:*.SaysHowLong*:*.ReportsStages*:*.ComparesHalfPrecision*:*.TheDemonstrationRaises*:*.ReportsItsStart*:*.GivesTheSameBits*:*.KeepsWhatWasMeasured*:*.ContinueInTheSecond*:*.AreHeldTogether*")
endif()
sonde_cli_test(separate ${long})
sonde_python_test(separate)
sonde_cli_test(separate_scores ${long})
sonde_cli_test(separate_stages ${long})
if(SONDE_WITH_PYTHON)
  execute_process(COMMAND ${Python_EXECUTABLE} -c "import mido, mir_eval, torch" RESULT_VARIABLE missing OUTPUT_QUIET ERROR_QUIET)
  if(NOT missing EQUAL 0)
    message(FATAL_ERROR "python3-mido, python3-mir-eval and python3-torch are needed by tests/python: `./dev test` installs them")
  endif()
endif()
sonde_python_test(separate_midi)
sonde_python_test(separate_network)

# A song of two seconds with its stems, and the network of the demonstration.
set(loop ${CMAKE_BINARY_DIR}/examples/loop)
add_test(NAME examples/loop COMMAND sonde separate simulate -o ${loop} --seconds 2 --backing --quiet)
set_tests_properties(examples/loop PROPERTIES LABELS unit FIXTURES_SETUP example_loop)
sonde_example(separate_song LINKS sonde::separate INPUTS ${loop}/mixture.wav ${CMAKE_SOURCE_DIR}/assets/tiny_drums.ckpt OUTPUTS kick.wav
              NEEDS example_loop FINDS "kick.wav: 2\\.00 s, peak 0\\.[0-9]+")
sonde_example(drums_to_midi LINKS sonde::separate INPUTS ${loop} ${loop}/events.csv OUTPUTS drums.mid NEEDS example_loop
              FINDS "drums.mid: [0-9]+ events, F (1\\.0|0\\.9)")
