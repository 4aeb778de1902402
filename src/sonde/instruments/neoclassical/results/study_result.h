// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sonde/engine/figure/chart.h"
#include "sonde/instruments/neoclassical/results/result_file.h"
#include "sonde/instruments/neoclassical/results/run_result.h"
#include "sonde/instruments/neoclassical/scan/convergence.h"

namespace sonde::neoclassical {

/// A convergence study with what it was of.
struct StudyResult {
  Study study{};
  GridSpec start{};  ///< where it began
  Case at{};
  double tolerance = 1e-3;
  std::string source{};  ///< the surface
};

/// Lines on `step`, the first being the grid of the beginning: refined (0 n_xi, 1 n_theta, 2 n_zeta; -1 the first),
/// n_theta n_zeta n_xi, change (NaN for the first), D11 D31 D13 D33 residual onsager_residual; scalars nu_hat epsi_hat
/// tolerance error converged; the texts source and those of a run.
[[nodiscard]] Contents study_contents(const StudyResult& result, const Surface& surface, const Provenance& provenance);
/// Back from a file, as far as a chart needs it. Throws Error(bad_file) naming what is missing or of another length.
[[nodiscard]] StudyResult read_study(const ResultFile& file);

/// How the coefficients move as the grid is refined, one panel per direction: the change from the grid before.
[[nodiscard]] Chart study_chart(const StudyResult& result);

}  // namespace sonde::neoclassical
