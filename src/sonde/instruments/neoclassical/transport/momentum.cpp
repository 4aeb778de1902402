// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/transport/momentum.h"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "sonde/engine/base/error.h"

namespace sonde::neoclassical {
namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Corner = Eigen::Map<const RowMajor, 0, Eigen::OuterStride<>>;

/// The leading square of one that may have been taken to a higher order.
Corner corner(std::span<const double> square, Eigen::Index terms, int held) {
  return {square.data(), terms, terms, Eigen::OuterStride<>(held + 1)};
}

Eigen::Map<const Eigen::VectorXd> leading(const std::vector<double>& line, Eigen::Index terms) {
  return {line.data(), terms};
}

}  // namespace

MomentumBalance::MomentumBalance(const EnergyNodes& nodes, int order)
    : nodes_(nodes),
      order_(order),
      held_(static_cast<std::size_t>(std::max(order, 1)) + 1) {  // a flow that varies along B has the orders 0 and 1
  if (order < 0 || order > nodes.order())
    throw Error(ErrorKind::internal, fmt::format("order {} of moments of order {}", order, nodes.order()));
  const std::vector<Population>& plasma = nodes.plasma();
  const std::size_t count = plasma.size(), square = held_ * held_;
  pair_.assign(count * count * square, 0);
  for (std::size_t a = 0; a < count; ++a)
    for (std::size_t b = 0; b < count; ++b) {
      const double va = plasma[a].thermal_speed(), vb = plasma[b].thermal_speed();
      const FrictionMatrices matrices = friction_matrices(plasma[a].species.mass / plasma[b].species.mass,
                                                          vb * vb / (va * va), static_cast<int>(held_) - 1);
      const double rate = inverse_collision_time(plasma[a], plasma[b], nodes.logarithms()[a * count + b]);
      for (std::size_t i = 0; i < square; ++i) {
        pair_[(a * count + a) * square + i] += rate * matrices.M[i];
        pair_[(a * count + b) * square + i] += rate * matrices.N[i];
      }
    }
}

