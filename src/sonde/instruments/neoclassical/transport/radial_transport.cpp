// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/transport/radial_transport.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/neoclassical/transport/guided_search.h"
#include "sonde/instruments/neoclassical/transport/search_tables.h"

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
  made.sonine_change = not_there;
}

/// The nodes of the integrals. The highest powers of K: K^4 D11 and, with the momentum correction, K^(1 + 2 order) D33;
/// the coefficients themselves grow no faster than 1/nu_hat, which is K^2.
EnergyRule rule_of(const TransportOptions& options) {
  const EnergyRule rule = options.quadrature == EnergyQuadrature::gauss_laguerre
                              ? gauss_laguerre(options.energies)
                              : maxwell_polynomials(options.energies);
  return without_tail(rule, std::max(4, 1 + 2 * options.sonine_order.value_or(0)) + 2);
}

/// A plasma on a surface, at any field.
class Plasma {
 public:
  Plasma(const RadialInput& input, const EnergyRule& rule, const TransportOptions& options)
      : nodes_(input.plasma, rule, options.coulomb_logarithm, options.sonine_order.value_or(-1)),
        electric_drive_(input.electric_drive) {
    if (!options.sonine_order) return;
    balance_.emplace(nodes_, *options.sonine_order);
    if (*options.sonine_order > 0) lower_.emplace(nodes_, *options.sonine_order - 1);
  }
  Plasma(const Plasma&) = delete;  // the balance refers to the nodes
  Plasma& operator=(const Plasma&) = delete;

  struct State {
    std::vector<SpeciesMoments> moments;
    std::vector<Forces> forces;
    std::vector<ThermalMatrix> L;
    std::vector<Fluxes> plain, corrected;
  };

  [[nodiscard]] State at(const SurfaceSource& surface, double er) const {
    check_interrupt();
    return at(surface, er, energy_moments(nodes_, surface, er));
  }

  /// The same with the coefficients of another field.
  [[nodiscard]] State at(const SurfaceSource& surface, double er, std::vector<SpeciesMoments> moments) const {
    State made;
    made.moments = std::move(moments);
    for (std::size_t a = 0; a < made.moments.size(); ++a) {
      const Population& population = nodes_.plasma()[a];
      made.forces.push_back(thermodynamic_forces(population, er, electric_drive_));
      made.L.push_back(thermal_matrix(made.moments[a]));
      made.plain.push_back(fluxes(population, made.L[a], made.forces[a]));
    }
    if (balance_) made.corrected = balance_->solve(made.moments, made.forces, surface.b2_ratio(), surface.u2()).fluxes;
    return made;
  }

  /// <J_par B>/B0 that is left of `state` when its last Sonine order is left out; nothing at order 0.
  [[nodiscard]] std::optional<double> current_of_lower_order(const SurfaceSource& surface, const State& state) const {
    if (!lower_) return std::nullopt;
    double sum = 0;
    const std::vector<Fluxes> fluxes =
        lower_->solve(state.moments, state.forces, surface.b2_ratio(), surface.u2()).fluxes;
    for (std::size_t a = 0; a < fluxes.size(); ++a) sum += nodes_.plasma()[a].species.charge * fluxes[a].u_par;
    return sum;
  }

  /// sum_a q_a Gamma_a of the fluxes that are asked for.
  [[nodiscard]] double charge_flux(const SurfaceSource& surface, double er) const {
    const State state = at(surface, er);
    return current_of(balance_ ? state.corrected : state.plain);
  }

  /// How far each root might lie elsewhere: what the electric drift changes of the correction's current, over the
  /// slope. The drift of the equation does not keep the momentum of a symmetric field, so that no more of it is known;
  /// far from symmetry the correction, and with it this, is small. In a symmetric plasma this change is all of the
  /// current and vanishes at its roots: where it varies by more than the current at E_r = 0, the root has all of
  /// itself.
  void add_uncertainty(const SurfaceSource& surface, std::vector<AmbipolarRoot>& roots) const {
    if (!balance_ || roots.empty()) return;
    const std::vector<SpeciesMoments> at_rest = energy_moments(nodes_, surface, 0);
    const double current_at_rest = current_of(at(surface, 0, at_rest).corrected);
    const auto change = [&](double er) {
      const State state = at(surface, er), without = at(surface, er, at_rest);
      return current_of(state.corrected) - current_of(state.plain) -
             (current_of(without.corrected) - current_of(without.plain));
    };
    for (AmbipolarRoot& root : roots) {
      const double here = change(root.E_r), aside = root.E_r * 17 / 16;
      root.uncertainty = std::abs(here / root.slope);
      if (16 * std::abs(change(aside) - here) > std::abs(current_at_rest))
        root.uncertainty = std::max(root.uncertainty, std::abs(root.E_r));
    }
  }

