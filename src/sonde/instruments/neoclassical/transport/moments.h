// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "sonde/instruments/neoclassical/transport/energy_rule.h"
#include "sonde/instruments/neoclassical/transport/plasma.h"
#include "sonde/instruments/neoclassical/transport/surface_source.h"

// With I_p[X] = the integral of K^p exp(-K) X over K:
//   [X]_11 = (m/q)^2 (v_t^3/sqrt(pi)) I_2[X D11]      [X]_13 =  (m/q) (v_t^2/sqrt(pi)) I_{3/2}[X D13]
//   [X]_33 = (v_t/sqrt(pi)) I_1[X D33]                [X]_31 = -(m/q) (v_t^2/sqrt(pi)) I_{3/2}[X D31]
// The two mixed ones are equal where D13 = -D31.

namespace sonde::neoclassical {

inline constexpr int highest_sonine_order = 12;

/// Sonine polynomials S_0 .. S_order of the energy K (associated Laguerre, 3/2): 1, 5/2 - K, ...
[[nodiscard]] std::vector<double> sonine_polynomials(double energy, int order);

/// w_k = k! Gamma(5/2) / Gamma(k + 5/2) = 1, 2/5, 8/35, ...: one over their normalised squares.
[[nodiscard]] std::vector<double> sonine_norms(int order);

/// What energy i of a rule counts in the mean { } over K^(3/2) exp(-K), of weight 1: { S_j S_k } = delta_jk / w_k.
[[nodiscard]] double sonine_mean_weight(const EnergyRule& rule, std::size_t i);

/// The energies of a rule with everything of a plasma that does not depend on the electric field.
class EnergyNodes {
 public:
  /// `order`: of the momentum correction, 0 to highest_sonine_order, or -1 for none. Throws like require_valid() and
  /// coulomb_logarithms(), and Error(bad_input) for an order that is not there.
  EnergyNodes(std::vector<Population> plasma, const EnergyRule& rule, CoulombLogarithm logarithm, int order);

  [[nodiscard]] const std::vector<Population>& plasma() const { return plasma_; }
  [[nodiscard]] const std::vector<double>& logarithms() const { return logarithms_; }  ///< [a][b]
  [[nodiscard]] const EnergyRule& rule() const { return rule_; }
  [[nodiscard]] int order() const { return order_; }
  /// Of species a, one per energy.
  [[nodiscard]] std::span<const double> speed(std::size_t a) const {
    return {speed_.data() + a * rule_.size(), rule_.size()};
  }
  [[nodiscard]] std::span<const double> frequency(std::size_t a) const {
    return {frequency_.data() + a * rule_.size(), rule_.size()};
  }
  [[nodiscard]] std::span<const double> nu_hat(std::size_t a) const {
    return {nu_hat_.data() + a * rule_.size(), rule_.size()};
  }
  /// { nu_a S_j S_k }, [j][k] up to order(): the mean over K^(3/2) exp(-K), of weight 1, by the rule.
  [[nodiscard]] std::span<const double> friction_weights(std::size_t a) const {
    const auto terms = static_cast<std::size_t>(order_) + 1;
    return {friction_weights_.data() + a * terms * terms, terms * terms};
  }
  /// S_k of energy i at [i][k].
  [[nodiscard]] std::span<const double> sonine(std::size_t energy) const {
    const auto terms = static_cast<std::size_t>(order_) + 1;
    return {sonine_.data() + energy * terms, terms};
  }

 private:
  std::vector<Population> plasma_;
  EnergyRule rule_;
  int order_;
  std::vector<double> logarithms_, speed_, frequency_, nu_hat_, sonine_, friction_weights_;
};

/// The energy integrals of one species. Vectors have one entry per Sonine polynomial, squares are [row][column].
struct SpeciesMoments {
  double d11_1 = 0, d11_K = 0, d11_KK = 0;            ///< [1]_11, [K]_11, [K^2]_11
  double d13_1 = 0, d13_K = 0, d31_1 = 0, d31_K = 0;  ///< of 1 and K
  double d33_1 = 0;                                   ///< [1]_33
  std::vector<double> nus_31, nuks_31;                ///< [nu S_j]_31, [nu K S_j]_31
  std::vector<double> nus_13, nuks_13;                ///< [nu S_j]_13, [nu K S_j]_13
  std::vector<double> nus_33, nunuss_33;              ///< [nu S_j]_33, [nu^2 S_j S_k]_33
  double beyond = 0;  ///< largest share of an integral that L is made of, that stands on continued coefficients
  /// The same of energies without a solution, as far as that can be known: D11 and D33 grow as 1/nu_hat from the
  /// nearest energy that has one, D31 stays.
  double left_out = 0;
};

/// The largest share of a species' integrals that may be left out.
inline constexpr double most_left_out = 1e-4;  // what the grids of users are good for is a per mille

/// Of every species at `er` = E_r, V/m. Energies that the source has no answer for are left out where they hold next
/// to nothing, else Error(not_converged) says how much. Throws Error(bad_input) naming species and energy where a
/// coefficient is not finite.
[[nodiscard]] std::vector<SpeciesMoments> energy_moments(const EnergyNodes& nodes, const SurfaceSource& source,
                                                         double er);

}  // namespace sonde::neoclassical
