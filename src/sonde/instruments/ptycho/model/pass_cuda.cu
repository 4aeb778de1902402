// SPDX-License-Identifier: Apache-2.0
// The kernels of a pass over a batch; all of them are the bodies of waves_device.h and sums_device.h.
#include "sonde/instruments/ptycho/model/sums_device.h"

namespace sonde::cuda {

using namespace sonde::ptycho::device;

#define SONDE_RUN(...) template void run_body(Stream&, const LaunchSize&, const __VA_ARGS__&)
#define SONDE_RUN_REAL(Real)           \
  SONDE_RUN(FillRamps<Real>);          \
  SONDE_RUN(ShiftProbe<Real>);         \
  SONDE_RUN(DifferentiateProbe<Real>); \
  SONDE_RUN(Illuminate<Real>);         \
  SONDE_RUN(BackThrough<Real>);        \
  SONDE_RUN(FreeSpace<Real>);          \
  SONDE_RUN(StepThrough<Real>);        \
  SONDE_RUN(Spread<Real>);             \
  SONDE_RUN(LineSums<Real>);           \
  SONDE_RUN(ShiftSums<Real>);          \
  SONDE_RUN(Residual<Real>);           \
  SONDE_RUN(GatherObject<Real>);       \
  SONDE_RUN(GatherProbe<Real>);        \
  SONDE_RUN(GatherProbeWeight<Real>);  \
  SONDE_RUN(Scale<Real>);              \
  SONDE_RUN(LargestWeight<Real>)
SONDE_RUN(NextGroup);
SONDE_RUN(BatchAgain);
SONDE_RUN(SumFit);
SONDE_RUN_REAL(float);
SONDE_RUN_REAL(double);

}  // namespace sonde::cuda
