// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/run/predicted_time.h"

#include <algorithm>
#include <complex>
#include <vector>

#include "sonde/engine/base/clock.h"
#include "sonde/engine/math/fft.h"

namespace sonde::ptycho {

double transforms_per_iteration(const RunSizes& sizes) {
  const auto slices = static_cast<double>(sizes.slices), modes = static_cast<double>(sizes.modes);
  return static_cast<double>(sizes.frames) * modes * (2 * (2 * slices - 1) + (sizes.fractional ? 2 : 0));
}

double predicted_seconds(const RunSizes& sizes) {
  const auto fft = Fft2d<float>::prepare({.rows = sizes.rows, .cols = sizes.cols});
  std::vector<std::complex<float>> wave(static_cast<std::size_t>(sizes.rows * sizes.cols));
  fft.transform(wave.data(), FftDirection::forward);  // the first one pays for the memory
  constexpr int repeats = 8;
  double best = 1e9;
  for (int i = 0; i < repeats; ++i) {
    const Stopwatch watch;
    fft.transform(wave.data(), FftDirection::forward);
    best = std::min(best, watch.seconds());
  }
  // Everything beside the transforms takes about as long as they do.
  return 2 * best * transforms_per_iteration(sizes) * (sizes.real_bytes == 8 ? 2 : 1);
}

}  // namespace sonde::ptycho
