// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/lattice/strain_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/base/sampling.h"
#include "sonde/engine/base/setting.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/stem/lattice/calibrated_disks.h"
#include "sonde/instruments/stem/lattice/disk_origins.h"
#include "sonde/instruments/stem/lattice/strain_warnings.h"

namespace sonde::stem {
namespace {

constexpr Index most_patterns = 4096;                 // that the basis is sought in
constexpr Index positions_per_piece = 64;             // a millisecond of work
constexpr double spacing_share = 0.2;                 // of the shortest lattice vector
constexpr double normal_median = 0.6744897501960817;  // median of |x| of a normal deviate
constexpr double median_error = 1.2533141373155003;   // sqrt(pi / 2): standard error of a median over that of a mean
constexpr double nowhere = std::numeric_limits<double>::quiet_NaN();

double median_of(std::vector<double> values) {
  if (values.empty()) return nowhere;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

/// The disks of a pattern; with weights from variances only those that have one.
std::vector<LatticePeak> disks_at(const BraggVectors& vectors, Index position, bool need_variance) {
  std::vector<LatticePeak> disks;
  const auto first = static_cast<std::size_t>(vectors.first(position)),
             last = static_cast<std::size_t>(vectors.last(position));
  for (std::size_t i = first; i < last; ++i) {
    LatticePeak disk{vectors.qx[i], vectors.qy[i], vectors.intensity[i]};
    if (vectors.has_variance()) {
      disk.var_x = vectors.var_x[i];
      disk.var_y = vectors.var_y[i];
    }
    if (!need_variance || (disk.var_x > 0 && disk.var_y > 0)) disks.push_back(disk);
  }
  return disks;
}

/// Where there is none, every pattern says why.
void find_lattice(const BraggVectors& vectors, const DiskOrigins& origins, StrainResult& result) {
  std::vector<LatticePeak> all;
  const Index sample = std::min(most_patterns, vectors.positions());
  for (Index i = 0; i < sample; ++i) {
    const Index position = spread_sample(i, sample, vectors.positions());
    if (origins.measured.valid[static_cast<std::size_t>(position)] == 0) continue;
    const Origin::At from = origins.at(position / vectors.scan_cols, position % vectors.scan_cols);
    for (LatticePeak disk : disks_at(vectors, position, false)) {
      disk.x -= from.x;
      disk.y -= from.y;
      all.push_back(disk);
    }
  }
  const double radius = vectors.probe_radius;
  BasisSearch search;
  if (radius > 0) search = {std::max(1.0, radius / 4), std::max(4.0, 1.2 * radius), std::max(2.0, radius / 2)};
  result.found = find_basis(all, search);
  if (result.found) {
    result.basis = result.found->basis;
    return;
  }
  const FitOutcome why = doubt_lattice(vectors, map_maxima(all, search), result);
  for (std::size_t i = 0; i < result.fits.size(); ++i)
    result.fits[i].outcome = vectors.valid[i] == 0 ? FitOutcome::no_pattern : why;
}

void fit_all(const BraggVectors& vectors, const DiskOrigins& origins, const StrainOptions& options,
             StrainResult& result) {
  const LatticeFitOptions fit{.max_peak_spacing = result.max_peak_spacing,
                              .min_num_peaks = options.min_num_peaks,
                              .weights = options.weights,
                              .robust = options.robust};
  parallel_for(vectors.positions(), positions_per_piece, [&](Index first, Index last, Worker&) {
    check_interrupt();
    for (Index position = first; position < last; ++position) {
      const auto here = static_cast<std::size_t>(position);
      if (vectors.valid[here] == 0) {
        result.fits[here].outcome = FitOutcome::no_pattern;
        continue;
      }
      if (origins.measured.valid[here] == 0) continue;
      const Origin::At from = origins.at(position / vectors.scan_cols, position % vectors.scan_cols);
      result.fits[here] = fit_lattice(disks_at(vectors, position, options.weights == PeakWeight::variance), from.x,
                                      from.y, result.basis, fit);
    }
  });
}

void find_reference(const StrainOptions& options, StrainResult& result) {
  if (const auto given = options.reference_asked()) {
    result.reference = *given;
    result.reference_given = true;
    return;
  }
  const auto region =
      options.region_asked().value_or(std::array{Index{0}, result.scan_rows, Index{0}, result.scan_cols});
  if (region[1] > result.scan_rows || region[3] > result.scan_cols)
    throw Error(ErrorKind::bad_input, fmt::format("the region of the reference ends at row {}, column {} of a scan of "
                                                  "{} x {} positions",
                                                  region[1], region[3], result.scan_rows, result.scan_cols))
        .hint("give another " + setting("reference_region"));
  const auto median = median_lattice(result, region);
  if (!median) {
    if (result.fitted() == 0) return;
    throw Error(ErrorKind::bad_input, "no position in the region of the reference has a lattice")
        .hint("give another " + setting("reference_region") + ", or vectors as " + setting("reference"));
  }
  result.reference = median->basis;
  result.reference_positions = median->positions;
  const Basis reference = turned(result.reference, result.frame.rotation, result.frame.transpose);
  result.reference_sigma = strain_sigma(reference, turned(median->error, result.frame.rotation, result.frame.transpose),
                                        reference, result.measure);
}

/// Differences of neighbours along a row in units of their own errors: 1 where the strain is smooth and sigma right.
double scatter_of(const StrainResult& result, double Strain::*part) {
  std::vector<double> ratios;
  for (Index row = 0; row < result.scan_rows; ++row)
    for (Index col = 1; col < result.scan_cols; ++col) {
      const auto here = static_cast<std::size_t>(row * result.scan_cols + col);
      const double difference = result.strain[here].*part - result.strain[here - 1].*part;
      const double error = std::hypot(result.sigma[here].*part, result.sigma[here - 1].*part);
      if (error > 0 && std::isfinite(difference)) ratios.push_back(std::abs(difference) / error);
    }
  return ratios.empty() ? 0 : median_of(std::move(ratios)) / normal_median;
}

void check_sanity(StrainResult& result) {
  std::vector<double> residuals, over_sigma;
  for (const LatticeFit& fit : result.fits) {
    if (fit.outcome != FitOutcome::fitted) continue;
    if (std::isfinite(fit.residual)) residuals.push_back(fit.residual);
    if (fit.over_sigma > 0) over_sigma.push_back(fit.over_sigma);
  }
  if (!residuals.empty()) result.residual = median_of(std::move(residuals));
  if (!over_sigma.empty()) result.over_sigma = median_of(std::move(over_sigma));
  for (double Strain::*part : {&Strain::xx, &Strain::yy, &Strain::xy, &Strain::theta})
    result.scatter.*part = scatter_of(result, part);
}

double spacing_of(const BraggVectors& vectors, const Basis& basis, const StrainOptions& options) {
  if (options.max_peak_spacing) return *options.max_peak_spacing;
  const double share = spacing_share * basis.shortest();
  return vectors.probe_radius > 0 ? std::min(share, std::max(1.5, vectors.probe_radius / 2)) : share;
}

}  // namespace

std::optional<MedianLattice> median_lattice(const StrainResult& result, const std::array<Index, 4>& region) {
  double Basis::*const parts[] = {&Basis::g1_x, &Basis::g1_y, &Basis::g2_x, &Basis::g2_y};
  std::vector<const LatticeFit*> used;
  for (Index row = region[0]; row < region[1]; ++row)
    for (Index col = region[2]; col < region[3]; ++col) {
      const LatticeFit& fit = result.fits[static_cast<std::size_t>(row * result.scan_cols + col)];
      if (fit.outcome == FitOutcome::fitted) used.push_back(&fit);
    }
  if (used.empty()) return std::nullopt;
  MedianLattice median{.positions = static_cast<Index>(used.size())};
  for (std::size_t i = 0; i < 4; ++i) {
    std::vector<double> values;
    for (const LatticeFit* fit : used) values.push_back(fit->basis.*parts[i]);
    const double middle = median_of(values);
    median.basis.*parts[i] = middle;
    for (double& value : values) value = std::abs(value - middle);
    const double sigma = median_of(values) / normal_median;
    median.error[i][i] = median_error * median_error * sigma * sigma / static_cast<double>(used.size());
  }
  return median;
}

StrainFrame frame_of(const BraggCalibration& calibration, std::optional<double> rotation,
                     const std::string& transpose) {
  StrainFrame frame;
  frame.scan = rotation || calibration.rotation_rad;
  if (rotation) frame.rotation = *rotation * std::numbers::pi / 180;
  if (!rotation && calibration.rotation_rad) frame.rotation = *calibration.rotation_rad;
  if (frame.scan) frame.transpose = transpose == "auto" ? calibration.transpose.value_or(false) : transpose == "1";
  return frame;
}

void compute_strain(StrainResult& result) {
  const auto& [scan, rotation, transpose] = result.frame;
  const Basis reference = turned(result.reference, rotation, transpose);
  const Strain none{nowhere, nowhere, nowhere, nowhere};
  result.strain.assign(result.fits.size(), none);
  result.sigma.assign(result.fits.size(), none);
  for (std::size_t i = 0; i < result.fits.size(); ++i) {
    const LatticeFit& fit = result.fits[i];
    if (fit.outcome != FitOutcome::fitted) continue;
    const Basis here = turned(fit.basis, rotation, transpose);
    result.strain[i] = strain_of(here, reference, result.measure);
    result.sigma[i] = strain_sigma(here, turned(fit.covariance, rotation, transpose), reference, result.measure);
  }
  check_sanity(result);
}

void finish_strain(const StrainOptions& options, StrainResult& result) {
  for (const LatticeFit& fit : result.fits) ++result.outcomes[static_cast<std::size_t>(fit.outcome)];
  find_reference(options, result);
  compute_strain(result);
}

StrainResult make_strain(BraggVectors vectors, const StrainOptions& options, Budget budget) {
  options.check();
  vectors.calibration =
      without(std::move(vectors.calibration), parse_steps(options.skip_calibration, setting("skip_calibration")));
  if (options.weights == PeakWeight::variance && !vectors.has_variance())
    throw Error(ErrorKind::bad_input, "the disks have no variances").hint("give other " + setting("weights"));
  const auto positions = static_cast<std::size_t>(vectors.positions());
  const Reservation room =
      budget.reserve(positions * (sizeof(LatticeFit) + 2 * sizeof(Strain)), "lattice and strain of every position");
  StrainResult result;
  result.scan_rows = vectors.scan_rows;
  result.scan_cols = vectors.scan_cols;
  if (vectors.calibration.scan_step_row_nm == vectors.calibration.scan_step_col_nm)
    result.scan_step_nm = vectors.calibration.scan_step_col_nm;
  result.measure = options.measure;
  result.frame = frame_of(vectors.calibration, options.rotation, options.transpose);
  const DiskOrigins origins = find_origins(vectors, options.origin, options.origin_fit);
  result.origin = origins.surface;
  result.origin_fit = origins.fit;
  result.origin_stated = origins.stated;
  result.ellipse = vectors.calibration.ellipse;
  if (result.ellipse) vectors = corrected(std::move(vectors), origins, *result.ellipse);
  result.fits.resize(positions);
  const std::optional<Basis> given = options.basis_asked();
  if (given)
    result.basis = *given;
  else
    find_lattice(vectors, origins, result);
  if (given || result.found) {
    result.max_peak_spacing = spacing_of(vectors, result.basis, options);
    result.overlap = 2 * vectors.probe_radius / reduced(result.basis).shortest();
    fit_all(vectors, origins, options, result);
  }
  finish_strain(options, result);
  doubt_strain(vectors, options, result);
  return result;
}

double StrainResult::invalid_share() const {
  const Index patterns = positions() - outcomes[static_cast<std::size_t>(FitOutcome::no_pattern)];
  return patterns > 0 ? 1 - static_cast<double>(fitted()) / static_cast<double>(patterns) : 1;
}

Strain StrainResult::median_sigma() const {
  Strain medians;
  for (double Strain::*part : {&Strain::xx, &Strain::yy, &Strain::xy, &Strain::theta}) {
    std::vector<double> values;
    for (const Strain& one : sigma)
      if (std::isfinite(one.*part)) values.push_back(one.*part);
    medians.*part = median_of(std::move(values));
  }
  return medians;
}

}  // namespace sonde::stem
