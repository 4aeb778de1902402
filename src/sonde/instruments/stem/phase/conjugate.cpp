// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <limits>

#include "sonde/engine/base/interrupt.h"
#include "sonde/instruments/stem/phase/cosine_solver.h"
#include "sonde/instruments/stem/phase/integrate.h"

namespace sonde::stem {
namespace {

/// Weights of the pairs (here, right) and (here, below); 0 where one is missing or outside.
struct Pairs {
  std::vector<double> right, below;
};

Pairs pairs_of(const VectorField& g, bool weigh_counts) {
  const auto count = static_cast<std::size_t>(g.positions());
  Pairs pairs{std::vector<double>(count), std::vector<double>(count)};
  double mean = 0;
  for (std::size_t i = 0; i < count; ++i)
    if (g.valid[i] != 0) mean += g.counts[i] / static_cast<double>(g.positions() - g.missing());
  const auto weight = [&](std::size_t a, std::size_t b) {
    if (g.valid[a] == 0 || g.valid[b] == 0) return 0.0;
    return weigh_counts ? 2 / (mean / g.counts[a] + mean / g.counts[b]) : 1.0;
  };
  for (Index row = 0; row < g.rows; ++row)
    for (Index col = 0; col < g.cols; ++col) {
      const auto here = static_cast<std::size_t>(row * g.cols + col);
      if (col + 1 < g.cols) pairs.right[here] = weight(here, here + 1);
      if (row + 1 < g.rows) pairs.below[here] = weight(here, here + static_cast<std::size_t>(g.cols));
    }
  return pairs;
}

/// Calls flow(here, other, step, weight, x) for every pair with a weight; x: along the columns.
template <class Flow>
void for_each_pair(const VectorField& g, const Pairs& pairs, Flow&& flow) {
  const auto width = static_cast<std::size_t>(g.cols);
  for (std::size_t here = 0; here < pairs.right.size(); ++here) {
    if (pairs.right[here] > 0) flow(here, here + 1, g.step_col, pairs.right[here], true);
    if (pairs.below[here] > 0) flow(here, here + width, g.step_row, pairs.below[here], false);
  }
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// Takes the mean of every connected part away; what is missing becomes NaN. Returns how many parts there are.
Index level(const VectorField& g, const Pairs& pairs, std::vector<double>& image) {
  const auto width = static_cast<std::size_t>(g.cols);
  std::vector<std::uint8_t> seen(image.size());
  std::vector<std::size_t> part;
  Index regions = 0;
  for (std::size_t start = 0; start < image.size(); ++start) {
    if (g.valid[start] == 0) image[start] = std::numeric_limits<double>::quiet_NaN();
    if (g.valid[start] == 0 || seen[start] != 0) continue;
    part.assign(1, start);
    seen[start] = 1;
    double sum = 0;
    for (std::size_t next = 0; next < part.size(); ++next) {
      const std::size_t here = part[next];
      sum += image[here];
      const auto visit = [&](double weight, std::size_t other) {
        if (!(weight > 0) || seen[other] != 0) return;
        seen[other] = 1;
        part.push_back(other);
      };
      visit(pairs.right[here], here + 1);
      visit(pairs.below[here], here + width);
      if (here > 0) visit(pairs.right[here - 1], here - 1);
      if (here >= width) visit(pairs.below[here - width], here - width);
    }
    for (const std::size_t here : part) image[here] -= sum / static_cast<double>(part.size());
    ++regions;
  }
  return regions;
}

}  // namespace

ConjugateIntegral integrate_conjugate(const VectorField& g, const ConjugateSettings2d& settings) {
  const Pairs pairs = pairs_of(g, settings.weigh_counts);
  const auto count = static_cast<std::size_t>(g.positions());
  std::vector<double> residual(count), image(count), direction(count), product(count);
  for_each_pair(g, pairs, [&](std::size_t a, std::size_t b, double step, double weight, bool x) {
    const double flow = weight * (x ? g.x[a] + g.x[b] : g.y[a] + g.y[b]) / (2 * step);
    residual[a] -= flow;
    residual[b] += flow;
  });
  const auto apply = [&] {
    for (std::size_t i = 0; i < count; ++i) product[i] = settings.regularise * direction[i];
    for_each_pair(g, pairs, [&](std::size_t a, std::size_t b, double step, double weight, bool) {
      const double change = weight * (direction[b] - direction[a]) / (step * step);
      product[a] -= change;
      product[b] += change;
    });
  };
  ConjugateIntegral found;
  CosineSolver near(g.rows, g.cols, g.step_row, g.step_col, settings.regularise);
  const double start = std::sqrt(dot(residual, residual));
  std::vector<double> better = residual;
  near.solve(better);
  direction = better;
  double slope = dot(residual, better);
  found.converged = start == 0;
  while (!found.converged && found.iterations < settings.iterations) {
    check_interrupt();
    apply();
    const double step = slope / dot(direction, product);
    for (std::size_t i = 0; i < count; ++i) {
      image[i] += step * direction[i];
      residual[i] -= step * product[i];
    }
    ++found.iterations;
    found.residual = std::sqrt(dot(residual, residual)) / start;
    found.converged = found.residual <= settings.tolerance;
    better = residual;
    near.solve(better);
    const double before = slope;
    slope = dot(residual, better);
    for (std::size_t i = 0; i < count; ++i) direction[i] = better[i] + slope / before * direction[i];
  }
  found.values = std::move(image);
  found.regions = level(g, pairs, found.values);
  return found;
}

}  // namespace sonde::stem
