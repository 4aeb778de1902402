# SPDX-License-Identifier: Apache-2.0
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)                 # libfmt-dev
if(SONDE_THREADS STREQUAL "tbb")
  find_package(TBB REQUIRED)               # libtbb-dev
endif()
find_package(nlohmann_json REQUIRED)       # nlohmann-json3-dev
find_package(tomlplusplus REQUIRED)        # libtomlplusplus-dev
find_package(CLI11 REQUIRED)               # libcli11-dev
find_package(PNG REQUIRED)                 # libpng-dev
find_package(TIFF REQUIRED)                # libtiff-dev
find_package(ZLIB REQUIRED)                # zlib1g-dev
pkg_check_modules(HDF5 REQUIRED IMPORTED_TARGET hdf5)        # libhdf5-dev
pkg_check_modules(LZ4 REQUIRED IMPORTED_TARGET liblz4)       # liblz4-dev
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)     # libzstd-dev
pkg_check_modules(BLOSC REQUIRED IMPORTED_TARGET blosc)      # libblosc-dev
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash) # libxxhash-dev
if(SONDE_TESTS)
  find_package(GTest REQUIRED)             # libgtest-dev, libgmock-dev
  find_library(SONDE_RAPIDCHECK rapidcheck REQUIRED) # librapidcheck-dev
endif()
if(SONDE_BENCHMARKS)
  find_package(benchmark REQUIRED)         # libbenchmark-dev
endif()
