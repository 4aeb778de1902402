# SPDX-License-Identifier: Apache-2.0
# AUTO uses a feature when its packages are there, ON makes their absence an error that names the package, OFF leaves it out.
set(SONDE_INSTRUMENTS "stem;ptycho;neoclassical" CACHE STRING "Instruments to build, separated by semicolons")
set(SONDE_CUDA AUTO CACHE STRING "CUDA kernels: AUTO, ON or OFF")
set(SONDE_CUDA_ARCHITECTURES "90" CACHE STRING "GPU architectures with native code; PTX of the first is always added")
set(SONDE_VIEWER AUTO CACHE STRING "Browser client of `sonde view` (needs Node and npm): AUTO, ON or OFF")
set(SONDE_PYTHON AUTO CACHE STRING "`import sonde`: AUTO, ON or OFF")
set(SONDE_MPI AUTO CACHE STRING "Several processes on one run (MPI): AUTO, ON or OFF")
set_property(CACHE SONDE_CUDA SONDE_VIEWER SONDE_PYTHON SONDE_MPI PROPERTY STRINGS AUTO ON OFF)
set(SONDE_THREADS tbb CACHE STRING "parallel_for on tbb or std (std for ThreadSanitizer)")
set(SONDE_FFT fftw CACHE STRING "Fourier transforms by fftw (fast; the result is then under the GPL) or kissfft")
set(SONDE_SANITIZE "" CACHE STRING "empty, \"address,undefined\" or \"thread\"")
option(SONDE_PRECOMPILE "Precompiled headers" OFF)
option(SONDE_UNITY "Sources of a folder compiled together" OFF)
option(SONDE_UNITY_REVERSED "In the opposite order" OFF)
set(SONDE_UNITY_BATCH 8 CACHE STRING "So many sources at once")
option(SONDE_TESTS "Build the tests" ON)
option(SONDE_FUZZ "Build the fuzzers (needs clang)" OFF)
option(SONDE_BENCHMARKS "Build the micro-benchmarks" OFF)
option(SONDE_WERROR "Warnings are errors" OFF)

# Debian's interpreter, not one that happens to come first on PATH: NumPy and h5py belong to it.
if(NOT DEFINED Python_EXECUTABLE AND EXISTS /usr/bin/python3)
  set(Python_EXECUTABLE /usr/bin/python3 CACHE FILEPATH "interpreter of the tests")
endif()

foreach(option SONDE_CUDA SONDE_VIEWER SONDE_PYTHON SONDE_MPI)
  if(NOT "${${option}}" MATCHES "^(AUTO|ON|OFF)$")
    message(FATAL_ERROR "${option}=${${option}}: expected AUTO, ON or OFF")
  endif()
endforeach()

if(NOT SONDE_FFT MATCHES "^(fftw|kissfft)$")
  message(FATAL_ERROR "SONDE_FFT=${SONDE_FFT}: expected fftw or kissfft")
endif()

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
