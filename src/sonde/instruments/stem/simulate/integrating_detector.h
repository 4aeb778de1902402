// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sonde/engine/base/index.h"

namespace sonde::stem {

/// A detector that integrates the charge that electrons leave in it, over noise, in place of counting them.
struct IntegratingSettings {
  double cloud = 0.35;                ///< standard deviation of the charge of one electron, px
  double deposit = 30, spread = 8;    ///< mode and scale of the charge of one electron (Gumbel), counts
  double noise = 1;                   ///< standard deviation of the read-out, counts
  double dark = 20, dark_spread = 0;  ///< mean dark value and its standard deviation between pixels, counts
  double gain_spread = 0;             ///< standard deviation between pixels of the factor that makes charge of values
  double xrays = 0;                   ///< hits in a frame, of 500 to 1500 counts in one pixel
  std::uint64_t seed = 1;
};

/// Where an electron fell: pixel i covers [i - 1/2, i + 1/2).
struct FallenElectron {
  float y = 0, x = 0;  ///< px
  float deposit = 0;   ///< counts
};

/// value = round(dark + charge / gain + noise), not below 0. Charge of an electron at (y, x) in a pixel: its deposit
/// times the integral of a normal distribution about (y, x) over the pixel. Deposits have the distribution of Gumbel,
/// which is near that of Landau. All of it is drawn by (seed, frame), so that any frame is the same by itself.
/// Immutable, thread-safe.
class IntegratingDetector {
 public:
  /// `defect` (pixel): 1 where counts leave their charge in the pixel only, and are no electrons.
  IntegratingDetector(Index rows, Index cols, const IntegratingSettings& settings, std::vector<std::uint8_t> defect);

  [[nodiscard]] const std::vector<float>& dark() const { return dark_; }  ///< (pixel)
  [[nodiscard]] const std::vector<float>& gain() const { return gain_; }  ///< (pixel)

  /// The electrons of a frame of which so many fell into each pixel: even over it, in the order of pixels.
  void electrons(Index frame, std::span<const std::uint32_t> counts, std::vector<FallenElectron>& fallen) const;

  struct Scratch {
    std::vector<FallenElectron> fallen;
    std::vector<double> charge, noise;
  };
  /// Electrons in each pixel become values.
  void expose(Index frame, std::span<std::uint32_t> counts, Scratch& scratch) const;

 private:
  void spread_charge(const FallenElectron& electron, std::span<double> charge) const;

  Index rows_, cols_;
  IntegratingSettings settings_;
  std::vector<std::uint8_t> defect_;
  std::vector<float> dark_, gain_;
};

}  // namespace sonde::stem
