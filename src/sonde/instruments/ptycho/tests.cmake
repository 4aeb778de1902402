# SPDX-License-Identifier: Apache-2.0
# Tests of program, Python and examples with ptychography; those of its rooms are beside their sources.
# Whole reconstructions of real data count as physics. Those of made data take a minute under a sanitiser, and the tests
# of their rooms run the same code there.
sonde_cli_test(ptycho PARTS run resume wrong_input data PHYSICS "PtychoData.*")
foreach(part report sweep live simulate diagnose compare inputs)
  sonde_cli_test(ptycho_${part})
endforeach()
set(long)
if(SONDE_SANITIZE)
  set(long FILTER "PtychoOrient.*:PtychoDirectStart.*")
endif()
foreach(part orient direct)
  sonde_cli_test(ptycho_${part} ${long})
endforeach()

if(SONDE_CUDA_HOST) # sums of a reconstruction do not depend on the order of blocks
  sonde_cuda_host_program(cuda_host_order ${sonde_cuda_host_dir}/order_test.cpp)
  target_include_directories(cuda_host_order PRIVATE $<TARGET_PROPERTY:sonde_ptycho_reconstruct,INCLUDE_DIRECTORIES>)
  target_compile_definitions(cuda_host_order PRIVATE SONDE_WITH_CUDA)
  gtest_discover_tests(cuda_host_order DISCOVERY_MODE PRE_TEST PROPERTIES LABELS unit TIMEOUT 600)
endif()

foreach(file ptycho ptycho_model)
  sonde_python_test(${file})
endforeach()
sonde_python_test(ptycho_inputs NEEDS stem)
sonde_python_test(ptycho_reference LABELS physics)

sonde_example(reconstruct LINKS sonde::ptycho OUTPUTS ptycho_scan.h5 phase.npy
              FINDS "phase.*npy: R_I 0\\.[0-9]+, [01]\\.[0-9]+ times the floor"
              COMPARED_BY ${Python_EXECUTABLE} ${CMAKE_SOURCE_DIR}/examples/compare_phases.py)
