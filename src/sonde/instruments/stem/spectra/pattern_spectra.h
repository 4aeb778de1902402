// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "sonde/instruments/stem/pass/operation.h"
#include "sonde/instruments/stem/spectra/pattern_power.h"

namespace sonde::stem {

/// Two independent vectors of a lattice in a spectrum, cycles per pixel of the detector. In a cepstrum they are lattice
/// vectors of the crystal over the wavelength and the camera length: a_i . g_j = 1 where i = j, else 0.
struct SpectralPair {
  double a1_x = 0, a1_y = 0, a2_x = 0, a2_y = 0;
};

/// Symmetric, of a1_x, a1_y, a2_x, a2_y.
using PairCovariance = std::array<std::array<double, 4>, 4>;

/// The pair of one pattern.
struct MeasuredPair {
  bool found = false;
  SpectralPair pair{};
  /// Of Poisson counts; NaN where frames are not counts. To first order in the noise: the variance of log(1 + n) is
  /// taken as n log(1 + 1/n)^2, whose mean is an upper bound of it (Chen's inequality), 7 % too large at one count in a
  /// pixel, exact for few and for many.
  PairCovariance covariance{};
};

/// The mean power of all frames of a pass, and of each frame the maxima near two places of its spectrum.
class PatternSpectra final : public Operation {
 public:
  /// The plan is borrowed. Its detector must be that of the pass. `near`: where maxima are sought, as far as `radius`
  /// points of the transform; without it only the mean is made.
  explicit PatternSpectra(const PatternPower& plan, std::optional<SpectralPair> near = {}, double radius = 2)
      : plan_(&plan), near_(near), radius_(radius) {}

  std::vector<double> mean;         ///< (rows, cols / 2 + 1) of the power; zero without a frame
  Index frames = 0;                 ///< that it is of
  std::vector<MeasuredPair> pairs;  ///< (position), with `near`
  std::vector<std::uint8_t> valid;  ///< (position): 0 without a frame

  [[nodiscard]] Abilities abilities(const PassShape& shape) const override;
  void start(const PassShape& shape) override;
  [[nodiscard]] std::unique_ptr<State> make_state(const PassShape& shape) const override;
  void take(const Tile& tile, State* state) override;
  void merge(State& total, State& part) const override;
  void finish(State* total) override;

 private:
  const PatternPower* plan_;
  std::optional<SpectralPair> near_;
  double radius_;
};

}  // namespace sonde::stem
