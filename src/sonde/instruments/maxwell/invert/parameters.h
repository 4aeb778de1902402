// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <span>
#include <vector>

#include "sonde/engine/math/optimise/bounds.h"
#include "sonde/instruments/maxwell/grid/medium.h"
#include "sonde/instruments/maxwell/invert/coarse_grid.h"
#include "sonde/instruments/maxwell/invert/mask.h"

namespace sonde::maxwell {

enum class SigmaScale { linear, logarithmic };

struct ParameterSettings {
  bool eps_r = true, sigma = false;           ///< what is unknown
  std::array<double, 2> eps_r_bounds{1, 81};  ///< lowest and highest
  std::array<double, 2> sigma_bounds{0, 1};   ///< S/m
  /// The unknown that stands for sigma is beta sigma / sigma0 or beta ln(sigma / sigma0): beta balances the two classes
  /// (Lavoue et al. 2014, Geophys. J. Int. 197, 248).
  double beta = 1;
  double sigma0 = 5.56e-3;  ///< S/m; eps_r = 1 has this loss, 2 pi f eps0, at 100 MHz
  SigmaScale sigma_scale = SigmaScale::linear;
  Triple every{1, 1, 1};  ///< one number for so many cells along each axis
  Spline spline = Spline::linear;
};
/// Throws Error(bad_input) for settings without meaning.
void require_valid(const ParameterSettings& settings);

/// The unknowns of an inversion as one list of numbers of about equal size: those of eps_r, then those of sigma.
/// Between them and the model are scaled fields on the cells, [class][z][y][x], which regularisation is of:
///   field = start + mask (spline(numbers) - start),  eps_r = field,  sigma = sigma0 field / beta or sigma0 exp(field /
///   beta).
/// Cells whose mask is 0 keep the start exactly. The list is affine in the fields, and its transpose is exact.
class Parameters {
 public:
  /// `mask` empty: all free. Throws Error(bad_input) like require_valid() and require_mask(), for a start of another
  /// size, and for one that is outside the bounds where the mask is not 0.
  Parameters(const CellGrid& grid, const ParameterSettings& settings, Model start, Mask mask);

  [[nodiscard]] Index count() const { return classes() * coarse_.count(); }
  /// 1 or 2.
  [[nodiscard]] Index classes() const { return (settings_.eps_r ? 1 : 0) + (settings_.sigma ? 1 : 0); }
  [[nodiscard]] const CellGrid& grid() const { return grid_; }

  /// Numbers of the start model; on a coarse grid of its means, so that the first model is smoother than the start.
  [[nodiscard]] std::vector<double> start() const;
  [[nodiscard]] Bounds<double> bounds() const;
  [[nodiscard]] std::vector<double> fields(std::span<const double> numbers) const;
  [[nodiscard]] Model model(std::span<const double> fields) const;

  /// From d/d(eps_r, sigma) at these fields to d/d(fields).
  [[nodiscard]] std::vector<double> by_fields(std::span<const double> fields, const ModelChange& by_model) const;
  /// From d/d(fields) to d/d(numbers): zero for numbers that no free cell takes.
  [[nodiscard]] std::vector<double> by_numbers(std::span<const double> by_fields) const;

  /// The derivative of the fields along a change of the numbers, and that of the model along a change of the fields:
  /// what by_numbers() and by_fields() are the transposes of.
  [[nodiscard]] std::vector<double> field_change(std::span<const double> number_change) const;
  /// Variances of the fields, where each number has this one by itself.
  [[nodiscard]] std::vector<double> field_variances(double of_numbers) const;
  [[nodiscard]] ModelChange model_change(std::span<const double> fields, std::span<const double> field_change) const;

  /// How much more than others a number should move: the inverse of the damped pseudo-Hessian (Shin et al. 2001,
  /// Geophys. Prospect. 49, 592; of two classes Lavoue et al. 2014, Geophys. J. Int. 197, 248), which is diagonal
  /// (illumination_of()). With h the illumination by the numbers, at these fields, and m its maximum over a class:
  /// (1 + damping) m_first / (h + damping m), so that it is 1 where the first class is lit best, and the model moves
  /// the same for any beta. All 1 in a class without light. damping > 0.
  [[nodiscard]] std::vector<double> preconditioner(std::span<const double> fields, const ModelChange& illumination,
                                                   double damping) const;

 private:
  [[nodiscard]] std::size_t cells() const { return static_cast<std::size_t>(grid_.count()); }
  [[nodiscard]] double scaled_sigma(double sigma) const;
  [[nodiscard]] double sigma_slope(double field) const;
  [[nodiscard]] std::vector<double> means(std::span<const double> field, double without) const;

  CellGrid grid_;
  ParameterSettings settings_;
  Model start_;
  Mask mask_;
  CoarseGrid coarse_;
  std::vector<std::vector<double>> scaled_start_;       // [class][cell], within the bounds
  std::vector<std::array<double, 2>> scaled_bounds_{};  // [class]
};

}  // namespace sonde::maxwell
