// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/transport/radial_transport.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/device/parallel.h"

namespace sonde::neoclassical {
namespace {

constexpr double not_there = std::numeric_limits<double>::quiet_NaN();

/// No field, no fluxes: every number that a plasma of so many species would have.
void set_nan(std::size_t species, bool corrected, RadialResult& made) {
  const Fluxes none{not_there, not_there, not_there};
  made.forces.assign(species, {not_there, not_there, not_there});
  made.L.assign(species,
                {not_there, not_there, not_there, not_there, not_there, not_there, not_there, not_there, not_there});
  made.fluxes.assign(species, none);
  made.beyond.assign(species, not_there);
  made.left_out.assign(species, not_there);
  made.current.assign(species, not_there);
  made.total_current = not_there;
  if (!corrected) return;
  made.corrected.assign(species, none);
  made.corrected_current.assign(species, not_there);
  made.corrected_total_current = not_there;
}

/// The nodes of the integrals. The highest powers of K: K^4 D11 and, with the momentum correction, K^(1 + 2 order) D33;
/// the coefficients themselves grow no faster than 1/nu_hat, which is K^2.
EnergyRule rule_of(const TransportOptions& options) {
  const EnergyRule rule = options.quadrature == EnergyQuadrature::gauss_laguerre
                              ? gauss_laguerre(options.energies)
                              : maxwell_polynomials(options.energies);
  return without_tail(rule, std::max(4, 1 + 2 * options.sonine_order.value_or(0)) + 2);
}

double charge_flux(const EnergyNodes& nodes, const SurfaceSource& surface, double er, double electric_drive) {
  check_interrupt();
  const std::vector<SpeciesMoments> moments = energy_moments(nodes, surface, er);
  double sum = 0;
  for (std::size_t a = 0; a < moments.size(); ++a) {
    const Population& population = nodes.plasma()[a];
    sum += population.species.charge *
           fluxes(population, thermal_matrix(moments[a]), thermodynamic_forces(population, er, electric_drive)).gamma;
  }
  return sum;
}

void find_field(const SurfaceSource& surface, const RadialInput& input, const EnergyRule& rule,
                const TransportOptions& options, RadialResult& made) {
  const EnergyNodes nodes(input.plasma, rule, options.coulomb_logarithm, -1);
  made.roots = ambipolar_roots([&](double er) { return charge_flux(nodes, surface, er, input.electric_drive); },
                               options.ambipolar);
  made.without_root = !made.roots.chosen;
  made.E_r = made.without_root ? not_there : made.roots.roots[*made.roots.chosen].E_r;
}

std::vector<double> currents(const std::vector<Population>& plasma, const std::vector<Fluxes>& fluxes) {
  std::vector<double> made;
  for (std::size_t a = 0; a < fluxes.size(); ++a) made.push_back(plasma[a].species.charge * fluxes[a].u_par);
  return made;
}

RadialResult at_radius(const RadialSource& source, const RadialInput& input, const EnergyRule& rule,
                       const TransportOptions& options) {
  check_interrupt();
  const std::unique_ptr<SurfaceSource> surface = source.at(input.rho);
  const EnergyNodes nodes(input.plasma, rule, options.coulomb_logarithm, options.sonine_order.value_or(-1));
  require_neutral(input.plasma);
  RadialResult made;
  made.rho = input.rho;
  if (input.E_r)
    made.E_r = *input.E_r;
  else
    find_field(*surface, input, rule, options, made);
  if (made.without_root) {
    set_nan(input.plasma.size(), options.sonine_order.has_value(), made);
    return made;
  }
  const std::vector<SpeciesMoments> moments = energy_moments(nodes, *surface, made.E_r);
  for (std::size_t a = 0; a < moments.size(); ++a) {
    const Population& population = input.plasma[a];
    made.forces.push_back(thermodynamic_forces(population, made.E_r, input.electric_drive));
    made.L.push_back(thermal_matrix(moments[a]));
    made.fluxes.push_back(fluxes(population, made.L[a], made.forces[a]));
    made.beyond.push_back(moments[a].beyond);
    made.left_out.push_back(moments[a].left_out);
  }
  made.current = currents(input.plasma, made.fluxes);
  made.total_current = std::accumulate(made.current.begin(), made.current.end(), 0.0);
  if (!options.sonine_order) return made;
  made.corrected = MomentumBalance(nodes, *options.sonine_order)
                       .solve(moments, made.forces, surface->b2_ratio(), surface->u2())
                       .fluxes;
  made.corrected_current = currents(input.plasma, made.corrected);
  made.corrected_total_current = std::accumulate(made.corrected_current.begin(), made.corrected_current.end(), 0.0);
  return made;
}

}  // namespace

Index least_solves(std::span<const RadialInput> radii, const TransportOptions& options) {
  const auto energies = static_cast<Index>(rule_of(options).size());
  Index solves = 0;
  for (const RadialInput& input : radii)
    solves += static_cast<Index>(input.plasma.size()) * energies * (input.E_r ? 1 : options.ambipolar.points + 1);
  return solves;
}

std::vector<RadialResult> radial_transport(const RadialSource& source, std::span<const RadialInput> radii,
                                           const TransportOptions& options) {
  const EnergyRule rule = rule_of(options);
  std::vector<RadialResult> made(radii.size());
  parallel_for(static_cast<Index>(radii.size()), 1, [&](Index first, Index last, Worker&) {
    for (Index i = first; i < last; ++i) {
      const auto at = static_cast<std::size_t>(i);
      made[at] = during(fmt::format("at rho = {}", radii[at].rho),
                        [&] { return at_radius(source, radii[at], rule, options); });
    }
  });
  return made;
}

}  // namespace sonde::neoclassical
