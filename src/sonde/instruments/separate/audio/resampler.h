// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "sonde/engine/base/index.h"

namespace sonde::separate {

/// Recipes of the SoX Resampler library: rejection of 20 (high) or 28 bits (very_high) and so on.
enum class ResampleQuality { quick, low, medium, high, very_high };

/// Samples of several channels from one rate to another, piece by piece, on one thread.
class Resampler {
 public:
  /// Throws Error(not_supported) where the library is not installed, Error(bad_input) for rates below 1 or above 1 MHz.
  Resampler(Index from_rate, Index to_rate, Index channels, ResampleQuality quality);
  Resampler(Resampler&&) noexcept;
  Resampler& operator=(Resampler&&) noexcept;
  ~Resampler();

  /// Appends to `out` what these samples give, interleaved like them. No samples: the rest, at the end of the input.
  void process(std::span<const float> interleaved, std::vector<float>& out);

 private:
  struct Stream;
  std::unique_ptr<Stream> stream_;
};

}  // namespace sonde::separate
