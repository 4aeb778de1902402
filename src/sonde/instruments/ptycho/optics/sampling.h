// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>

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

/// Throws Error(bad_input) for a semiangle (rad) that is not above zero, reaches beyond the detector, or lies within
/// the zero-frequency pixel: such a probe is wider than its window.
void require_semiangle(const Sampling& sampling, double semiangle);

/// A number that somebody says about a measurement.
struct Claim {
  double value = 0;
  std::string by{};  ///< who says so, "scan.h5" or "the run file"; may be empty

  Claim() = default;
  Claim(double said, std::string who = {}) : value(said), by(std::move(who)) {}  // NOLINT: a number is a claim
};

/// What files and people say about how a measurement is sampled. All of it may be absent, and more may be said than is
/// needed; then every way to the object pixel must lead to the same one:
///   electrons  lambda(energy) / (n mrad_per_px / 1000)
///   photons    lambda(energy) distance / (n detector_pixel)
///   either     1 / (n inv_a_per_px), object_pixel_a, step_a / step_px
struct SamplingClaims {
  Index n = 0;  ///< detector pixels along the axis that the other numbers are about
  bool photons = false;
  std::optional<Claim> energy_kev;
  std::optional<Claim> mrad_per_px;                   ///< angle of a detector pixel
  std::optional<Claim> detector_pixel_m, distance_m;  ///< the same for photons
  std::optional<Claim> inv_a_per_px;                  ///< reciprocal size of a detector pixel, 1/A
  std::optional<Claim> object_pixel_a;
  std::optional<Claim> step_a;   ///< scan step, A
  std::optional<Claim> step_px;  ///< the same in object pixels
};

/// Relative difference beyond which two claims contradict each other. Calibrations of angles and magnifications are
/// good to a per cent or two; a wrong unit, energy or binning is off by far more.
constexpr double claim_tolerance = 0.02;

/// Throws Error(bad_input) when claims differ by more than `tolerance` (relative). The message gives every pair that
/// disagrees, who says so and by how much, and what each number would have to be by itself; when all ways to the object
/// pixel but one agree, it names that one to look at.
void require_consistent(const SamplingClaims& claims, double tolerance = claim_tolerance);

}  // namespace sonde::ptycho
