// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sonde/engine/base/index.h"

namespace sonde::ptycho {

/// How finely patterns and object are sampled. A detector pixel spans dk, so that the object pixel is 1 / (N dk), which
/// differs between the axes when the numbers of pixels do. Without a calibration (pixel_sampling) every length is in
/// object pixels and the wavelength is 0.
struct Sampling {
  Index rows = 0, cols = 0;       ///< of a pattern, and so of the probe
  double wavelength = 0;          ///< A
  double dk_row = 0, dk_col = 0;  ///< 1/A per detector pixel

  [[nodiscard]] bool calibrated() const { return wavelength > 0; }
  [[nodiscard]] double pixel_row() const { return 1 / (static_cast<double>(rows) * dk_row); }  ///< A
  [[nodiscard]] double pixel_col() const { return 1 / (static_cast<double>(cols) * dk_col); }  ///< A
  /// Angle of one detector pixel, rad.
  [[nodiscard]] double angle_row() const { return wavelength * dk_row; }
  [[nodiscard]] double angle_col() const { return wavelength * dk_col; }
};

/// dk = angle / lambda for electrons and a detector pixel of `mrad_per_px`. All three throw Error(bad_input) for sizes
/// below 1 and for numbers that are not above zero.
[[nodiscard]] Sampling electron_sampling(Index rows, Index cols, double energy_kev, double mrad_per_px);
/// dk = p / (lambda z) for photons, a detector pixel p and a distance z, both in m.
[[nodiscard]] Sampling photon_sampling(Index rows, Index cols, double energy_kev, double detector_pixel_m,
                                       double distance_m);
/// No energy, no angles: the object pixel is 1.
[[nodiscard]] Sampling pixel_sampling(Index rows, Index cols);

/// Throws Error(not_supported) when the sampling has no calibration; `what` names the use: "the aperture probe".
void require_calibrated(const Sampling& sampling, const char* what);

/// What files and people say about a measurement with electrons. All of it may be absent, and more may be said than is
/// needed; then it must agree: pixel = lambda(energy) / (n mrad_per_px / 1000) and step_a = step_px pixel.
struct SamplingClaims {
  Index n = 0;  ///< detector pixels along the axis that the other numbers are about
  std::optional<double> energy_kev;
  std::optional<double> mrad_per_px;  ///< angle of a detector pixel
  std::optional<double> pixel_a;      ///< object pixel, A
  std::optional<double> step_a;       ///< scan step, A
  std::optional<double> step_px;      ///< the same in object pixels
};

/// Throws Error(bad_input) when claims differ by more than `tolerance` (relative). The message gives every pair that
/// disagrees, by how much, and what each number would have to be alone; when two of three ways to the object pixel
/// agree, it names the third as the one to look at.
void require_consistent(const SamplingClaims& claims, double tolerance = 0.02);

}  // namespace sonde::ptycho
