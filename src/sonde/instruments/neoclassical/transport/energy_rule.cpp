// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/transport/energy_rule.h"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <cmath>

#include "sonde/engine/base/error.h"

namespace sonde::neoclassical {
namespace {

/// Orthonormal polynomials of a weight: beta_{k+1} p_{k+1} = (x - alpha_k) p_k - beta_k p_{k-1}, p_0 = 1/sqrt(mass).
struct Recurrence {
  std::vector<double> alpha, beta;  ///< beta[0] is not used
  double mass = 1;
};

/// The weight of a node is one over the sum of the squares of p_0 .. p_{n-1} there: relatively exact where the
/// eigenvectors of the Jacobi matrix are not. Where the sum overflows the weight is 0, less than 1e-300.
double weight_at(const Recurrence& recurrence, double x) {
  double before = 0, now = 1 / std::sqrt(recurrence.mass), sum = now * now;
  for (std::size_t k = 0; k + 1 < recurrence.alpha.size(); ++k) {
    const double after =
        ((x - recurrence.alpha[k]) * now - (k > 0 ? recurrence.beta[k] * before : 0)) / recurrence.beta[k + 1];
    before = now;
    now = after;
    sum += now * now;
  }
  return std::isfinite(sum) ? 1 / sum : 0;
}

struct GaussRule {
  std::vector<double> node, weight;
};

/// Nodes are the eigenvalues of the Jacobi matrix (Golub and Welsch 1969).
GaussRule gauss(const Recurrence& recurrence) {
  const auto n = static_cast<Eigen::Index>(recurrence.alpha.size());
  Eigen::VectorXd diagonal(n), beside(n > 1 ? n - 1 : 0);
  for (Eigen::Index k = 0; k < n; ++k) diagonal[k] = recurrence.alpha[static_cast<std::size_t>(k)];
  for (Eigen::Index k = 1; k < n; ++k) beside[k - 1] = recurrence.beta[static_cast<std::size_t>(k)];
  Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver;
  solver.computeFromTridiagonal(diagonal, beside, Eigen::EigenvaluesOnly);
  GaussRule rule;
  for (const double node : solver.eigenvalues()) {
    rule.node.push_back(node);
    rule.weight.push_back(weight_at(recurrence, node));
  }
  return rule;
}

GaussRule gauss_legendre(std::size_t count) {
  Recurrence recurrence{std::vector<double>(count), std::vector<double>(count), 2};
  for (std::size_t k = 1; k < count; ++k) {
    const auto x = static_cast<double>(k);
    recurrence.beta[k] = x / std::sqrt(4 * x * x - 1);
  }
  return gauss(recurrence);
}

/// The recurrence of the weight x exp(-x^2) by the procedure of Stieltjes on a fine grid of panels, which integrates
/// every polynomial that occurs to rounding.
Recurrence maxwell_recurrence(std::size_t count) {
  const double last = 2 * std::sqrt(static_cast<double>(count)) + 7, width = 0.5;
  const GaussRule panel = gauss_legendre(24);
  std::vector<double> x, weight;
  for (double left = 0; left < last; left += width)
    for (std::size_t i = 0; i < panel.node.size(); ++i) {
      x.push_back(left + width * (1 + panel.node[i]) / 2);
      weight.push_back(width / 2 * panel.weight[i] * x.back() * std::exp(-x.back() * x.back()));
    }
  Recurrence recurrence{{}, {0}, 0.5};
  std::vector<double> before(x.size(), 0), now(x.size(), 1 / std::sqrt(recurrence.mass)), after(x.size());
  for (std::size_t k = 0; k < count; ++k) {
    double alpha = 0, norm = 0;
    for (std::size_t i = 0; i < x.size(); ++i) alpha += weight[i] * x[i] * now[i] * now[i];
    for (std::size_t i = 0; i < x.size(); ++i) {
      after[i] = (x[i] - alpha) * now[i] - recurrence.beta[k] * before[i];
      norm += weight[i] * after[i] * after[i];
    }
    recurrence.alpha.push_back(alpha);
    if (k + 1 == count) break;
    const double beta = std::sqrt(norm);
    recurrence.beta.push_back(beta);
    for (std::size_t i = 0; i < x.size(); ++i) {
      before[i] = now[i];
      now[i] = after[i] / beta;
    }
  }
  return recurrence;
}

void require_count(Index count, Index most) {
  if (count < 1 || count > most)
    throw Error(ErrorKind::bad_input, fmt::format("{} energies, expected 1 to {}", count, most));
}

}  // namespace

EnergyRule gauss_laguerre(Index count) {
  require_count(count, 256);
  Recurrence recurrence;
  for (Index k = 0; k < count; ++k) {
    recurrence.alpha.push_back(static_cast<double>(2 * k + 1));
    recurrence.beta.push_back(static_cast<double>(k));
  }
  GaussRule rule = gauss(recurrence);
  return {std::move(rule.node), std::move(rule.weight)};
}

EnergyRule without_tail(EnergyRule rule, double power) {
  const double least = 1e-17 * std::tgamma(power + 1);
  while (rule.size() > 1 && rule.weight.back() * std::pow(rule.K.back(), power) < least) {
    rule.K.pop_back();
    rule.weight.pop_back();
  }
  return rule;
}

EnergyRule maxwell_polynomials(Index count) {
  require_count(count, 64);
  const GaussRule rule = gauss(maxwell_recurrence(static_cast<std::size_t>(count)));
  EnergyRule made;
  for (std::size_t i = 0; i < rule.node.size(); ++i) {
    made.K.push_back(rule.node[i] * rule.node[i]);
    made.weight.push_back(2 * rule.weight[i]);  // dK = 2 x dx
  }
  return made;
}

}  // namespace sonde::neoclassical
