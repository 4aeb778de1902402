// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/engine/base/index.h"

namespace sonde::maxwell::cpu {

/// Series that are transformed together: enough for the vector registers of a processor, twice.
inline constexpr Index block_series = 16;
/// Samples whose phases are made together: a power of 2.
inline constexpr Index chunk_samples = 64;

/// cosine[k] + i sine[k] = exp(i frequency (start + k)), k < chunk_samples; frequency in radians per sample.
void phases(double frequency, double start, double* cosine, double* sine);

/// real[b] + i imaginary[b] += sum over k < samples of (cosine[k] - i sine[k]) series[k][b].
void analyse(Index samples, const double* cosine, const double* sine, const double* series, double* real,
             double* imaginary);

/// series[k][b] += cosine[k] real[b] - sine[k] imaginary[b], the real part of the product.
void synthesise(Index samples, const double* cosine, const double* sine, const double* real, const double* imaginary,
                double* series);

}  // namespace sonde::maxwell::cpu
