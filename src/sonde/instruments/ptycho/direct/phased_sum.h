// SPDX-License-Identifier: Apache-2.0
// Private to the room: the inner loops of all direct methods.
#pragma once

#include "sonde/engine/base/index.h"
#include "sonde/instruments/ptycho/direct/lens.h"

namespace sonde::ptycho::cpu {

/// sum(v) += sign G(v) exp(2 pi i line(v)) for v = first, ..., last - 1; index 0 of all arrays belongs to `first`. The
/// phase is reduced in double and its sine taken in float, within 2e-7; sums are double.
void add_phased(const Lens::Line& line, double sign, Index first, Index last, const float* real, const float* imaginary,
                double* sum_real, double* sum_imaginary);

/// out = G exp(2 pi i (turns[0] + at[0] turns[1] + at[1] turns[2] + at[2] turns[3])), element by element.
void phase_by(const double (&at)[3], const float* const (&turns)[4], Index count, const float* real,
              const float* imaginary, float* out_real, float* out_imaginary);

}  // namespace sonde::ptycho::cpu
