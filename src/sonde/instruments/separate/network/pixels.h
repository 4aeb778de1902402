// SPDX-License-Identifier: Apache-2.0
// Loops over pixels whose channels are neighbours in memory.
#pragma once

#include "sonde/engine/base/index.h"
#include "sonde/instruments/separate/network/config.h"

namespace sonde::separate {

/// y = act(scale x + shift) with one scale and shift for each channel. Pixels of x follow each other, those of y are
/// `step` numbers apart. Gelu is x Phi(x) within 1e-7 and a rounding; elu is expm1.
void activate(Activation activation, float alpha, const float* x, Index pixels, Index channels, const float* scale,
              const float* shift, float* y, Index step);
/// The same without an activation.
void scale_and_shift(const float* x, Index pixels, Index channels, const float* scale, const float* shift, float* y,
                     Index step);

/// Adds the sum of each channel to sums, and the sum of its squares to sums + channels.
void add_moments(const float* x, Index pixels, Index channels, double* sums);

/// y = a b, element by element.
void multiply_elements(const float* a, const float* b, Index count, float* y);

}  // namespace sonde::separate
