// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/batch/batch_device.h"

namespace sonde::cuda {

#define SONDE_RUN(Body) template void run_body(Stream&, const LaunchSize&, const neoclassical::device::Body&)
SONDE_RUN(Pin);
SONDE_RUN(LargestOnGrid);
SONDE_RUN(Weigh);

}  // namespace sonde::cuda
