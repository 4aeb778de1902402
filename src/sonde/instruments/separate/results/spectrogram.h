// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <string>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/engine/device/stream.h"
#include "sonde/engine/figure/chart.h"
#include "sonde/engine/math/fft1d.h"

namespace sonde::separate {

struct SpectrogramStyle {
  Index columns = 200, bands = 80;            ///< of time; of frequency, evenly on a logarithmic axis
  double lowest_hz = 40, highest_hz = 16000;  ///< not above half the sample rate
  double range_db = 70;                       ///< shown below the loudest of all
};

/// Powers of windows of a signal (Hann) in the bands of a style. Not thread-safe.
class BandPowers {
 public:
  static constexpr Index window = 4096;
  BandPowers(const SpectrogramStyle& style, Index rate);
  /// Adds the largest power in each band to powers[band * stride]; 1: a full sine.
  void add(const float* samples, double* powers, Index stride);

 private:
  Index bands_;
  RealFft1d<double> fft_;
  Stream stream_{Device::cpu()};
  std::vector<double> weights_, weighted_, edges_;
  std::vector<std::complex<double>> spectrum_;
};

/// Levels of a file over time and frequency.
struct Spectrogram {
  std::string name;  ///< of the file, without its ending
  double seconds = 0, rate = 0;
  std::vector<double> levels_db;  ///< (bands, columns): of the mean power of all channels in a band, 0 dB: a full sine
};

/// Windows of 4096 samples (Hann), every 1024, of the file at its own rate, read piece by piece: memory does not depend
/// on the length. Throws what AudioReader throws.
[[nodiscard]] Spectrogram spectrogram_of(const std::string& path, const SpectrogramStyle& style = {});

/// One beside the other, all relative to the loudest level of any.
[[nodiscard]] Chart spectrogram_chart(const std::string& title, const std::vector<Spectrogram>& spectrograms,
                                      const SpectrogramStyle& style = {});

}  // namespace sonde::separate
