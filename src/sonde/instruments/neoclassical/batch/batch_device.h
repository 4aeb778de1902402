// SPDX-License-Identifier: Apache-2.0
// Private to the room: kernels beside those of engine/math/dense, as templates over the thread block
// (engine/device/team.h).
#pragma once

#include <cmath>

#include "sonde/engine/array/view.h"
#include "sonde/engine/device/run_body.h"

namespace sonde::neoclassical::device {

/// a += tau v v^T, tau the largest entry of the diagonal, or 1 where that is 0. A thread block for each problem.
struct Pin {
  View<const double, 2> v;  ///< (1, n)
  View<double, 3> a;

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    const Index n = a.extent[1];
    for (Index problem = block.index(); problem < a.extent[0]; problem += block.count()) {
      const double most = block.largest(n, [&](Index i) { return a(problem, i, i); });
      const double tau = most == 0 ? 1 : most;
      block.each(n * n, [&](Index i) { a(problem, i / n, i % n) += tau * v(0, i / n) * v(0, i % n); });
    }
  }
};

/// The largest magnitude on the grid of functions given by their even and odd parts: of a pair of points
/// (|even| + |odd|) / sqrt 2. A thread block for each problem and drive.
struct LargestOnGrid {
  View<const double, 3> of;                             ///< (problem, row, drive)
  Index even[3] = {-1, -1, -1}, odd[3] = {-1, -1, -1};  ///< first row of each k; -1: zero
  Index pairs = 0;
  double share = 1;  ///< of a pair's even and odd function at its points; without parity all are "even", the share is 1
  View<double, 3> to;  ///< (problem, 1, drive)

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    const Index drives = of.extent[2];
    for (Index which = block.index(); which < of.extent[0] * drives; which += block.count()) {
      const Index problem = which / drives, drive = which % drives;
      const double most = block.largest(3 * (pairs + 1), [&](Index i) {
        const Index k = i / (pairs + 1), point = i % (pairs + 1);
        double sum = 0;
        if (even[k] >= 0) sum = std::fabs(of(problem, even[k] + point, drive));
        if (odd[k] >= 0 && point > 0) sum += std::fabs(of(problem, odd[k] + point - 1, drive));
        return point > 0 ? share * sum : sum;
      });
      block.once([&] { to(problem, 0, drive) = most; });
    }
  }
};

/// to(p, w, d) = sum of weights(row, w) function(p, row, d). A thread block for each problem.
struct Weigh {
  View<const double, 3> of;
  View<const double, 2> weights;
  View<double, 3> to;

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    for (Index problem = block.index(); problem < of.extent[0]; problem += block.count()) {
      double sums[4];
      block.sums(of.extent[1], sums, [&](Index row, double* partial) {
        for (int i = 0; i < 4; ++i) partial[i] += weights(row, i / 2) * of(problem, row, i % 2);
      });
      block.once([&] {
        for (int i = 0; i < 4; ++i) to(problem, i / 2, i % 2) = sums[i];
      });
    }
  }
};

}  // namespace sonde::neoclassical::device
