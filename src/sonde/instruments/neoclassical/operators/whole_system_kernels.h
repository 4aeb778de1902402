// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sonde/instruments/neoclassical/operators/sparse_rows.h"

namespace sonde::neoclassical {

/// By Legendre index: the scales of L_k and U_k, those times their shifts, and D_k without the electric field.
struct Coupling {
  std::vector<double> lower, lower_shift, upper, upper_shift, collisions;
};

/// The loops of WholeSystem, on arrays [point][k].
namespace cpu {

/// y += scale (A x) for every one of `lanes` vectors.
void add_products(const SparseRows& a, double scale, Index lanes, const double* x, double* y);

/// y_k = collisions_k x_k + L_k x_{k-1} + U_k x_{k+1}, with `streamed` = A x.
void couple(const Coupling& coupling, const std::vector<double>& mirror, const double* x, const double* streamed,
            double* y);

}  // namespace cpu
}  // namespace sonde::neoclassical
