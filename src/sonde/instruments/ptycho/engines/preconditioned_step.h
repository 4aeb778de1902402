// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/instruments/ptycho/model/batch_pass.h"
#include "sonde/instruments/ptycho/model/device_pass.h"
#include "sonde/instruments/ptycho/model/state.h"

namespace sonde::ptycho {

/// What a sum over a batch is divided by: sqrt(1e-16 + (keep W)^2 + (floor max W)^2), W the illumination that stands
/// with it (docs/ptycho-theory.md#gd). Only the balance of the two says how dim parts are treated.
struct Preconditioner {
  double keep = 0.9, floor = 0.1;
};

/// object += step sum.object / d(sum.object_weight); of a potential only the phase moves. All threads.
template <class Real>
void step_object(const BatchSums& sums, Preconditioner by, double step, State& state);
/// probe += step sum.probe / d(sum.probe_weight).
template <class Real>
void step_probe(const BatchSums& sums, Preconditioner by, double step, State& state);

/// The same where the sums are, queued to a stream.
template <class Real>
void step_object(Stream& stream, const DeviceSums& sums, Preconditioner by, double step, DeviceEstimate& estimate);
template <class Real>
void step_probe(Stream& stream, const DeviceSums& sums, Preconditioner by, double step, DeviceEstimate& estimate);

}  // namespace sonde::ptycho
