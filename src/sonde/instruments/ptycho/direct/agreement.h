// SPDX-License-Identifier: Apache-2.0
// Private to the room: how well images agree, as a function of the lens, with its derivatives.
#pragma once

#include <array>
#include <complex>
#include <span>
#include <vector>

#include "sonde/instruments/ptycho/direct/focus.h"

namespace sonde::ptycho {

/// What is fitted: C10, C12 cos(2 phi12), C12 sin(2 phi12), all in A, and the rotation in rad.
using FocusPoint = std::array<double, 4>;

/// The spectra of all images at chosen frequencies of the scan.
struct ChosenSpectra {
  std::vector<Point> frequency;                      ///< q, 1/A, not turned
  std::vector<std::vector<std::complex<float>>> of;  ///< [frequency][image]
};

/// value(p) = sum over q of |S_q|^2 / n_q, S_q = sum over k of sign G(q,k) exp(2 pi i turns), with turns = base + sum
/// over i of p_i slope_i linear in the aberrations.
class Agreement {
 public:
  /// `field` gives the pixels; `lens` all aberrations but those that are fitted.
  Agreement(const BrightField& field, const ChosenSpectra& spectra, const Lens& lens, FocusModel model)
      : field_(field), spectra_(spectra), lens_(lens), model_(model) {}

  /// Which pixels take part, and slopes, for a rotation; the first `frequencies` only.
  void turn(double rotation, Index frequencies);
  /// At the rotation of the last turn(); the fourth number of the point plays no part.
  [[nodiscard]] double value(const FocusPoint& at) const;
  /// The same with the gradient and an approximate negative Hessian, positive semidefinite, of the four numbers.
  struct Slope {
    double value = 0;
    std::array<double, 4> gradient{};
    std::array<std::array<double, 4>, 4> curvature{};
  };
  [[nodiscard]] Slope slope(const FocusPoint& at) const;
  /// The value that random phases have on average.
  [[nodiscard]] double noise() const;

 private:
  /// One frequency: its pixels side by side.
  struct Terms {
    std::vector<float> real, imaginary;           // sign G
    std::array<std::vector<float>, 4> turns;      // the base, and per A of the three
    std::vector<std::array<float, 4>> rotations;  // d turns / d rotation: of the base, and per A of the three
    [[nodiscard]] Index count() const { return static_cast<Index>(real.size()); }
  };
  [[nodiscard]] Slope slope(const FocusPoint& at, bool derivatives) const;
  [[nodiscard]] Terms terms_at(Point q, std::size_t chosen) const;

  const BrightField& field_;
  const ChosenSpectra& spectra_;
  const Lens& lens_;
  FocusModel model_;
  std::vector<Terms> terms_;
};

}  // namespace sonde::ptycho
