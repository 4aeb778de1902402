// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/transport/moments.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

#include "sonde/engine/base/error.h"

namespace sonde::neoclassical {
namespace {

/// Adds one energy: `g31` and so on are its weights with the coefficients and nu in them.
void add_sonine(std::span<const double> s, double energy, double nu, double g31, double g13, double g33,
                SpeciesMoments& made) {
  const std::size_t terms = s.size();
  for (std::size_t j = 0; j < terms; ++j) {
    made.nus_31[j] += g31 * s[j];
    made.nuks_31[j] += g31 * energy * s[j];
    made.nus_13[j] += g13 * s[j];
    made.nuks_13[j] += g13 * energy * s[j];
    made.nus_33[j] += g33 * s[j];
    for (std::size_t k = 0; k <= j; ++k) made.nunuss_33[j * terms + k] += g33 * nu * s[j] * s[k];
  }
}

/// The solved energy nearest to `i`, the lower of two; nothing without any.
std::optional<std::size_t> nearest_solved(std::span<const SurfaceDij> at, std::size_t i) {
  for (std::size_t away = 1; away < at.size(); ++away) {
    if (away <= i && at[i - away].unsolved.empty()) return i - away;
    if (i + away < at.size() && at[i + away].unsolved.empty()) return i + away;
  }
  return std::nullopt;
}

double share(double part, double whole) {
  return part == 0 ? 0 : whole == 0 ? std::numeric_limits<double>::infinity() : std::abs(part / whole);
}

/// What the energies without an answer would hold: see SpeciesMoments::left_out. Units cancel.
double left_out_of(const EnergyRule& rule, std::span<const double> nu_hat, std::span<const SurfaceDij> at) {
  if (std::all_of(at.begin(), at.end(), [](const SurfaceDij& each) { return each.unsolved.empty(); })) return 0;
  double part11 = 0, part31 = 0, part33 = 0, all11 = 0, all31 = 0, all33 = 0;
  for (std::size_t i = 0; i < rule.size(); ++i) {
    const double w = rule.weight[i], energy = rule.K[i];
    const auto add = [&](const Dij& d, double growth, double& sum11, double& sum31, double& sum33) {
      sum11 += w * std::pow(energy, 4) * std::abs(d.D11) * growth;  // [K^2]_11 feels high energies most
      sum31 += w * std::pow(energy, 2.5) * std::abs(d.D31);
      sum33 += w * energy * std::abs(d.D33) * growth;
    };
    if (at[i].unsolved.empty()) {
      add(at[i].d, 1, all11, all31, all33);
      continue;
    }
    const auto near = nearest_solved(at, i);
    if (!near) return 1;
    add(at[*near].d, std::max(1.0, nu_hat[*near] / nu_hat[i]), part11, part31, part33);
  }
  return std::max({share(part11, all11), share(part31, all31), share(part33, all33)});
}

/// Throws where it is too much.
double require_little(double left_out, const Population& population, const EnergyRule& rule,
                      std::span<const SurfaceDij> at) {
  if (left_out <= most_left_out) return left_out;
  const auto first = std::find_if(at.begin(), at.end(), [](const SurfaceDij& each) { return !each.unsolved.empty(); });
  const auto count = std::count_if(at.begin(), at.end(), [](const SurfaceDij& each) { return !each.unsolved.empty(); });
  throw Error(
      ErrorKind::not_converged,
      fmt::format("{} of {} energies of species {} have no answer and hold some {:.2g} % of its integrals; at K "
                  "= {:.3g}: {}",
                  count, at.size(), population.species.name, 100 * left_out,
                  rule.K[static_cast<std::size_t>(first - at.begin())], first->unsolved))
      .hint("a finer grid, or accept a larger tol");
}

void mirror(std::span<double> square, std::size_t terms) {
  for (std::size_t j = 0; j < terms; ++j)
    for (std::size_t k = 0; k < j; ++k) square[k * terms + j] = square[j * terms + k];
}

/// Of the integrals that L is made of, the sums of sizes, in all and over continued coefficients: [1], [K], [K^2] of
/// D11, [1], [K] of D31, [1] of D33.
class ContinuedShares {
 public:
  void add(const std::array<double, 6>& terms, bool beyond) {
    for (std::size_t i = 0; i < terms.size(); ++i) {
      all_[i] += std::abs(terms[i]);
      if (beyond) continued_[i] += std::abs(terms[i]);
    }
  }
  [[nodiscard]] double largest() const {
    double share = 0;
    for (std::size_t i = 0; i < all_.size(); ++i)
      if (all_[i] > 0) share = std::max(share, continued_[i] / all_[i]);
    return share;
  }

