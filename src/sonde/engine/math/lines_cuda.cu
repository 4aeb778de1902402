// SPDX-License-Identifier: Apache-2.0
// The kernels of transforms of lines; all of them are bodies of lines_device.h.
#include "sonde/engine/device/run_body.h"
#include "sonde/engine/math/lines_device.h"

namespace sonde::cuda {

using namespace sonde::device;

#define SONDE_RUN(...) template void run_body(Stream&, const LaunchSize&, const __VA_ARGS__&)
#define SONDE_RUN_REAL(Real)             \
  SONDE_RUN(CopyLines<Real>);            \
  SONDE_RUN(CopyLines<Pair<Real>>);      \
  SONDE_RUN(FoldLines<Real>);            \
  SONDE_RUN(UnfoldLines<Real>);          \
  SONDE_RUN(CosinesOfFrequencies<Real>); \
  SONDE_RUN(FrequenciesOfCosines<Real>)
SONDE_RUN_REAL(float);
SONDE_RUN_REAL(double);

}  // namespace sonde::cuda
