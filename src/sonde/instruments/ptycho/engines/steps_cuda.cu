// SPDX-License-Identifier: Apache-2.0
// The kernels of engines; all of them are bodies of the room's *_device.h.
#include "sonde/instruments/ptycho/engines/adam_device.h"
#include "sonde/instruments/ptycho/engines/combine_device.h"
#include "sonde/instruments/ptycho/engines/lsqml_device.h"
#include "sonde/instruments/ptycho/engines/pie_device.h"
#include "sonde/instruments/ptycho/engines/preconditioned_step_device.h"
#include "sonde/instruments/ptycho/engines/projections_device.h"

namespace sonde::cuda {

using namespace sonde::ptycho::device;

#define SONDE_RUN(...) template void run_body(Stream&, const LaunchSize&, const __VA_ARGS__&)
#define SONDE_RUN_REAL(Real)           \
  SONDE_RUN(PreconditionedStep<Real>); \
  SONDE_RUN(AdamStep<Real>);           \
  SONDE_RUN(Products<Real>);           \
  SONDE_RUN(Combine<Real>);            \
  SONDE_RUN(KeepWaves<Real>);          \
  SONDE_RUN(ShiftKept<Real>);          \
  SONDE_RUN(TakeWaves<Real>);          \
  SONDE_RUN(SubtractProduct<Real>);    \
  SONDE_RUN(AmplitudeError<Real>);     \
  SONDE_RUN(Project<Real>);            \
  SONDE_RUN(SumElements<Real>);        \
  SONDE_RUN(SolveObject<Real>);        \
  SONDE_RUN(SolveProbe<Real>);         \
  SONDE_RUN(LargestLight<Real>);       \
  SONDE_RUN(UpdateUnder<Real>);        \
  SONDE_RUN(CommitBoxes<Real>);        \
  SONDE_RUN(Kick<Real>);               \
  SONDE_RUN(ExchangeBefore<Real>);     \
  SONDE_RUN(PoissonShare<Real>);       \
  SONDE_RUN(KeepChi<Real>);            \
  SONDE_RUN(TakeChi<Real>);            \
  SONDE_RUN(Direct<Real>);             \
  SONDE_RUN(SumAlong<Real>);           \
  SONDE_RUN(FollowDirection<Real>);    \
  SONDE_RUN(MeanStep<Real>)
SONDE_RUN(NextAdamStep);
SONDE_RUN(SumOfStrips<1>);
SONDE_RUN(SumOfStrips<2>);
SONDE_RUN(SumOfStrips<3>);
SONDE_RUN(DeviationKept);
SONDE_RUN(LargestOfSlots);
SONDE_RUN(CountUpdate);
SONDE_RUN(AlongOfMembers);
SONDE_RUN(ChooseSteps);
SONDE_RUN_REAL(float);
SONDE_RUN_REAL(double);

}  // namespace sonde::cuda
