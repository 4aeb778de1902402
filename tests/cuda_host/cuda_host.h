// SPDX-License-Identifier: Apache-2.0
// What tests may ask of the device that stands for a GPU.
#pragma once

#include <cstdint>
#include <string>

namespace cuda_host {

/// Orders of blocks, of lanes and of work in streams are drawn from this; 1 at the start of the program, or what
/// SONDE_CUDA_HOST_SEED says.
void set_seed(std::uint64_t seed);

/// Does all work that waits in streams.
void finish();
/// What went wrong first on the device, in words; empty when nothing has. From then on every call fails, as on a GPU.
std::string failure();
/// The device is as new, its memory stays.
void reset();

/// Kernels that were played since the program began.
std::uint64_t launches();

}  // namespace cuda_host
