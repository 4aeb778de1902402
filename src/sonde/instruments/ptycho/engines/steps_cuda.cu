// SPDX-License-Identifier: Apache-2.0
// The kernels of engines; all of them are bodies of the room's *_device.h.
#include "sonde/instruments/ptycho/engines/adam_device.h"
#include "sonde/instruments/ptycho/engines/combine_device.h"
#include "sonde/instruments/ptycho/engines/preconditioned_step_device.h"

namespace sonde::ptycho::cuda {

using namespace sonde::ptycho::device;

#define SONDE_RUN(...) template void run_body(Stream&, const LaunchSize&, const __VA_ARGS__&)
#define SONDE_RUN_REAL(Real)           \
  SONDE_RUN(PreconditionedStep<Real>); \
  SONDE_RUN(AdamStep<Real>);           \
  SONDE_RUN(Products<Real>);           \
  SONDE_RUN(Combine<Real>)
SONDE_RUN(NextAdamStep);
SONDE_RUN(SumOfStrips<3>);
SONDE_RUN_REAL(float);
SONDE_RUN_REAL(double);

}  // namespace sonde::ptycho::cuda
