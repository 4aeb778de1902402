// SPDX-License-Identifier: Apache-2.0
// The kernels of the network; all of them are bodies of network_device.h.
#include "sonde/engine/device/run_body.h"
#include "sonde/instruments/separate/network/network_device.h"

namespace sonde::cuda {

#define SONDE_RUN(Body) template void run_body(Stream&, const LaunchSize&, const separate::device::Body&)
SONDE_RUN(GatherPatches);
SONDE_RUN(GatherTiles);
SONDE_RUN(SpreadTiles);
SONDE_RUN(SumStrips);
SONDE_RUN(AddStrips);
SONDE_RUN(NormaliseChannels);
SONDE_RUN(MultiplyElements);
SONDE_RUN(TakeFrames);
SONDE_RUN(PackSpectra);
SONDE_RUN(UnpackSpectra);
SONDE_RUN(OverlapFrames);

}  // namespace sonde::cuda
