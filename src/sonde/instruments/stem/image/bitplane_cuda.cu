// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/device/team_cuda.h"
#include "sonde/instruments/stem/image/bitplane_device.h"

namespace sonde::stem::cuda {

void sum_bit_planes(Stream& stream, const LaunchSize& size, const device::SumBitPlanes& body) {
  sonde::cuda::launch(stream, size, body, "sum_bit_planes");
}

}  // namespace sonde::stem::cuda