MomentumCorrection MomentumBalance::solve(std::span<const SpeciesMoments> moments, std::span<const Forces> forces,
                                          double b2_ratio, std::optional<double> u2) const {
  const std::vector<Population>& plasma = nodes_.plasma();
  const std::size_t count = plasma.size();
  const Eigen::Index terms = order_ + 1, size = static_cast<Eigen::Index>(count) * terms;
  const std::vector<double> norms = sonine_norms(order_);
  const Eigen::VectorXd w = Eigen::Map<const Eigen::VectorXd>(norms.data(), terms);
  const auto friction = [&](std::size_t a, std::size_t b) {
    return corner(std::span(pair_).subspan((a * count + b) * held_ * held_), terms, static_cast<int>(held_) - 1);
  };
  const auto row_of = [&](std::size_t a) { return static_cast<Eigen::Index>(a) * terms; };

  // Unknowns p_aj = w_j c_aj, in which { nu S_j y } = sum_k { nu S_j S_k } p_k. The source that scattering by pitch
  // has not is nu sum_i S_i e_i with e = p + { nu S S }^-1 (friction of p), and it makes
  //   { nu S_j y } = drive_j + F sum_i [nu^2 S_j S_i]_33 e_i .
  Eigen::MatrixXd system = Eigen::MatrixXd::Zero(size, size);
  Eigen::VectorXd drive(size);
  std::vector<double> mobility;                       // F_a
  std::vector<Eigen::LLT<Eigen::MatrixXd>> weighted;  // factors of { nu S S }
  for (std::size_t a = 0; a < count; ++a) {
    const double speed = plasma[a].thermal_speed();
    mobility.push_back(2 / (speed * speed * b2_ratio));
    const SpeciesMoments& of = moments[a];
    weighted.emplace_back(corner(nodes_.friction_weights(a), terms, nodes_.order()));
    // In units of { nu S S }: what of the flow the field holds back is 1 - response.
    const Eigen::MatrixXd response =
        mobility[a] * weighted[a].solve(corner(of.nunuss_33, terms, nodes_.order()).eval());
    system.block(row_of(a), row_of(a), terms, terms) += Eigen::MatrixXd::Identity(terms, terms) - response;
    for (std::size_t b = 0; b < count; ++b)
      system.block(row_of(a), row_of(b), terms, terms) -= response * weighted[a].solve(friction(a, b).eval());
    drive.segment(row_of(a), terms) =
        -weighted[a].solve(leading(of.nus_31, terms) * forces[a].A1 + leading(of.nuks_31, terms) * forces[a].A2 +
                           leading(of.nus_33, terms) * forces[a].A3);
  }
  // In normalised polynomials, or the condition of high orders would hide a singular balance.
  Eigen::VectorXd scale(size);
  for (std::size_t a = 0; a < count; ++a) scale.segment(row_of(a), terms) = w.cwiseSqrt().cwiseInverse();
  system = scale.asDiagonal() * system * scale.cwiseInverse().asDiagonal();
  const Eigen::PartialPivLU<Eigen::MatrixXd> factors(system);
  if (!(factors.rcond() > 1e-15))
    throw Error(ErrorKind::not_converged, "the balance of momentum is singular: nothing holds the flows back")
        .hint("a uniform field has no trapped particles; leave the momentum correction out there");
  const Eigen::VectorXd p = factors.solve(scale.cwiseProduct(drive)).cwiseQuotient(scale);

  MomentumCorrection made{order_, {}, {}};
  for (std::size_t a = 0; a < count; ++a) {
    const Population& population = plasma[a];
    const SpeciesMoments& of = moments[a];
    Eigen::VectorXd pushed = Eigen::VectorXd::Zero(terms);
    for (std::size_t b = 0; b < count; ++b) pushed += friction(a, b) * p.segment(row_of(b), terms);
    const Eigen::VectorXd e = p.segment(row_of(a), terms) + weighted[a].solve(pushed);
    Fluxes corrected = fluxes(population, thermal_matrix(of), forces[a]);
    const double source = population.density * mobility[a];
    corrected.gamma -= source * leading(of.nus_13, terms).dot(e);
    corrected.q -= source * population.temperature * leading(of.nuks_13, terms).dot(e);
    corrected.u_par += source * leading(of.nus_33, terms).dot(e);
    made.fluxes.push_back(corrected);
    for (Eigen::Index j = 0; j < terms; ++j) made.c.push_back(p[row_of(a) + j] / w[j]);
  }
  if (u2) correct_varying_flows(forces, *u2, made.fluxes);
  return made;
}

void MomentumBalance::correct_varying_flows(std::span<const Forces> forces, double u2,
                                            std::vector<Fluxes>& fluxes) const {
  // y = U (T/q) (A1 + K A2) whatever collisions do. Scattering by itself let it drive -n (m/q) <U^2> { nu y/U } of
  // particles through the surface; friction proper drives (m/q) <U^2> n { C y/U }, which conserves momentum.
  const std::vector<Population>& plasma = nodes_.plasma();
  const std::size_t count = plasma.size();
  const auto flow = [&](std::size_t a) {  // in S_0 and S_1: K = 5/2 - S_1
    const double unit = plasma[a].temperature / plasma[a].species.charge;
    return Eigen::Vector2d(unit * (forces[a].A1 + 2.5 * forces[a].A2), -unit * forces[a].A2);
  };
  for (std::size_t a = 0; a < count; ++a) {
    const Population& population = plasma[a];
    Eigen::Vector2d kept = Eigen::Vector2d::Zero();  // { nu y }, { K nu y }
    for (std::size_t i = 0; i < nodes_.rule().size(); ++i) {
      const double energy = nodes_.rule().K[i], nu = nodes_.frequency(a)[i],
                   y = flow(a).dot(Eigen::Vector2d(1, 2.5 - energy));
      kept += sonine_mean_weight(nodes_.rule(), i) * nu * y * Eigen::Vector2d(1, energy);
    }
    Eigen::Vector2d pushed = Eigen::Vector2d::Zero();
    for (std::size_t b = 0; b < count; ++b)
      pushed +=
          corner(std::span(pair_).subspan((a * count + b) * held_ * held_), 2, static_cast<int>(held_) - 1) * flow(b);
    const double source = population.density * population.species.mass / population.species.charge * u2;
    fluxes[a].gamma += source * (kept[0] + pushed[0]);
    fluxes[a].q += source * population.temperature * (kept[1] + 2.5 * pushed[0] - pushed[1]);
  }
}

}  // namespace sonde::neoclassical
