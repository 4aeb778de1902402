// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/solve/assemble.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>

#include "sonde/instruments/neoclassical/operators/grid_functions.h"
#include "sonde/instruments/neoclassical/solve/corrections.h"

namespace sonde::neoclassical {
namespace {

std::string resonant(const Mode& mode, const DriftKinetic& equation) {
  return fmt::format("resonant ({},{}): iota m + n N_fp = 0 for this mode of the grid, iota = {}", mode.m, mode.n,
                     equation.iota);
}

}  // namespace

Response response(const DriftKinetic& equation, const std::array<std::vector<double>, 3>& u, double residual) {
  const auto seen = [&](const DriftKinetic::Drive& weights) {
    double sum = 0;
    for (std::size_t k = 0; k < 3; ++k) sum = std::inner_product(u[k].begin(), u[k].end(), weights[k].begin(), sum);
    return sum;
  };
  return {.radial = seen(equation.radial_weights), .parallel = seen(equation.parallel_weights), .residual = residual};
}

double last_bits(const DriftKinetic& equation, const std::array<std::vector<double>, 3>& u) {
  return row_rounding(equation.largest_row, largest(u));
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
        .hint("a larger nu_hat, where rounding matters less; or a tolerance that the case allows");
  return made;
}

namespace {

/// The mode that makes Delta_0 singular, where the surface is rational and the case does not go without it.
std::optional<std::string> to_blame(const DriftKinetic& equation, Index k, const Case& at) {
  const std::optional<Mode> mode = resonance(equation.iota, equation.grid);
  if (!mode || k > 0 || !equation.left_out(at).empty()) return std::nullopt;
  return resonant(*mode, equation);
}

Error too_rare(const DriftKinetic& equation, const std::string& mode, const Case& at) {
  return Error(ErrorKind::not_converged,
               fmt::format(
                   "{}, and collisions or the electric field are too weak for this to be solved (nu_hat = {:.3g}, "
                   "E_hat = {:.3g})",
                   mode, at.nu_hat, at.epsi_hat))
      .hint(equation.undamped.empty() ? "a surface whose iota differs by 1e-5 or more, or a larger nu_hat"
                                      : "E_hat = 0, which is solved as the limit of weak fields, or a larger nu_hat");
}

}  // namespace

void require_undriven(const DriftKinetic& equation, const Case& at) {
  if (equation.left_out(at).empty() || equation.undamped_share <= most_undamped) return;
  throw Error(ErrorKind::not_converged,
              fmt::format("{}, and {:.1e} of the radial drive falls on such modes: without an electric field D11 grows "
                          "without limit towards this surface",
                          resonant(*resonance(equation.iota, equation.grid), equation), equation.undamped_share))
      .hint("a neighbouring surface, or an electric field, however weak");
}

Error singular(const DriftKinetic& equation, Index k, const Case& at) {
  const std::optional<std::string> mode = to_blame(equation, k, at);
  if (!mode) return Error(ErrorKind::not_converged, fmt::format("the block of Legendre index {} is singular", k));
  if (equation.discretisation == Discretisation::collocation)
    return Error(ErrorKind::not_converged, *mode).hint("discretisation = \"skew\", or another surface or grid");
  return too_rare(equation, *mode, at);
}

Error not_positive_definite(const DriftKinetic& equation, Index k, const Case& at) {
  if (const std::optional<std::string> mode = to_blame(equation, k, at)) return too_rare(equation, *mode, at);
  return Error(ErrorKind::not_converged,
               fmt::format("the block of Legendre index {} is not positive definite at nu_hat = {}, E_hat = {}", k,
                           at.nu_hat, at.epsi_hat))
      .hint("a larger nu_hat: at collisions as rare as these, rounding decides");
}

}  // namespace sonde::neoclassical
