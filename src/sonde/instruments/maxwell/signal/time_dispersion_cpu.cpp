// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "sonde/engine/device/multiversion.h"
#include "sonde/instruments/maxwell/signal/time_dispersion_kernels.h"

namespace sonde::maxwell::cpu {

SONDE_MULTIVERSION
void phases(double frequency, double start, double* __restrict cosine, double* __restrict sine) {
  cosine[0] = std::cos(frequency * start);
  sine[0] = std::sin(frequency * start);
  double step_cosine = std::cos(frequency), step_sine = std::sin(frequency);
  // The phases known so far, turned, are as many more: 6 roundings instead of 63, and no chain of dependent products.
  for (Index known = 1; known < chunk_samples; known *= 2) {
    for (Index k = 0; k < known; ++k) {
      cosine[known + k] = cosine[k] * step_cosine - sine[k] * step_sine;
      sine[known + k] = cosine[k] * step_sine + sine[k] * step_cosine;
    }
    const double doubled = 2 * step_cosine * step_sine;
    step_cosine = step_cosine * step_cosine - step_sine * step_sine;
    step_sine = doubled;
  }
}

SONDE_MULTIVERSION
void analyse(Index samples, const double* __restrict cosine, const double* __restrict sine,
             const double* __restrict series, double* __restrict real, double* __restrict imaginary) {
  for (Index k = 0; k < samples; ++k)
    for (Index b = 0; b < block_series; ++b) {
      real[b] += cosine[k] * series[k * block_series + b];
      imaginary[b] -= sine[k] * series[k * block_series + b];
    }
}

SONDE_MULTIVERSION
void synthesise(Index samples, const double* __restrict cosine, const double* __restrict sine,
                const double* __restrict real, const double* __restrict imaginary, double* __restrict series) {
  for (Index k = 0; k < samples; ++k)
    for (Index b = 0; b < block_series; ++b)
      series[k * block_series + b] += cosine[k] * real[b] - sine[k] * imaginary[b];
}

}  // namespace sonde::maxwell::cpu
