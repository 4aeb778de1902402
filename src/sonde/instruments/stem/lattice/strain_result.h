// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/io/contents.h"
#include "sonde/engine/memory/budget.h"
#include "sonde/engine/options/value.h"
#include "sonde/instruments/stem/bragg/bragg_vectors.h"
#include "sonde/instruments/stem/lattice/strain_options.h"

namespace sonde::stem {

/// The axes along which vectors and strain are given.
struct StrainFrame {
  bool scan = false;  ///< else those of the detector
  double rotation = 0;
  bool transpose = false;
  [[nodiscard]] const char* name() const { return scan ? "scan" : "detector"; }
};
/// Options as of StrainOptions.
[[nodiscard]] StrainFrame frame_of(const BraggCalibration& calibration, std::optional<double> rotation,
                                   const std::string& transpose);

/// Lattice and strain of every position, row after row; NaN where there is none.
struct StrainResult {
  Index scan_rows = 0, scan_cols = 0;
  std::optional<double> scan_step_nm{};  ///< where rows and columns are equally far apart
  // Calibrations, in the order in which they are applied
  Origin origin{};
  OriginFit origin_fit = OriginFit::plane;
  bool origin_stated = false;  ///< that of the file
  std::optional<Distortion> ellipse{};
  StrainFrame frame{};
  bool by_cepstrum = false;  ///< lattices are those of cepstra, not of disks
  // Lattice of the scan
  std::optional<FoundBasis> found{};  ///< unset: given
  Basis basis{};                      ///< px, along the detector
  double max_peak_spacing = 0;        ///< px
  double overlap = 0;  ///< diameter of a disk over the shortest lattice vector; 0: the diameter is not known
  // Of every position
  std::vector<LatticeFit> fits;  ///< px, along the detector
  std::vector<Strain> strain, sigma;
  std::array<Index, fit_outcomes> outcomes{};  ///< positions by FitOutcome
  // Reference
  StrainMeasure measure = StrainMeasure::biot;
  Basis reference{};  ///< px, along the detector
  bool reference_given = false;
  Index reference_positions = 0;  ///< that the median is of
  Strain reference_sigma{};       ///< standard error of the median, as strain; 0 where it is given
  // Physical sanity
  double residual = 0;                  ///< median over the positions, px
  double over_sigma = 0;                ///< median of it in units of the disks' own standard deviations; 0: not known
  Strain scatter{};                     ///< of neighbours along a row, over their sigma
  std::vector<std::string> warnings{};  ///< what should not be trusted, the most likely cause first

  [[nodiscard]] Index positions() const { return scan_rows * scan_cols; }
  [[nodiscard]] Index fitted() const { return outcomes[static_cast<std::size_t>(FitOutcome::fitted)]; }
  /// Of the positions with a pattern, the share without a lattice.
  [[nodiscard]] double invalid_share() const;
  /// More than nine tenths of them.
  [[nodiscard]] bool failed() const { return invalid_share() > 0.9; }
  /// Median sigma of each component over the fitted positions.
  [[nodiscard]] Strain median_sigma() const;

  [[nodiscard]] std::vector<std::string> lines() const;
  [[nodiscard]] Value to_value() const;
  /// Maps as (scan row, scan column):
  ///   strain/e_xx, e_yy, e_xy, theta (rad) and their sigma_exx, sigma_eyy, sigma_exy, sigma_theta
  ///   strain/residual (px), n_peaks, valid, outcome (FitOutcome)
  ///   lattice/q0_x, q0_y, g1_x, g1_y, g2_x, g2_y    px, along the detector
  /// Each has the attributes frame, calibration (JSON), sonde_version and command.
  [[nodiscard]] Contents contents(const std::string& command) const;
  /// Those of strain/ only, with this text as their attribute calibration.
  void add_strain(Contents& contents, const std::string& calibration, const std::string& command) const;
};

/// The median lattice of some positions, component by component.
struct MedianLattice {
  Basis basis{};  ///< px, along the detector
  Index positions = 0;
  BasisCovariance error{};  ///< of a median of normal deviates, from the median distance of the positions from it
};
/// `region`: first and last rows and columns, the last ones exclusive, inside the scan. Nothing where none of its
/// positions has a lattice.
[[nodiscard]] std::optional<MedianLattice> median_lattice(const StrainResult& result,
                                                          const std::array<Index, 4>& region);

/// Strain, its errors and what shows how far to trust them, from fits, frame, measure and reference.
void compute_strain(StrainResult& result);

/// Outcomes, reference, strain and scatter of a result from its fits and frame, whatever the lattices were found with.
/// Throws as make_strain does.
void finish_strain(const StrainOptions& options, StrainResult& result);

/// That the axes of the scan are not known, as far as they are not. `transpose`: as of StrainOptions.
void doubt_frame(const StrainFrame& frame, const BraggCalibration& calibration, const std::string& transpose,
                 std::vector<std::string>& warnings);

/// "e_xx 1.0e-03, e_yy ...": each number in this form.
[[nodiscard]] std::string strain_text(const Strain& strain, const char* form);

/// Origin, basis, lattice of every position, reference and strain. Where no lattice is found, every position is
/// invalid and the first warning says why. Throws Error(bad_input) where weights need variances that the file lacks,
/// where the region of the reference is outside of the scan or has no lattice, and Error(budget).
[[nodiscard]] StrainResult make_strain(BraggVectors vectors, const StrainOptions& options, Budget budget);

}  // namespace sonde::stem
