// SPDX-License-Identifier: Apache-2.0
// Private to the room: the inner loops of finding disks.
#pragma once

#include <complex>
#include <cstdint>

#include "sonde/engine/base/index.h"

namespace sonde::stem::cpu {

/// to(l) = direct(l) row(l) + mirrored(l) conj(partner(-l)), l of `count`, periodic.
void filter_row(const std::complex<float>* row, const std::complex<float>* partner, const std::complex<float>* direct,
                const std::complex<float>* mirrored, Index count, std::complex<float>* to);

/// to(i) = from(i).
void to_floats(const std::uint8_t* from, Index count, float* to);
void to_floats(const std::uint16_t* from, Index count, float* to);
void to_floats(const std::uint32_t* from, Index count, float* to);
void to_floats(const std::uint64_t* from, Index count, float* to);
void to_floats(const float* from, Index count, float* to);
void to_floats(const double* from, Index count, float* to);

/// sums(j) += counts(j) products(j).
void add_products(const float* counts, const float* products, Index count, float* sums);

/// flags(c) = 1 where here(c) is a maximum above 0 for 1 <= c < cols - 1, else 0; the first and the last are 0.
void flag_maxima(const float* above, const float* here, const float* below, Index cols, std::uint8_t* flags);

/// Pixels of a window that a correlation is smoothed and refined over, on either side of its middle, and columns of its
/// memory, whose last ones are zero. Six widths of the smoothing, which is at most 1 px.
constexpr Index window_half = 6, window_size = 2 * window_half + 1, window_lanes = 16;

/// The sums over a window (window_size, window_lanes) weighted by products of one of three weights of rows and one of
/// three of columns: to[3 a + b] = sum_ij y[a][i] x[b][j] window(i, j). Weights are (3, window_lanes), padded with
/// zeros.
void weighted_sums(const float* window, const float* y, const float* x, double* to);

}  // namespace sonde::stem::cpu
