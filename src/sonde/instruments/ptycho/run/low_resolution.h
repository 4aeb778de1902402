// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sonde/engine/array/array.h"
#include "sonde/engine/options/fields.h"
#include "sonde/instruments/ptycho/model/measurement.h"
#include "sonde/instruments/ptycho/model/state.h"
#include "sonde/instruments/ptycho/optics/sampling.h"
#include "sonde/instruments/ptycho/reconstruct/reconstruction.h"

namespace sonde::ptycho {

/// [low_resolution]: the reconstruction that a run begins with where object.init asks for it.
struct LowResolutionSettings {
  Index factor = 2, iterations = 20;

  void describe(Fields& fields);
};

/// The middle of the detector, 1 / factor of its rows and columns, rounded up to sizes that transform fast: detector
/// pixels as they are, object pixels that many times as wide.
[[nodiscard]] Sampling at_low_resolution(const Sampling& sampling, Index factor);

/// One axis of the objects of both resolutions. `step` coarse pixels are as long as `fine_step` of the others, and both
/// objects are whole numbers of such steps, so that one is interpolated by a longer transform. A step of vacuum lies
/// before the object, because windows that are rounded to coarse pixels may begin one earlier, and one behind it.
struct CoarseAxis {
  Index step, fine_step, steps;

  /// Of windows of so many pixels in an object of so many fine ones.
  CoarseAxis(Index window, Index coarse_window, Index object);
  [[nodiscard]] Index coarse() const { return steps * step; }
  [[nodiscard]] Index fine() const { return steps * fine_step; }
  /// A place of the object among the coarse pixels.
  [[nodiscard]] double place(double at) const {
    return at * static_cast<double>(step) / static_cast<double>(fine_step) + static_cast<double>(step);
  }
};

/// A first estimate, and how well it explains the middle of the patterns.
struct LowResolutionStart {
  State state;
  IterationRecord last;
};

/// Coarse to fine: `gd` goes some iterations over the middle of the patterns, from `first` without
/// its object, and what it finds is interpolated (by the Fourier transform) to the pixels of `first`: the object, and
/// the middle of the probe's spectrum when the schedule lets the probe go free by then. The power of the probe stays
/// what it is. Frames that are skipped or held out, seed and kernels are those of `schedule`; its positions,
/// constraints and variations of the probe come later. `coarse` is at_low_resolution(), `propagators` are for it. A
/// function of its arguments only, the same bits on any number of threads. Throws Error(bad_input) when the middle
/// does not hold the probe's spectrum, and what iterating throws. Holds the middle of the patterns, on the tier of
/// `measurement`, and a state of its own (RunSizes::before).
[[nodiscard]] LowResolutionStart start_at_low_resolution(const Measurement& measurement, State first,
                                                         const Sampling& coarse, Array propagators,
                                                         const Schedule& schedule,
                                                         const LowResolutionSettings& settings);

}  // namespace sonde::ptycho
