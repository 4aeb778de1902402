// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/model/metrics.h"

#include <cmath>

namespace sonde::ptycho {

FrameSums& FrameSums::operator+=(const FrameSums& other) {
  loss += other.loss;
  intensity_error2 += other.intensity_error2;
  amplitude_error += other.amplitude_error;
  amplitude_error2 += other.amplitude_error2;
  deviance += other.deviance;
  return *this;
}

CountSums& CountSums::operator+=(const CountSums& other) {
  counts += other.counts;
  counts2 += other.counts2;
  amplitudes += other.amplitudes;
  lit += other.lit;
  pixels += other.pixels;
  return *this;
}

Metrics metrics_of(std::span<const FrameSums> frames, const CountSums& counts) {
  FrameSums sum;
  for (const FrameSums& frame : frames) sum += frame;
  return {.loss = sum.loss / counts.counts,
          .r_intensity = std::sqrt(sum.intensity_error2 / counts.counts2),
          .r_amplitude = sum.amplitude_error / counts.amplitudes,
          .nmse = sum.amplitude_error2 / counts.counts,
          .deviance = 2 * sum.deviance / counts.pixels};
}

double r_intensity_floor(const CountSums& counts) { return std::sqrt(counts.counts / counts.counts2); }

double nmse_floor(const CountSums& counts) { return 0.25 * counts.lit / counts.counts; }

}  // namespace sonde::ptycho
