// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/engine/array/array.h"
#include "sonde/instruments/ptycho/constrain/phase_ramp.h"
#include "sonde/instruments/ptycho/scan/placement.h"

namespace sonde::ptycho {

/// How well object and truth are aligned before. near: the run began with the true probe or one close to it, so that
/// shift and ramp are small. blind: shifts of many pixels and ramps of many turns are looked for first.
enum class Start { near, blind };

/// An object beside a true one, or beside that of another engine.
struct PhaseComparison {
  double rmse = 0;                      ///< rms of what is left of the phase difference in the view, rad
  double scale = 1;                     ///< what the amplitude was multiplied with
  PhaseRamp ramp;                       ///< of the object, beyond that of the truth
  double shift_row = 0, shift_col = 0;  ///< by which the object is displaced, pixels
};

/// What patterns cannot tell is taken out of the object (Y, X), inside the view and with it everywhere: three rounds of
/// {O *= <O,T>/<O,O>; the least-squares plane of angle(T conj O)}. Blind: before, the ramp of O conj T and the shift at
/// the maximum of the cross-correlation, found to 1/100 pixel and taken out in Fourier space. `comparison` but for its
/// rmse is filled in. Throws Error(bad_input) when sizes differ or the view does not lie inside.
[[nodiscard]] Array aligned(const Array& object, const Array& truth, const Box& view, Start start,
                            PhaseComparison* comparison = nullptr);

/// Aligns; then the least-squares combination of 1, y, x and the two derivatives of the truth's phase (central
/// differences: a rest of a shift, to first order) is taken out of e = angle(O conj T); the rms of what is left.
/// `object` and `truth` are complex128 (Y, X) on the same pixels; the view keeps one pixel to the edge.
[[nodiscard]] PhaseComparison phase_rmse(const Array& object, const Array& truth, const Box& view,
                                         Start start = Start::near);

}  // namespace sonde::ptycho
