// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/solve/refinement.h"

#include <algorithm>
#include <cmath>

#include "sonde/instruments/neoclassical/operators/grid_functions.h"
#include "sonde/instruments/neoclassical/solve/corrections.h"

namespace sonde::neoclassical {
namespace {

void add(double scale, const std::vector<double>& x, std::vector<double>& y) {
  for (std::size_t i = 0; i < y.size(); ++i) y[i] += scale * x[i];
}

}  // namespace

std::size_t Refinement::bytes(Index points, Index n_xi) {
  const auto each = static_cast<std::size_t>(points * (n_xi + 1));
  return (2 * (4 + 2 * most_directions) * each + 2 * static_cast<std::size_t>(points)) * sizeof(double) +
         WholeSystem::bytes(points, n_xi);
}

void Refinement::reach(Index n_xi) {
  levels_ = n_xi + 1;
  const auto count = static_cast<std::size_t>(levels_ * equation_.points());
  work_.resize(static_cast<std::size_t>(equation_.points()));
  back_.resize(work_.size());
  for (Drive& drive : drives_) {
    for (Field* field : {&drive.solution, &drive.rest, &drive.change, &drive.effect}) field->resize(count);
    for (Direction& direction : drive.kept)
      for (Field* field : {&direction.change, &direction.effect}) field->resize(count);
  }
}

std::span<const double> Refinement::row(const Field& field, Index k) const {
  const auto n = static_cast<std::size_t>(equation_.points());
  return std::span(field).subspan(static_cast<std::size_t>(k) * n, n);
}

std::span<double> Refinement::row(Field& field, Index k) const {
  const auto n = static_cast<std::size_t>(equation_.points());
  return std::span(field).subspan(static_cast<std::size_t>(k) * n, n);
}

void Refinement::begin(const DriftKinetic::Drive& sources, Drive& drive) {
  std::fill(drive.solution.begin(), drive.solution.end(), 0.0);
  std::fill(drive.rest.begin(), drive.rest.end(), 0.0);
  for (std::size_t k = 0; k < 3; ++k)
    std::copy(sources[k].begin(), sources[k].end(), row(drive.rest, static_cast<Index>(k)).begin());
  drive.scale = largest(drive.rest);
  drive.length = std::sqrt(dot(drive.rest, drive.rest));
  drive.done = drive.scale == 0;
}

/// change = what the factors make of the rest, both drives at each k while its factors are near.
void Refinement::precondition(Elimination& factors) {
  for (Index k = levels_ - 1; k >= 0; --k)
    for (Drive& drive : drives_) {
      if (drive.done) continue;
      const std::span<double> made = row(drive.change, k);
      const std::span<const double> rest = row(drive.rest, k);
      std::copy(rest.begin(), rest.end(), work_.begin());
      if (k + 1 < levels_) equation_.add_upper(k, -1, row(drive.change, k + 1), work_);
      if (largest(work_) == 0)  // above the sources, at first
        std::fill(made.begin(), made.end(), 0.0);
      else
        factors.solve(k, work_, made);
    }
  for (Index k = 1; k < levels_; ++k)
    for (Drive& drive : drives_) {
      if (drive.done) continue;
      std::fill(work_.begin(), work_.end(), 0.0);
      equation_.add_lower(k, -1, row(drive.change, k - 1), work_);
      factors.solve(k, work_, back_);
      const std::span<double> made = row(drive.change, k);
      for (std::size_t p = 0; p < made.size(); ++p) made[p] += back_[p];
    }
}

/// One step along the new direction, made orthogonal to those before.
void Refinement::advance(Drive& drive, int iteration) {
  const int first = std::max(0, iteration - static_cast<int>(most_directions));
  for (int i = first; i < iteration; ++i) {
    const Direction& earlier = drive.kept[static_cast<std::size_t>(i) % most_directions];
    const double along = dot(earlier.effect, drive.effect);
    add(-along, earlier.effect, drive.effect);
    add(-along, earlier.change, drive.change);
  }
  const double length = std::sqrt(dot(drive.effect, drive.effect));
  Direction& kept = drive.kept[static_cast<std::size_t>(iteration) % most_directions];
  for (std::size_t i = 0; i < drive.effect.size(); ++i) {
    kept.effect[i] = drive.effect[i] / length;
    kept.change[i] = drive.change[i] / length;
  }
  const double step = dot(kept.effect, drive.rest);
  add(step, kept.change, drive.solution);
  add(-step, kept.effect, drive.rest);
}

double Refinement::last_bits(const Drive& drive) const {
  double most = 0;
  for (Index k = 0; k < levels_; ++k)
    most = std::max(most, (1 + static_cast<double>(k) / 2) * largest(row(drive.solution, k)));
  return row_rounding(equation_.largest_row, most);
}

Refinement::Outcome Refinement::run(const Case& at, Index n_xi, Elimination& factors, double tolerance) {
  const double enough = std::min(largest_residual, tolerance);
  reach(n_xi);
  system_.prepare(n_xi);
  begin(equation_.radial, drives_[0]);
  begin(equation_.parallel, drives_[1]);
  Outcome outcome;
  int slow = 0;
  while (!(drives_[0].done && drives_[1].done)) {
    if (outcome.iterations == most_iterations || slow == most_slow) return outcome;
    precondition(factors);
    bool faster = true;
    for (Drive& drive : drives_) {
      if (drive.done) continue;
      system_.apply(at, drive.change, drive.effect);
      advance(drive, outcome.iterations);
      const double length = std::sqrt(dot(drive.rest, drive.rest));
      if (!std::isfinite(length)) return outcome;
      drive.residual = largest(drive.rest) / drive.scale;
      drive.done = drive.residual <= enough || drive.residual * drive.scale <= last_bits(drive);
      faster = faster && (drive.done || length < drive.length / 2);
      drive.length = length;
    }
    slow = faster ? 0 : slow + 1;
    ++outcome.iterations;
  }
  // The last bits of the solution may be worth more than the tolerance: float64 knows what to do then.
  outcome.converged = std::max(drives_[0].residual, drives_[1].residual) <= tolerance;
  outcome.radial = response(drives_[0]);
  outcome.parallel = response(drives_[1]);
  return outcome;
}

Response Refinement::response(const Drive& drive) const {
  Response made{.residual = drive.residual};
  for (std::size_t k = 0; k < 3; ++k) {
    const std::span<const double> u = row(drive.solution, static_cast<Index>(k));
    made.radial += dot(u, equation_.radial_weights[k]);
    made.parallel += dot(u, equation_.parallel_weights[k]);
  }
  return made;
}

void Refinement::copy_lowest(std::array<Field, 3>& radial, std::array<Field, 3>& parallel) const {
  for (std::size_t k = 0; k < 3; ++k)
    for (const auto& [drive, to] : {std::pair{&drives_[0], &radial[k]}, std::pair{&drives_[1], &parallel[k]}}) {
      const std::span<const double> from = row(drive->solution, static_cast<Index>(k));
      std::copy(from.begin(), from.end(), to->begin());
    }
}

}  // namespace sonde::neoclassical
