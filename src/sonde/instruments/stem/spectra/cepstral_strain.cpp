// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/spectra/cepstral_strain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "sonde/engine/base/setting.h"
#include "sonde/instruments/stem/lattice/calibrated_disks.h"
#include "sonde/instruments/stem/spectra/cepstrum_result.h"

namespace sonde::stem {
namespace {

constexpr double many_lost = 0.1;
constexpr double normal_middle = 0.6744897501960817;  // median of |x| of a normal deviate

/// The pattern's lattice: g_i with a_i . g_j = 1 where i = j, else 0, without the ellipse of the detector. Covariance
/// to first order: dg_i = -sum over j of g_j (g_i . da_j).
void set_lattice(const MeasuredPair& measured, const EllipseCorrection& round, LatticeFit& fit) {
  const SpectralPair& a = measured.pair;
  const double area = a.a1_x * a.a2_y - a.a1_y * a.a2_x;
  const double g[2][2] = {{a.a2_y / area, -a.a2_x / area}, {-a.a1_y / area, a.a1_x / area}};
  double corrected[2][2];
  for (int i = 0; i < 2; ++i) {
    corrected[i][0] = round.xx * g[i][0] + round.xy * g[i][1];
    corrected[i][1] = round.xy * g[i][0] + round.yy * g[i][1];
  }
  fit.basis = {corrected[0][0], corrected[0][1], corrected[1][0], corrected[1][1]};
  double slopes[4][4];
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) slopes[i][j] = -corrected[j / 2][i % 2] * g[i / 2][j % 2];
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 4; ++j) {
      fit.covariance[i][j] = 0;
      for (std::size_t k = 0; k < 4; ++k)
        for (std::size_t l = 0; l < 4; ++l)
          fit.covariance[i][j] += slopes[i][k] * measured.covariance[k][l] * slopes[j][l];
    }
  fit.outcome = FitOutcome::fitted;
  fit.peaks = 2;
  fit.q0_x = fit.q0_y = fit.residual = std::numeric_limits<double>::quiet_NaN();
}

/// By how much more neighbours along a row differ than their errors say, the median over all components; at least 1.
double excess_scatter(const StrainResult& result) {
  double Basis::*const parts[] = {&Basis::g1_x, &Basis::g1_y, &Basis::g2_x, &Basis::g2_y};
  std::vector<double> ratios;
  for (Index row = 0; row < result.scan_rows; ++row)
    for (Index col = 1; col < result.scan_cols; ++col) {
      const LatticeFit& here = result.fits[static_cast<std::size_t>(row * result.scan_cols + col)];
      const LatticeFit& before = result.fits[static_cast<std::size_t>(row * result.scan_cols + col - 1)];
      if (here.outcome != FitOutcome::fitted || before.outcome != FitOutcome::fitted) continue;
      for (std::size_t i = 0; i < 4; ++i) {
        const double error = std::sqrt(here.covariance[i][i] + before.covariance[i][i]);
        if (error > 0) ratios.push_back(std::abs(here.basis.*parts[i] - before.basis.*parts[i]) / error);
      }
    }
  if (ratios.empty()) return 1;
  const auto middle = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2);
  std::nth_element(ratios.begin(), middle, ratios.end());
  return std::max(1.0, *middle / normal_middle);
}

CepstrumOptions cepstrum_for(const StrainOptions& options) {
  CepstrumOptions made;
  made.basis = options.basis;
  return made;
}

/// The vectors of the search as the lattice of the pattern, reduced, so that both methods name the same ones.
Basis lattice_of(const PeakSearch& search) {
  LatticeFit fit;
  set_lattice({.found = true, .pair = search.near}, {}, fit);
  return search.given ? fit.basis : reduced(fit.basis);
}

}  // namespace

StrainResult make_cepstral_strain(const Dataset& dataset, const StrainOptions& options, Budget budget) {
  options.check();
  const BraggCalibration calibration =
      without(calibration_of(dataset), parse_steps(options.skip_calibration, setting("skip_calibration")));
  const auto positions = static_cast<std::size_t>(dataset.positions());
  const Reservation room =
      budget.reserve(positions * (sizeof(LatticeFit) + 2 * sizeof(Strain)), "lattice and strain of every position");
  CepstrumOptions search = cepstrum_for(options);
  StrainResult result;
  result.by_cepstrum = true;
  result.origin_fit = OriginFit::none;
  result.scan_rows = dataset.shape()[0];
  result.scan_cols = dataset.shape()[1];
  if (calibration.scan_step_row_nm == calibration.scan_step_col_nm) result.scan_step_nm = calibration.scan_step_col_nm;
  result.measure = options.measure;
  result.frame = frame_of(calibration, options.rotation, options.transpose);
  result.ellipse = calibration.ellipse;
  result.fits.resize(positions);
  const EllipseCorrection round = result.ellipse ? correction_of(*result.ellipse) : EllipseCorrection{};

  std::optional<PeakSearch> found = options.basis_asked() ? std::nullopt : find_peaks_of(dataset, search);
  if (found) {
    result.basis = lattice_of(*found);
    result.found = FoundBasis{.basis = result.basis, .maxima = found->maxima};
    search.basis =
        fmt::format("{},{},{},{}", result.basis.g1_x, result.basis.g1_y, result.basis.g2_x, result.basis.g2_y);
  } else if (const auto given = options.basis_asked()) {
    result.basis = *given;
  }
  for (std::size_t i = 0; i < positions; ++i)
    result.fits[i].outcome = dataset.valid()[i] == 0 ? FitOutcome::no_pattern : FitOutcome::lost;
  if (result.basis.area() != 0) {
    const CepstrumResult cepstrum = make_cepstrum(dataset, search, budget);
    for (std::size_t i = 0; i < positions; ++i)
      if (cepstrum.pairs[i].found) set_lattice(cepstrum.pairs[i], round, result.fits[i]);
    for (const std::string& warning : cepstrum.warnings)
      if (warning.starts_with("small spacing")) result.warnings.push_back(warning);
  } else {
    result.warnings.push_back(
        "no lattice: the mean cepstrum has no two peaks in different directions; if the patterns have a lattice of "
        "disks, give it as " +
        setting("basis"));
  }
  const double excess = excess_scatter(result);
  for (LatticeFit& fit : result.fits)
    for (auto& row : fit.covariance)
      for (double& value : row) value *= excess * excess;
  finish_strain(options, result);
  if (result.fitted() > 0 && result.invalid_share() > many_lost)
    result.warnings.push_back(
        fmt::format("lost peaks: {:.0f} % of the patterns have no peak of the cepstrum near the lattice of the scan",
                    100 * result.invalid_share()));
  if (excess > 1.5)
    result.warnings.push_back(
        fmt::format("neighbours along a row scatter {:.1f} times as far as the counts say, by which the errors are "
                    "enlarged: intensities of the disks change from pattern to pattern, and move the peaks",
                    excess));
  doubt_frame(result.frame, calibration, options.transpose, result.warnings);
  return result;
}

}  // namespace sonde::stem
