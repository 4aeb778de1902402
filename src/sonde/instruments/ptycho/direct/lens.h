// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <span>

#include "sonde/instruments/ptycho/optics/aberrations.h"
#include "sonde/instruments/ptycho/optics/probe.h"
#include "sonde/instruments/ptycho/optics/sampling.h"
#include "sonde/instruments/ptycho/scan/positions.h"

namespace sonde::ptycho {

/// The aperture function A(k) exp(-i chi(k)) between the detector's pixels, where SSB needs it: the amplitude is that
/// of aperture() (an edge over one detector pixel, or none), the phase a polynomial of k. Frequencies are Points in
/// 1/A.
class Lens {
 public:
  /// Throws Error(not_supported) without a wavelength, Error(bad_input) for a semiangle (rad) that is not above zero or
  /// does not fit on the detector.
  Lens(const Sampling& sampling, double semiangle, ApertureEdge edge, const Aberrations& aberrations);

  static constexpr std::size_t degree = 6;
  /// chi / (2 pi) along a line, as coefficients of 1, t, ..., t^6.
  using Line = std::array<double, degree + 1>;

  /// A(k) without its phase.
  [[nodiscard]] double amplitude(Point k) const;
  /// The radius (1/A) beyond which A is zero.
  [[nodiscard]] double reach() const;
  /// chi(k) / (2 pi).
  [[nodiscard]] double turns(Point k) const;
  /// grad chi(k) / (2 pi), in A: a bright-field image is displaced by minus this.
  [[nodiscard]] Point gradient(Point k) const;
  /// chi / (2 pi) at from + t step for all t.
  [[nodiscard]] Line along(Point from, Point step) const;

  [[nodiscard]] double wavelength() const { return wavelength_; }
  /// The radius of the aperture, 1/A.
  [[nodiscard]] double radius() const { return radius_; }
  [[nodiscard]] bool without_aberrations() const { return highest_ == 0; }

 private:
  double wavelength_, radius_, edge_;  // A, 1/A, 1/A
  bool soft_;
  std::size_t highest_ = 0;                                         // largest power that occurs
  std::array<std::array<double, degree + 1>, degree + 1> terms_{};  // chi / 2 pi = sum terms[a][b] ky^a kx^b
};

/// c0 + c1 t + ... + c6 t^6.
[[nodiscard]] inline double value_of(const Lens::Line& line, double t) {
  double value = 0;
  for (std::size_t i = Lens::degree + 1; i-- > 0;) value = value * t + line[i];
  return value;
}

}  // namespace sonde::ptycho