  [[nodiscard]] const EnergyNodes& nodes() const { return nodes_; }

 private:
  [[nodiscard]] double current_of(const std::vector<Fluxes>& fluxes) const {
    double sum = 0;
    for (std::size_t a = 0; a < fluxes.size(); ++a) sum += nodes_.plasma()[a].species.charge * fluxes[a].gamma;
    return sum;
  }

  EnergyNodes nodes_;
  std::optional<MomentumBalance> balance_, lower_;  // the latter by one order
  double electric_drive_;
};

/// Returns the last table that it made.
SurfaceTable search_by_tables(const SurfaceSource& surface, const Plasma& plasma, const AmbipolarOptions& options,
                              RadialResult& result) {
  SearchTables tables(surface, plasma.nodes(), options.step() / 2,
                      std::max(std::abs(options.lowest), std::abs(options.highest)));
  std::optional<SurfaceTable> last;
  const double points_of_a_field =
      static_cast<double>(plasma.nodes().plasma().size()) * static_cast<double>(plasma.nodes().rule().size());
  const CurrentGuide guide{
      .levels = SearchTables::levels,
      .make =
          [&](int level) {
            last = tables.make(level);
            return [&plasma, table = *last](double er) { return plasma.charge_flux(table, er); };
          },
      .cost = [&](int level) { return static_cast<double>(tables.points_to_add(level)) / points_of_a_field; }};
  const GuidedRoots made = guided_roots([&](double er) { return plasma.charge_flux(surface, er); }, guide, options);
  result.search = {tables.points(), made.asked, made.error, {}};
  result.roots = made.found;
  return *last;
}

void find_field(const SurfaceSource& surface, const Plasma& plasma, const TransportOptions& options,
                RadialResult& made) {
  std::optional<SurfaceTable> table;
  if (options.search == FieldSearch::guided && surface.even_in_field())
    table = search_by_tables(surface, plasma, options.ambipolar, made);
  else
    made.roots = ambipolar_roots([&](double er) { return plasma.charge_flux(surface, er); }, options.ambipolar);
  plasma.add_uncertainty(surface, made.roots.roots);
  settle(made.roots, options.ambipolar.choice);
  made.without_root = !made.roots.chosen;
  made.E_r = made.without_root ? not_there : made.roots.roots[*made.roots.chosen].E_r;
  if (table && !made.without_root) made.search.by_table = plasma.at(*table, made.E_r).L;
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
  const Plasma plasma(input, rule, options);
  require_neutral(input.plasma);
  RadialResult made;
  made.rho = input.rho;
  if (input.E_r)
    made.E_r = *input.E_r;
  else
    find_field(*surface, plasma, options, made);
  if (made.without_root) {
    set_nan(input.plasma.size(), options.sonine_order.has_value(), made);
    return made;
  }
  Plasma::State state = plasma.at(*surface, made.E_r);
  const std::optional<double> lower = plasma.current_of_lower_order(*surface, state);
  for (const SpeciesMoments& moments : state.moments) {
    made.beyond.push_back(moments.beyond);
    made.left_out.push_back(moments.left_out);
  }
  made.forces = std::move(state.forces);
  made.L = std::move(state.L);
  made.fluxes = std::move(state.plain);
  made.current = currents(input.plasma, made.fluxes);
  made.total_current = std::accumulate(made.current.begin(), made.current.end(), 0.0);
  if (!options.sonine_order) return made;
  made.without_u2 = !surface->u2();
  made.corrected = std::move(state.corrected);
  made.corrected_current = currents(input.plasma, made.corrected);
  made.corrected_total_current = std::accumulate(made.corrected_current.begin(), made.corrected_current.end(), 0.0);
  made.sonine_change = lower ? made.corrected_total_current - *lower : not_there;
  return made;
}

}  // namespace

Index expected_solves(std::span<const RadialInput> radii, const TransportOptions& options) {
  const auto energies = static_cast<Index>(rule_of(options).size());
  Index solves = 0;
  for (const RadialInput& input : radii) {
    const bool guided = options.search == FieldSearch::guided && !input.E_r;
    const Index fields = input.E_r ? 1 : guided ? 8 : options.ambipolar.points + 1;  // one root and its uncertainty
    solves += static_cast<Index>(input.plasma.size()) * energies * fields;
    if (guided) solves += SearchTables::usual_points;
  }
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

std::vector<RadialResult> interpolated_again(const RadialSource& table, std::vector<RadialInput> radii,
                                             std::span<const RadialResult> solved, TransportOptions options) {
  options.sonine_order.reset();
  for (std::size_t i = 0; i < radii.size(); ++i) radii[i].E_r = std::isnan(solved[i].E_r) ? 0 : solved[i].E_r;
  return radial_transport(table, radii, options);
}

}  // namespace sonde::neoclassical
