// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/solve/assemble.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sonde/instruments/neoclassical/solve/corrections.h"

namespace sonde::neoclassical {

Response response(const DriftKinetic& equation, const std::array<std::vector<double>, 3>& u, double residual) {
  const auto seen = [&](const DriftKinetic::Drive& weights) {
    double sum = 0;
    for (std::size_t k = 0; k < 3; ++k) sum = std::inner_product(u[k].begin(), u[k].end(), weights[k].begin(), sum);
    return sum;
  };
  return {.radial = seen(equation.radial_weights), .parallel = seen(equation.parallel_weights), .residual = residual};
}

double last_bits(const DriftKinetic& equation, const std::array<std::vector<double>, 3>& u) {
  double largest = 0;
  for (const std::vector<double>& each : u)
    for (const double value : each) largest = std::max(largest, std::abs(value));
  return row_rounding(equation.largest_row, largest);
}

Coefficients assemble(const DriftKinetic& equation, const Case& at, Path path, Index n_xi, const Response& of_radial,
                      const Response& of_parallel, double tolerance) {
  const double a = equation.psi_scale, field = equation.reference_field;
  Coefficients made;
  made.path = path;
  made.n_xi = n_xi;
  made.residual = of_radial.residual >= of_parallel.residual || std::isnan(of_radial.residual) ? of_radial.residual
                                                                                               : of_parallel.residual;
  made.D11 = of_radial.radial / (a * a);
  made.D31 = of_radial.parallel / (field * a);
  made.D13 = of_parallel.radial / (field * a);
  made.D33 = of_parallel.parallel / (field * field);
  made.D33_spitzer = equation.spitzer(at.nu_hat);
  const double across = std::max(std::abs(made.D31), std::abs(made.D13));
  made.onsager_residual = across > 0 ? std::abs(made.D31 + made.D13) / across : 0;
  const bool finite = std::isfinite(made.D11 + made.D31 + made.D13 + made.D33);
  if (!finite || !(made.residual <= tolerance))
    throw Error(ErrorKind::not_converged,
                fmt::format("the residual is {:.1e} at nu_hat = {}, E_hat = {}, above the tolerance {:.1e}",
                            made.residual, at.nu_hat, at.epsi_hat, tolerance))
        .hint("a finer grid, or a tolerance that the case allows");
  return made;
}

Error not_positive_definite(Index k, const Case& at) {
  return Error(ErrorKind::not_converged,
               fmt::format("the block of Legendre index {} is not positive definite at nu_hat = {}, E_hat = {}", k,
                           at.nu_hat, at.epsi_hat))
      .hint("path = \"dense\" solves without this property");
}

}  // namespace sonde::neoclassical
