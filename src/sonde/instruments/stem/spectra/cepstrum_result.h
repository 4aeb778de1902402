// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/io/contents.h"
#include "sonde/engine/memory/budget.h"
#include "sonde/engine/options/value.h"
#include "sonde/instruments/stem/load/dataset.h"
#include "sonde/instruments/stem/spectra/cepstrum_options.h"
#include "sonde/instruments/stem/spectra/pattern_spectra.h"

namespace sonde::stem {

/// Where peaks are sought in the spectrum of each pattern.
struct PeakSearch {
  SpectralPair near{};
  double radius = 0;  ///< points of the transform
  bool given = false;
  Index maxima = 0;  ///< of the mean spectrum, beside the middle
};

/// The two shortest independent vectors of the lattice of peaks in half a power spectrum (rows, cols / 2 + 1). Nothing
/// where its maxima, those above a twentieth of the highest beside the middle, are along one line.
[[nodiscard]] std::optional<PeakSearch> find_pair(const std::vector<double>& mean, Index rows, Index cols);
/// The same for the lattice of a pattern, px: the columns of G^-T.
[[nodiscard]] PeakSearch pair_of(const Basis& pattern_lattice, Index rows, Index cols);

/// find_pair of the mean cepstrum of some patterns of a scan.
[[nodiscard]] std::optional<PeakSearch> find_peaks_of(const Dataset& dataset, const CepstrumOptions& options);

/// Mean spectrum of a scan, and the lattice in the cepstrum of each position.
struct CepstrumResult {
  SpectrumKind kind = SpectrumKind::cepstrum;
  PatternWindow window = PatternWindow::hann;
  Index scan_rows = 0, scan_cols = 0, rows = 0, cols = 0;
  Index frames = 0;
  std::optional<double> pixel_inv_a{};  ///< of the detector
  std::vector<double> mean;             ///< (rows, cols), the middle at (rows / 2, cols / 2)
  std::optional<PeakSearch> search{};   ///< of a cepstrum that has peaks
  std::vector<MeasuredPair> pairs;      ///< (position), with it; cycles per pixel
  std::vector<std::uint8_t> valid;      ///< (position): 0 without a frame
  bool counts = false;                  ///< variances are known
  std::vector<std::string> warnings{};

  /// What one cycle per pixel is: 1 / pixel_inv_a Angstrom, else 1 "1/px".
  [[nodiscard]] double per_cycle() const { return pixel_inv_a ? 1 / *pixel_inv_a : 1; }
  [[nodiscard]] const char* unit() const { return pixel_inv_a ? "A" : "1/px"; }
  [[nodiscard]] Index found() const;
  /// A cepstrum with peaks in less than a tenth of the patterns.
  [[nodiscard]] bool failed() const;

  [[nodiscard]] std::vector<std::string> lines() const;
  [[nodiscard]] Value to_value() const;
  /// cepstrum|power|autocorrelation/mean (y, x), with the axes y and x; of a cepstrum by scan row and column
  /// cepstrum/a1_x, a1_y, a2_x, a2_y, of counts sigma_a1_x and so on, and cepstrum/valid.
  [[nodiscard]] Contents contents(const std::string& command) const;
  /// The mean spectrum with the peaks, and of a cepstrum the lengths of both vectors over the scan: u8 (rows, cols, 3).
  [[nodiscard]] Array picture() const;
};

/// One pass over all frames, and for a cepstrum one over some before, in which peaks are found. Throws Error(budget),
/// and what visit_frames throws.
[[nodiscard]] CepstrumResult make_cepstrum(const Dataset& dataset, const CepstrumOptions& options, Budget budget);

}  // namespace sonde::stem
