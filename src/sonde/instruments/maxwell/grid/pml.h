// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "sonde/instruments/maxwell/grid/medium.h"

namespace sonde::maxwell {

/// Convolutional perfectly matched layer of complex frequency-shifted form (Roden and Gedney 2000): each derivative d
/// along an axis becomes d / kappa + psi with psi <- b psi + a d, psi first.
struct PmlSettings {
  /// Which medium scales the largest conductivity.
  enum class Scale {
    slab,   ///< the mean eps_r and mu_r of the layer itself
    x_low,  ///< the mean of the outermost plane of the low side of x, for all sides, as gprMax does
    vacuum  ///< none, as TIDE does
  };
  double grading = 4;       ///< m: conductivity and kappa grow as depth^m
  double sigma_factor = 1;  ///< of the conductivity 0.8 (m + 1) / (eta0 d sqrt(eps_r mu_r))
  double kappa_max = 1.5;
  std::optional<double> alpha_max{};  ///< S/m; unset: 0.05 pi f0 eps0 eps_r
  double alpha_min = 0;               ///< S/m
  Scale scale = Scale::slab;
};
[[nodiscard]] PmlSettings gprmax_pml();
[[nodiscard]] PmlSettings tide_pml();

/// Factors along an axis, at its N planes or half planes; a = 0 and kappa = 1 outside of the layers.
struct PmlLine {
  std::vector<double> a, b, k_inverse;
};
struct PmlProfile {
  PmlLine planes, halves;
  [[nodiscard]] const PmlLine& at(bool half) const { return half ? halves : planes; }
};
/// [axis]; constants of a plan: they depend on the medium that they were made for and are never differentiated.
using PmlProfiles = std::array<PmlProfile, 3>;

/// `f0`: the dominant frequency in Hz, 0 where none is known. Throws Error(bad_input) for settings without meaning.
[[nodiscard]] PmlProfiles pml_profiles(const Grid& grid, const ComponentMedium& medium, const PmlSettings& settings,
                                       double dt, double f0);

}  // namespace sonde::maxwell
