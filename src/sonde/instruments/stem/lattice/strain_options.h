// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "sonde/engine/base/index.h"
#include "sonde/engine/options/fields.h"
#include "sonde/instruments/stem/lattice/lattice_fit.h"
#include "sonde/instruments/stem/lattice/strain.h"
#include "sonde/instruments/stem/phase/origin.h"

namespace sonde::stem {

/// Which disk of a pattern is the direct one: that nearest the mean place of all disks, or the brightest; automatic:
/// the origin that the file states of every position, else the nearest.
enum class OriginChoice { automatic, nearest, brightest };

/// The vectors in a text "G1X,G1Y,G2X,G2Y". Throws Error(usage), `where` first, for what is not four numbers, and for
/// vectors along one line.
[[nodiscard]] Basis parse_basis(std::string_view text, std::string_view where);

/// How strain is made from lists of disks. Texts are read when the work begins.
struct StrainOptions {
  OriginChoice origin = OriginChoice::automatic;
  OriginFit origin_fit = OriginFit::plane;
  std::string basis = "auto";  ///< or "G1X,G1Y,G2X,G2Y", px
  std::optional<double> max_peak_spacing{};
  Index min_num_peaks = 5;
  PeakWeight weights = PeakWeight::intensity;
  bool robust = true;
  std::string reference = "median";  ///< or "G1X,G1Y,G2X,G2Y", px
  std::string reference_region;      ///< "ROW0,ROW1,COL0,COL1", or empty for the whole scan
  StrainMeasure measure = StrainMeasure::biot;
  std::optional<double> rotation{};  ///< degrees; unset: that of the file
  std::string transpose = "auto";    ///< "0", "1"; auto: that of the file
  std::string skip_calibration;      ///< steps of the file's calibration that are not applied

  void describe(Fields& fields);

  /// Empty: auto. Throws Error(usage) for vectors on one line.
  [[nodiscard]] std::optional<Basis> basis_asked() const;
  [[nodiscard]] std::optional<Basis> reference_asked() const;
  /// First and last row and column, the last ones exclusive; empty: all.
  [[nodiscard]] std::optional<std::array<Index, 4>> region_asked() const;
  /// What can be refused before any file is read. Throws Error(usage).
  void check() const;
};

/// The settings rotation and transpose of results along the axes of the scan.
void describe_frame(Fields& fields, std::optional<double>& rotation, std::string& transpose);
/// Throws Error(usage) for a text that is no transposition.
void check_transpose(std::string_view text, std::string_view where);

}  // namespace sonde::stem
