// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/transport/momentum.h"

#include <fmt/format.h>

#include <Eigen/LU>
#include <cmath>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/neoclassical/transport/friction.h"

namespace sonde::neoclassical {
namespace {

/// The matrices between all pairs, over their collision times: self includes the field part of the own species.
struct Friction {
  int order;
  std::size_t species;
  std::vector<Eigen::MatrixXd> pair;  ///< [a][b]: N_ab/tau_ab, and Z_a where a = b
};

Friction friction_of(const EnergyNodes& nodes, int order) {
  const std::vector<Population>& plasma = nodes.plasma();
  const std::size_t count = plasma.size();
  const Eigen::Index terms = order + 1;
  Friction made{order, count, std::vector<Eigen::MatrixXd>(count * count, Eigen::MatrixXd::Zero(terms, terms))};
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  for (std::size_t a = 0; a < count; ++a)
    for (std::size_t b = 0; b < count; ++b) {
      const double va = plasma[a].thermal_speed(), vb = plasma[b].thermal_speed();
      const FrictionMatrices matrices =
          friction_matrices(plasma[a].species.mass / plasma[b].species.mass, vb * vb / (va * va), order);
      const double rate = inverse_collision_time(plasma[a], plasma[b], nodes.logarithms()[a * count + b]);
      made.pair[a * count + a] += rate * Eigen::Map<const RowMajor>(matrices.M.data(), terms, terms);
      made.pair[a * count + b] += rate * Eigen::Map<const RowMajor>(matrices.N.data(), terms, terms);
    }
  return made;
}

/// The leading square of moments that may have been taken to a higher order.
Eigen::MatrixXd leading(const std::vector<double>& square, int order, int held) {
  Eigen::MatrixXd made(order + 1, order + 1);
  for (int j = 0; j <= order; ++j)
    for (int k = 0; k <= order; ++k)
      made(j, k) =
          square[static_cast<std::size_t>(j) * (static_cast<std::size_t>(held) + 1) + static_cast<std::size_t>(k)];
  return made;
}

Eigen::VectorXd leading(const std::vector<double>& line, int order) {
  return Eigen::Map<const Eigen::VectorXd>(line.data(), order + 1);
}

}  // namespace

MomentumCorrection correct_momentum(const EnergyNodes& nodes, std::span<const SpeciesMoments> moments,
                                    std::span<const Forces> forces, double b2_ratio, int order) {
  if (order < 0 || order > nodes.order())
    throw Error(ErrorKind::internal, fmt::format("order {} of moments of order {}", order, nodes.order()));
  const std::vector<Population>& plasma = nodes.plasma();
  const std::size_t count = plasma.size();
  const Eigen::Index terms = order + 1, size = static_cast<Eigen::Index>(count) * terms;
  const Friction friction = friction_of(nodes, order);
  const std::vector<double> norms = sonine_norms(order);
  const Eigen::VectorXd w = Eigen::Map<const Eigen::VectorXd>(norms.data(), terms);

  Eigen::MatrixXd system = Eigen::MatrixXd::Identity(size, size);
  Eigen::VectorXd drive(size);
  std::vector<double> mobility;  // F_a
  for (std::size_t a = 0; a < count; ++a) {
    const double speed = plasma[a].thermal_speed();
    mobility.push_back(2 / (speed * speed * b2_ratio));
    const SpeciesMoments& of = moments[a];
    const Eigen::Index row = static_cast<Eigen::Index>(a) * terms;
    const Eigen::MatrixXd response = leading(of.ss_33, order, nodes.order()) * w.asDiagonal();
    for (std::size_t b = 0; b < count; ++b) {
      Eigen::MatrixXd block = response * friction.pair[a * count + b];
      if (a == b) block += leading(of.nuss_33, order, nodes.order());
      system.block(row, static_cast<Eigen::Index>(b) * terms, terms, terms) -= mobility[a] * block * w.asDiagonal();
    }
    drive.segment(row, terms) = -(leading(of.s_31, order) * forces[a].A1 + leading(of.ks_31, order) * forces[a].A2 +
                                  leading(of.s_33, order) * forces[a].A3);
  }
  // In normalised polynomials, or the condition of high orders would hide a singular balance.
  Eigen::VectorXd scale(size);
  for (std::size_t a = 0; a < count; ++a) scale.segment(static_cast<Eigen::Index>(a) * terms, terms) = w.cwiseSqrt();
  system = scale.asDiagonal() * system * scale.cwiseInverse().asDiagonal();
  const Eigen::PartialPivLU<Eigen::MatrixXd> factors(system);
  if (!(factors.rcond() > 1e-15))
    throw Error(ErrorKind::not_converged, "the balance of momentum is singular: nothing holds the flows back")
        .hint("a uniform field has no trapped particles; leave the momentum correction out there");
  const Eigen::VectorXd c = factors.solve(scale.cwiseProduct(drive)).cwiseQuotient(scale);

  MomentumCorrection made{order, {c.begin(), c.end()}, {}};
  for (std::size_t a = 0; a < count; ++a) {
    const Population& population = plasma[a];
    const SpeciesMoments& of = moments[a];
    // Sources of the kinetic equation that the flows make: sum_k S_k (own)_k + nu_a sum_m S_m (kept)_m.
    const Eigen::Index row = static_cast<Eigen::Index>(a) * terms;
    const Eigen::VectorXd kept = w.cwiseProduct(c.segment(row, terms));
    Eigen::VectorXd own = Eigen::VectorXd::Zero(terms);
    for (std::size_t b = 0; b < count; ++b)
      own += friction.pair[a * count + b] * w.cwiseProduct(c.segment(static_cast<Eigen::Index>(b) * terms, terms));
    own = w.cwiseProduct(own);
    const double particles = leading(of.s_13, order).dot(own) + leading(of.nus_13, order).dot(kept),
                 energy = leading(of.ks_13, order).dot(own) + leading(of.nuks_13, order).dot(kept);
    Fluxes corrected = fluxes(population, thermal_matrix(of), forces[a]);
    corrected.gamma -= population.density * mobility[a] * particles;
    corrected.q -= population.density * population.temperature * mobility[a] * energy;
    corrected.u_par = population.density * c[row];
    made.fluxes.push_back(corrected);
  }
  return made;
}

}  // namespace sonde::neoclassical
