// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/instruments/stem/image/mask.h"
#include "sonde/instruments/stem/simulate/model.h"

namespace sonde::stem {

/// What a model's scan should show, in float64: expected values E, and for sums that are not plain counts their
/// variances.
struct Expectation {
  Array images;        ///< (masks, positions): sum over the mask's good pixels of w rate
  Array variances;     ///< (masks, positions): sum of w^2 rate; equals `images` for boolean masks
  Array total;         ///< (positions): sum of rate over good pixels
  Array moment_row;    ///< (positions): sum of row x rate
  Array moment_col;    ///< (positions)
  Array variance_row;  ///< (positions): of the measured moment, sum of row^2 x rate
  Array variance_col;  ///< (positions)
  Array pattern;       ///< (rows, cols): sum of rate over positions; bad pixels 0
};

/// One pass over the rates of all positions; nothing is drawn. `good` is flat (rows * cols), 1 for pixels that count;
/// empty: all but the model's defects. Runs on all threads with a result that does not depend on their number, answers
/// interrupts. Throws Error(bad_input) when a mask or `good` has another size than the detector. Cost: about 0.1 ms per
/// position of 192 x 192 pixels and thread.
[[nodiscard]] Expectation expect(const Model& model, std::span<const Mask> masks,
                                 std::span<const std::uint8_t> good = {});

/// sum (V - E)^2 / variance over N values, divided by N: near 1, within a few sqrt(2 / N), when the expectation is
/// right and the noise is that of counting. Values of variance 0 must equal E and are left out; one that does not gives
/// infinity. Throws Error(bad_input) when the sizes differ.
[[nodiscard]] double reduced_chi_square(std::span<const double> measured, std::span<const double> expected,
                                        std::span<const double> variance);
/// The same for an image of any unsigned or floating type with one element per position, against line `line` of an
/// Expectation's (lines, positions) or (positions) arrays.
[[nodiscard]] double reduced_chi_square(const Array& measured, const Array& expected, const Array& variance,
                                        Index line = 0);

}  // namespace sonde::stem
