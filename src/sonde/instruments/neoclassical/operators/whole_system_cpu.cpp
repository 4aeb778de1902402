// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/device/multiversion.h"
#include "sonde/instruments/neoclassical/operators/whole_system_kernels.h"

namespace sonde::neoclassical::cpu {

SONDE_MULTIVERSION
void add_products(const SparseRows& a, double scale, Index lanes, const double* x, double* y) {
  const Index rows = a.rows();
  const Index *const first = a.first.data(), *const column = a.column.data();
  const double* const value = a.value.data();
  for (Index row = 0; row < rows; ++row) {
    double* const to = y + row * lanes;
    for (Index at = first[row]; at < first[row + 1]; ++at) {
      const double* const from = x + column[at] * lanes;
      const double factor = scale * value[at];
      for (Index lane = 0; lane < lanes; ++lane) to[lane] += factor * from[lane];
    }
  }
}

SONDE_MULTIVERSION
void couple(const Coupling& coupling, const std::vector<double>& mirror, const double* x, const double* streamed,
            double* y) {
  const auto levels = static_cast<Index>(coupling.collisions.size()), points = static_cast<Index>(mirror.size());
  const double *const lower = coupling.lower.data(), *const lower_shift = coupling.lower_shift.data(),
                      *const upper = coupling.upper.data(), *const upper_shift = coupling.upper_shift.data(),
                      *const collisions = coupling.collisions.data();
  for (Index point = 0; point < points; ++point) {
    const double *const from = x + point * levels, *const along = streamed + point * levels;
    double* const to = y + point * levels;
    const double g = mirror[static_cast<std::size_t>(point)];
    for (Index k = 0; k < levels; ++k) to[k] = collisions[k] * from[k];
    for (Index k = 1; k < levels; ++k) to[k] += lower[k] * along[k - 1] + lower_shift[k] * g * from[k - 1];
    for (Index k = 0; k + 1 < levels; ++k) to[k] += upper[k] * along[k + 1] + upper_shift[k] * g * from[k + 1];
  }
}

}  // namespace sonde::neoclassical::cpu
