// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/solve/substitution.h"

#include <algorithm>
#include <span>
#include <utility>

#include "sonde/instruments/neoclassical/operators/grid_functions.h"
#include "sonde/instruments/neoclassical/solve/corrections.h"

namespace sonde::neoclassical {
namespace {

using Field = Substitution::Field;

void add(double scale, const std::array<Field, 3>& change, std::array<Field, 3>& u) {
  for (std::size_t k = 0; k < 3; ++k)
    for (std::size_t p = 0; p < u[k].size(); ++p) u[k][p] += scale * change[k][p];
}

/// u + low += scale change, u as near to the sum as a double is. (Dekker, Numer. Math. 18 (1971) 224.)
void add_to_both(double scale, const std::array<Field, 3>& change, std::array<Field, 3>& u, std::array<Field, 3>& low) {
  for (std::size_t k = 0; k < 3; ++k)
    for (std::size_t p = 0; p < u[k].size(); ++p) {
      const double less = low[k][p] + scale * change[k][p], sum = u[k][p] + less;
      low[k][p] = less - (sum - u[k][p]);
      u[k][p] = sum;
    }
}

}  // namespace

Substitution::Substitution(const DriftKinetic& equation) : equation_(equation) {
  const auto n = static_cast<std::size_t>(equation.points());
  for (auto* fields : {&rest_, &change_, &low_})
    for (Field& each : *fields) each.resize(n);
  work_.resize(n);
  precise_.resize(n);
  precise_work_.resize(n);
}

std::size_t Substitution::bytes(Index points) {
  return static_cast<std::size_t>(points) * (10 * sizeof(double) + 2 * sizeof(long double));
}

Response Substitution::run(const Case& at, Elimination& elimination, const DriftKinetic::Drive& sources,
                           double tolerance, std::array<Field, 3>& u) {
  for (Field& each : u) std::fill(each.begin(), each.end(), 0.0);
  for (Field& each : low_) std::fill(each.begin(), each.end(), 0.0);
  const double scale = largest(sources);
  if (scale == 0) return {};
  double left = refine(at, elimination, sources, scale, u);
  if (left > tolerance * scale) left = refine_precisely(at, elimination, sources, tolerance * scale, u);
  Response made = response(equation_, u, left / scale);
  const Response rest = response(equation_, low_, 0);
  made.radial += rest.radial;
  made.parallel += rest.parallel;
  return made;
}

/// Refined while that helps. Returns what is left.
double Substitution::refine(const Case& at, Elimination& elimination, const DriftKinetic::Drive& sources, double scale,
                            std::array<Field, 3>& u) {
  rest_ = sources;
  Corrections corrections(scale);
  for (Corrections::Next next = Corrections::Next::correct; next == Corrections::Next::correct;) {
    substitute(at, elimination);
    add(1, change_, u);
    remain(at, elimination, sources, u);
    next = corrections.after(largest(rest_), last_bits(equation_, u));
    if (next == Corrections::Next::take_back) add(-1, change_, u);
  }
  return corrections.left();
}

double Substitution::refine_precisely(const Case& at, Elimination& elimination, const DriftKinetic::Drive& sources,
                                      double enough, std::array<Field, 3>& u) {
  constexpr int most_rounds = 10;  // each gains a digit or more; where the factors are too poor for that, it ends
  remain_precisely(at, elimination, sources, u);
  double left = largest(rest_);
  for (int round = 0; round < most_rounds && left > enough; ++round) {
    substitute(at, elimination);
    add_to_both(1, change_, u, low_);
    remain_precisely(at, elimination, sources, u);
    const double now = largest(rest_);
    if (!(now < left)) {
      add_to_both(-1, change_, u, low_);
      break;
    }
    left = now;
  }
  return left;
}

/// The change that the rest asks for; the rest serves as the right side.
void Substitution::substitute(const Case& at, Elimination& elimination) {
  elimination.solve(2, rest_[2], work_);
  equation_.add_upper(1, -1, work_, rest_[1]);
  elimination.solve(1, rest_[1], work_);
  equation_.add_upper(0, -1, work_, rest_[0]);
  for (const Field& each : equation_.left_out(at)) take_out<double>(each, rest_[0]);
  elimination.solve(0, rest_[0], change_[0]);
  equation_.add_lower(1, -1, change_[0], rest_[1]);
  elimination.solve(1, rest_[1], change_[1]);
  equation_.add_lower(2, -1, change_[1], rest_[2]);
  elimination.solve(2, rest_[2], change_[2]);
}

void Substitution::remain(const Case& at, Elimination& elimination, const DriftKinetic::Drive& sources,
                          const std::array<Field, 3>& u) {
  rest_ = sources;
  equation_.add_diagonal(0, at, -1, u[0], rest_[0]);
  equation_.add_upper(0, -1, u[1], rest_[0]);
  for (const Field& each : equation_.left_out(at)) take_out<double>(each, rest_[0]);
  equation_.add_lower(1, -1, u[0], rest_[1]);
  equation_.add_diagonal(1, at, -1, u[1], rest_[1]);
  equation_.add_upper(1, -1, u[2], rest_[1]);
  equation_.add_lower(2, -1, u[1], rest_[2]);
  elimination.multiply_top(u[2], work_);
  for (std::size_t p = 0; p < work_.size(); ++p) rest_[2][p] -= work_[p];
}

/// Of u + low.
void Substitution::remain_precisely(const Case& at, Elimination& elimination, const DriftKinetic::Drive& sources,
                                    const std::array<Field, 3>& u) {
  const std::span<long double> row = precise_;
  for (Index k = 0; k < 3; ++k) {
    const auto i = static_cast<std::size_t>(k);
    std::copy(sources[i].begin(), sources[i].end(), row.begin());
    for (const std::array<Field, 3>* part : {&u, &std::as_const(low_)}) {
      if (k > 0) equation_.add_lower(k, -1, (*part)[i - 1], row);
      if (k < 2) {
        equation_.add_diagonal(k, at, -1, (*part)[i], row);
        equation_.add_upper(k, -1, (*part)[i + 1], row);
      } else {
        elimination.multiply_top((*part)[2], std::span<long double>(precise_work_));
        for (std::size_t p = 0; p < row.size(); ++p) row[p] -= precise_work_[p];
      }
    }
    // Along the null vector v of k = 0 neither sources nor operators have a part but for the rounding of their entries,
    // which no u changes.
    if (k == 0) {
      take_out<long double>(equation_.null_vector, row);
      for (const Field& each : equation_.left_out(at)) take_out<long double>(each, row);
    }
    std::transform(row.begin(), row.end(), rest_[i].begin(),
                   [](long double value) { return static_cast<double>(value); });
  }
}

}  // namespace sonde::neoclassical
