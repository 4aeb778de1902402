// SPDX-License-Identifier: Apache-2.0
// The kernels of engines; all of them are bodies of the room's *_device.h.
#include "sonde/instruments/ptycho/engines/preconditioned_step_device.h"

namespace sonde::ptycho::cuda {

using namespace sonde::ptycho::device;

#define SONDE_RUN(...) template void run_body(Stream&, const LaunchSize&, const __VA_ARGS__&)
SONDE_RUN(PreconditionedStep<float>);
SONDE_RUN(PreconditionedStep<double>);

}  // namespace sonde::ptycho::cuda
