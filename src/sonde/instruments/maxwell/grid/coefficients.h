// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <vector>

#include "sonde/instruments/maxwell/grid/medium.h"

namespace sonde::maxwell {

/// How the loss enters a step; both are second order in dt (Taflove and Hagness 2005, chapter 3).
enum class LossForm {
  semi_implicit,  ///< sigma acts on the mean of old and new E
  exponential     ///< exact decay over a step: for sigma dt / eps > 0.5, where the other one rings
};

/// The step of the components on the padded grid: E <- ca E + cb (curl H - J), H <- H - cq (curl E + M). Zero at walls
/// and in perfect conductors.
struct Coefficients {
  std::array<std::vector<double>, 3> ca{}, cb{};  ///< of Ex, Ey, Ez
  std::array<std::vector<double>, 3> cq{};        ///< of Hx, Hy, Hz
  /// Of each Debye pole: P <- aP P + bP (E_new + E_old), and the share cP = (1 - aP) / (dt den) of the old P in E_new.
  struct Pole {
    std::array<std::vector<double>, 3> aP{}, bP{}, cP{};
  };
  std::vector<Pole> poles{};
};
/// Bilinear recursion of Debye poles as auxiliary differential equation (Taflove and Hagness 2005, section 9.4). Throws
/// Error(bad_input) for dt <= 0, and for exponential loss with poles.
[[nodiscard]] Coefficients coefficients(const ComponentMedium& medium, const Grid& grid, double dt, LossForm loss);

/// Sums over the steps of a backward sweep, of which the gradient of every material is a multiple: with w = cb lambda_E
/// and v = cq lambda_H (lambda: adjoint fields), sum w (E_new - E_old), sum w (E_new + E_old), sum v (H_new - H_old).
struct SweepSums {
  std::array<std::vector<double>, 3> difference{}, sum{}, magnetic{};
  /// sum (E_new - E_old)^2 and sum (E_new + E_old)^2, where they were asked for: what lights up each node.
  std::array<std::vector<double>, 3> difference_squares{}, sum_squares{};
  /// Of each Debye pole, where they were asked for: with q = lambda_P - w / dt, sum q (E_new + E_old) and sum q P_old.
  struct Pole {
    std::array<std::vector<double>, 3> sum{}, held{};
  };
  std::vector<Pole> poles{};
};
/// d(loss)/d(eps_r, sigma, mu_r) by component; a sum that is empty counts as zero. Media with poles: eps_r is eps_inf.
[[nodiscard]] ComponentChange gradient_of(const SweepSums& sums, const ComponentMedium& medium, const Grid& grid,
                                          double dt, LossForm loss);

/// The sum over the steps of the square of the current that a change of eps_r, or sigma, by 1 puts into each node: the
/// diagonal of the pseudo-Hessian (Shin et al. 2001, Geophys. Prospect. 49, 592). Its element between the two classes
/// is sum eps0 (E_new^2 - E_old^2) / (2 dt) = eps0 E(T)^2 / (2 dt), zero once the waves have left: it is not made.
[[nodiscard]] ComponentChange illumination_of(const SweepSums& sums, double dt);

/// d(loss)/d(deps, tau) of every pole by component. Empty where the sums have no poles.
[[nodiscard]] std::vector<DebyePole> pole_gradient_of(const SweepSums& sums, const ComponentMedium& medium,
                                                      const Grid& grid, double dt);

/// The change of pole_gradient_of() along a change of the poles, `moved` being that of the sums.
[[nodiscard]] std::vector<DebyePole> pole_gradient_change(const SweepSums& sums, const SweepSums& moved,
                                                          const std::vector<DebyePole>& change,
                                                          const ComponentMedium& medium, const Grid& grid, double dt);

/// What a change of the medium adds to a step, as a current: E gets cb times (difference (E_new - E_old) + sum (E_new +
/// E_old)), H gets magnetic (H_new - H_old), with the change's own factors. The transpose of gradient_of().
struct StepChange {
  std::array<std::vector<double>, 3> difference{}, sum{}, magnetic{};
  /// Of each pole, the changes of aP and bP; what of bP comes into E is part of `sum`. Empty where none changes.
  struct Pole {
    std::array<std::vector<double>, 3> aP{}, bP{};
  };
  std::vector<Pole> poles{};
};
[[nodiscard]] StepChange step_change(const ComponentChange& change, const ComponentMedium& medium, const Grid& grid,
                                     double dt, LossForm loss);

}  // namespace sonde::maxwell
