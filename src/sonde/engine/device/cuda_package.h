// SPDX-License-Identifier: Apache-2.0
// For .cu files only.
#pragma once

#define SONDE_TEXT_OF(x) #x
#define SONDE_CUDA_PACKAGE_OF(library, major, minor) library "-" SONDE_TEXT_OF(major) "-" SONDE_TEXT_OF(minor)
/// NVIDIA's Debian package of a library of this toolkit: "libcufft-13-0".
#define SONDE_CUDA_PACKAGE(library) SONDE_CUDA_PACKAGE_OF(library, __CUDACC_VER_MAJOR__, __CUDACC_VER_MINOR__)
