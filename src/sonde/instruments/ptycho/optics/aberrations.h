// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::ptycho {

/// The aberrations of a lens in Krivanek's notation:
///   chi(alpha, phi) = (2 pi / lambda) sum_nm alpha^(n+1) / (n+1) C_nm cos(m (phi - phi_nm)),
/// up to fifth order, C_nm in A, phi_nm in rad, alpha = lambda |k| the angle to the axis, phi = atan2(ky, kx). The lens
/// multiplies a wave of spatial frequency k by exp(-i chi). All are zero at first. A value: copy it freely.
class Aberrations {
 public:
  /// Sets a coefficient by its name: "C10", "C12", "phi12", ..., "C56", "phi56", or an alias: "defocus" (= -C10,
  /// positive is underfocus), "Cs" (= C30), "C5" (= C50). Throws Error(bad_input) for an unknown name, with the nearest
  /// ones, and for a value that is not finite.
  void set(std::string_view name, double value);
  /// Throws Error(bad_input) for an unknown name.
  [[nodiscard]] double get(std::string_view name) const;

  /// Every name that set() takes, aliases last.
  [[nodiscard]] static const std::vector<std::string>& names();

  /// Phase in rad of the ray at angle `alpha` (rad) in direction `phi` (rad) for a wavelength in A.
  [[nodiscard]] double chi(double alpha, double phi, double wavelength) const;

  friend bool operator==(const Aberrations&, const Aberrations&) = default;

 private:
  static constexpr std::size_t terms = 14;
  std::array<double, terms> magnitude_{};  // A
  std::array<double, terms> angle_{};      // rad
};

}  // namespace sonde::ptycho
