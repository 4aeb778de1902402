// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/neoclassical/operators/drift_kinetic.h"
#include "sonde/instruments/neoclassical/solve/coefficients.h"

namespace sonde::neoclassical {

/// The solution u of one drive, seen through the weights of both.
struct Response {
  double radial = 0, parallel = 0;  ///< DriftKinetic::radial_weights . u, parallel_weights . u
  double residual = 0;              ///< the largest of what is left of the rows k = 0, 1, 2, relative to the source
};

/// What the weights of both drives see of u.
[[nodiscard]] Response response(const DriftKinetic& equation, const std::array<std::vector<double>, 3>& u,
                                double residual);

/// What rounding the solution u of k = 0, 1, 2 does to a row.
[[nodiscard]] double last_bits(const DriftKinetic& equation, const std::array<std::vector<double>, 3>& u);

/// The coefficients from the responses to the drives s_1 and s_3. Throws Error(not_converged) when a coefficient is not
/// finite, or a residual is above `tolerance`.
[[nodiscard]] Coefficients assemble(const DriftKinetic& equation, const Case& at, Path path, Index n_xi,
                                    const Response& of_radial, const Response& of_parallel, double tolerance);

/// What a block that the Cholesky paths cannot factorise is reported with, and one that LU cannot: at k = 0 of a
/// rational surface "resonant (m,n)", a mode of the grid that is to blame.
[[nodiscard]] Error not_positive_definite(const DriftKinetic& equation, Index k, const Case& at);
[[nodiscard]] Error singular(const DriftKinetic& equation, Index k, const Case& at);

/// Throws Error(not_converged), "resonant (m,n)", where D11 has no value: the functions that this case goes without
/// hold more than `most_undamped` of the radial drive.
void require_undriven(const DriftKinetic& equation, const Case& at);
/// Without a field the part x of the drive that falls on undamped functions adds of the order of (0.1 x / d)^2 to D11
/// at a distance of d in iota, measured on four fields; below this it is a percent where d is 1e-3.
inline constexpr double most_undamped = 1e-3;

}  // namespace sonde::neoclassical