 private:
  std::array<double, 6> all_{}, continued_{};
};

}  // namespace

std::vector<double> sonine_polynomials(double energy, int order) {
  std::vector<double> s{1, 2.5 - energy};
  for (int k = 1; k < order; ++k) {
    const auto at = static_cast<std::size_t>(k);
    s.push_back(((2 * k + 2.5 - energy) * s[at] - (k + 1.5) * s[at - 1]) / (k + 1));
  }
  s.resize(order < 0 ? 0 : static_cast<std::size_t>(order) + 1);
  return s;
}

double sonine_mean_weight(const EnergyRule& rule, std::size_t i) {
  return rule.weight[i] * rule.K[i] * std::sqrt(rule.K[i]) * (4.0 / 3) * std::numbers::inv_sqrtpi;  // over Gamma(5/2)
}

std::vector<double> sonine_norms(int order) {
  std::vector<double> norms{1};
  for (int k = 1; k <= order; ++k) norms.push_back(norms.back() * k / (k + 1.5));
  return norms;
}

EnergyNodes::EnergyNodes(std::vector<Population> plasma, const EnergyRule& rule, CoulombLogarithm logarithm, int order)
    : plasma_(std::move(plasma)), rule_(rule), order_(order) {
  require_valid(plasma_);
  if (order < -1 || order > highest_sonine_order)
    throw Error(ErrorKind::bad_input, fmt::format("the order of the momentum correction is {}, expected 0 to {}", order,
                                                  highest_sonine_order));
  logarithms_ = coulomb_logarithms(plasma_, logarithm);
  for (std::size_t a = 0; a < plasma_.size(); ++a) {
    const double thermal = plasma_[a].thermal_speed();
    for (const double energy : rule_.K) {
      speed_.push_back(thermal * std::sqrt(energy));
      frequency_.push_back(collision_frequency(plasma_, logarithms_, a, speed_.back()));
      nu_hat_.push_back(frequency_.back() / speed_.back());
    }
  }
  for (const double energy : rule_.K)
    for (const double s : sonine_polynomials(energy, order)) sonine_.push_back(s);
  const std::size_t terms = static_cast<std::size_t>(order) + 1, square = terms * terms;
  friction_weights_.assign(plasma_.size() * square, 0);
  for (std::size_t a = 0; a < plasma_.size(); ++a) {
    const std::span<double> of(friction_weights_.data() + a * square, square);
    for (std::size_t i = 0; i < rule_.size(); ++i) {
      const double weight = sonine_mean_weight(rule_, i) * frequency(a)[i];
      for (std::size_t j = 0; j < terms; ++j)
        for (std::size_t k = 0; k <= j; ++k) of[j * terms + k] += weight * sonine(i)[j] * sonine(i)[k];
    }
    mirror(of, terms);
  }
}

std::vector<SpeciesMoments> energy_moments(const EnergyNodes& nodes, const SurfaceSource& source, double er) {
  const EnergyRule& rule = nodes.rule();
  const auto terms = static_cast<std::size_t>(nodes.order()) + 1;
  std::vector<SpeciesMoments> all;
  std::vector<double> er_hat(rule.size());
  std::vector<SurfaceDij> at(rule.size());
  for (std::size_t a = 0; a < nodes.plasma().size(); ++a) {
    const Population& population = nodes.plasma()[a];
    for (std::size_t i = 0; i < rule.size(); ++i) er_hat[i] = er / nodes.speed(a)[i];
    source.coefficients(nodes.nu_hat(a), er_hat, at);
    SpeciesMoments made;
    made.left_out = require_little(left_out_of(rule, nodes.nu_hat(a), at), population, rule, at);
    for (auto* line : {&made.nus_31, &made.nuks_31, &made.nus_13, &made.nuks_13, &made.nus_33}) line->assign(terms, 0);
    made.nunuss_33.assign(terms * terms, 0);
    const double speed = population.thermal_speed(), gyration = population.species.mass / population.species.charge,
                 unit33 = speed * std::numbers::inv_sqrtpi, unit31 = gyration * speed * unit33,
                 unit11 = gyration * gyration * speed * speed * unit33;
    ContinuedShares continued;
    for (std::size_t i = 0; i < rule.size(); ++i) {
      const double energy = rule.K[i], to_3_2 = energy * std::sqrt(energy);
      if (!at[i].unsolved.empty()) continue;
      const auto& [d, beyond, unsolved] = at[i];
      if (!std::isfinite(d.D11 + d.D31 + d.D13 + d.D33))
        throw Error(ErrorKind::bad_input,
                    fmt::format("a coefficient of species {} at K = {:.3g}, nu_hat = {:.3g} is not a finite number",
                                population.species.name, energy, nodes.nu_hat(a)[i]));
      const double g11 = unit11 * rule.weight[i] * energy * energy * d.D11,
                   g31 = -unit31 * rule.weight[i] * to_3_2 * d.D31, g13 = unit31 * rule.weight[i] * to_3_2 * d.D13,
                   g33 = unit33 * rule.weight[i] * energy * d.D33;
      made.d11_1 += g11;
      made.d11_K += g11 * energy;
      made.d11_KK += g11 * energy * energy;
      made.d31_1 += g31;
      made.d31_K += g31 * energy;
      made.d13_1 += g13;
      made.d13_K += g13 * energy;
      made.d33_1 += g33;
      continued.add({g11, g11 * energy, g11 * energy * energy, g31, g31 * energy, g33}, beyond);
      const double nu = nodes.frequency(a)[i];
      add_sonine(nodes.sonine(i), energy, nu, g31 * nu, g13 * nu, g33 * nu, made);
    }
    mirror(made.nunuss_33, terms);
    made.beyond = continued.largest();
    all.push_back(std::move(made));
  }
  return all;
}

}  // namespace sonde::neoclassical
