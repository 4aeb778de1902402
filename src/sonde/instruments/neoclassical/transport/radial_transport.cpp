// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/transport/radial_transport.h"

#include <fmt/format.h>

#include <numeric>

#include "sonde/engine/base/error.h"
#include "sonde/engine/device/parallel.h"

namespace sonde::neoclassical {
namespace {

double charge_flux(const EnergyNodes& nodes, const SurfaceSource& surface, double er, double electric_drive) {
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
  made.E_r = made.without_root ? 0 : made.roots.roots[*made.roots.chosen].E_r;
}

std::vector<double> currents(const std::vector<Population>& plasma, const std::vector<Fluxes>& fluxes) {
  std::vector<double> made;
  for (std::size_t a = 0; a < fluxes.size(); ++a) made.push_back(plasma[a].species.charge * fluxes[a].u_par);
  return made;
}

RadialResult at_radius(const RadialSource& source, const RadialInput& input, const EnergyRule& rule,
                       const TransportOptions& options) {
  const std::unique_ptr<SurfaceSource> surface = source.at(input.rho);
  const EnergyNodes nodes(input.plasma, rule, options.coulomb_logarithm, options.sonine_order.value_or(-1));
  RadialResult made;
  made.rho = input.rho;
  if (input.E_r)
    made.E_r = *input.E_r;
  else
    find_field(*surface, input, rule, options, made);
  const std::vector<SpeciesMoments> moments = energy_moments(nodes, *surface, made.E_r);
  for (std::size_t a = 0; a < moments.size(); ++a) {
    const Population& population = input.plasma[a];
    made.forces.push_back(thermodynamic_forces(population, made.E_r, input.electric_drive));
    made.L.push_back(thermal_matrix(moments[a]));
    made.fluxes.push_back(fluxes(population, made.L[a], made.forces[a]));
    made.beyond.push_back(moments[a].beyond);
  }
  made.current = currents(input.plasma, made.fluxes);
  made.total_current = std::accumulate(made.current.begin(), made.current.end(), 0.0);
  if (!options.sonine_order) return made;
  made.corrected = correct_momentum(nodes, moments, made.forces, surface->b2_ratio(), *options.sonine_order).fluxes;
  made.corrected_current = currents(input.plasma, made.corrected);
  made.corrected_total_current = std::accumulate(made.corrected_current.begin(), made.corrected_current.end(), 0.0);
  return made;
}

}  // namespace

std::vector<RadialResult> radial_transport(const RadialSource& source, std::span<const RadialInput> radii,
                                           const TransportOptions& options) {
  const EnergyRule rule = options.quadrature == EnergyQuadrature::gauss_laguerre
                              ? gauss_laguerre(options.energies)
                              : maxwell_polynomials(options.energies);
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
