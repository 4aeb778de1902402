// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "sonde/engine/math/fft.h"
#include "sonde/instruments/stem/simulate/model.h"

namespace sonde::stem {

/// A hill of the specimen's phase, height exp(-d^2 / (2 width^2)); a valley where the height is negative. Lengths in A
/// from the middle of the scan, along its axes: x along columns, y along rows.
struct PhaseHill {
  double y = 0, x = 0;
  double height = 1;  ///< rad
  double width = 1;   ///< A
};

/// A thin specimen under a focused probe.
struct WaveScan {
  Index scan_rows = 1, scan_cols = 1;
  double step = 1;  ///< A, along both axes
  /// A vector v on the detector is R(rotation) T v on the scan: T exchanges x and y where `transpose`, R turns +x
  /// towards +y.
  double rotation = 0;
  bool transpose = false;
  double pixel = 0.05;  ///< of the detector, 1/A
  std::vector<PhaseHill> hills{};
};

/// The diffraction patterns of a phase object by wave optics: |F{psi(r - r0) exp(i phi(r))}|^2 for every position r0,
/// with psi the wave of an aperture of the optics' disk and edge. The window is 1 / pixel wide along both axes, with as
/// many samples as the detector has pixels; every pattern has the dose exactly. Nothing in it knows of centres of mass
/// or gradients. Thread-safe.
class PhasePatterns {
 public:
  /// Throws Error(bad_input) for steps, pixels or widths that are not above zero.
  PhasePatterns(const Optics& optics, WaveScan scan);

  /// One Fourier transform and, for hills within reach, an exponential and a multiplication of every sample: about
  /// 0.2 ms for 64 x 64 pixels.
  void rates(Index scan_row, Index scan_col, const Beam& beam, Model::Scratch& scratch, std::span<double> rate) const;
  /// phi at a position.
  [[nodiscard]] double phase(Index scan_row, Index scan_col) const;
  /// phi averaged over the probe there, by |psi|^2: what centres of mass are the gradient of.
  [[nodiscard]] double seen_phase(Index scan_row, Index scan_col) const;

 private:
  struct Place {
    double y = 0, x = 0;
  };
  [[nodiscard]] Place position(Index scan_row, Index scan_col) const;
  /// Along the axes of the detector.
  [[nodiscard]] Place on_detector(const Place& on_scan) const;
  /// phi on the window around a place.
  void phase_around(const Place& centre, std::span<double> phase) const;

  Optics optics_;
  WaveScan scan_;
  Fft2d<double> fft_;
  double window_ = 1;                        // A
  std::vector<std::complex<double>> probe_;  // in the middle of the window, of power 1
};

}  // namespace sonde::stem
