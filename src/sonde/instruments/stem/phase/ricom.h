// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/instruments/stem/phase/convention.h"
#include "sonde/instruments/stem/phase/vector_field.h"

namespace sonde::stem {

struct RicomSettings {
  Index half = 16;  ///< (2 half + 1)^2 positions around each: features wider than about 2 half steps are damped
  DetectorToScan orientation{};  ///< of the vectors that come in; they are along the scan already by default
  std::optional<double> lowest{}, highest{};  ///< frequencies of the kernel that pass, lowest < |f| <= highest, in
                                              ///< cycles over its width
  bool normalise = true;  ///< false: K = d / |d|^2 in steps, as the first program had it, without unit
};

/// The kernel of riCOM (Yu, Friedrich, Jannis, Van Aert, Verbeeck, Microsc. Microanal. 28 (2022) 1526),
///   phi(r) = sum over positions p of g(p).K(r - p),  K(d) = A d / (2 pi |d|^2), K(0) = 0,
/// with A the area of a position, so that phi is in rad for g in rad per length.
class RicomKernel {
 public:
  RicomKernel(const RicomSettings& settings, double step_row, double step_col);
  [[nodiscard]] Index half() const { return half_; }
  [[nodiscard]] Index width() const { return 2 * half_ + 1; }
  /// Of the displacement (row, col) in steps, each from -half to half.
  [[nodiscard]] const double* x() const { return x_.data(); }
  [[nodiscard]] const double* y() const { return y_.data(); }

 private:
  void pass_band(const RicomSettings& settings);
  Index half_;
  std::vector<double> x_, y_;  // (width, width)
};

/// 1 where all (2 half + 1)^2 positions about one are there (1 in `there`, of rows x cols): never within `half` of the
/// border.
[[nodiscard]] std::vector<std::uint8_t> reached(const std::vector<std::uint8_t>& there, Index rows, Index cols,
                                                Index half);

/// The image as positions arrive, in any order: each adds its patch of the kernel, (2 half + 1)^2 multiplications and
/// additions of both components. One thread at a time.
class RicomImage {
 public:
  RicomImage(RicomKernel kernel, Index rows, Index cols);
  /// A position counts once; false when it has been added before (nothing changes).
  bool add(Index row, Index col, double x, double y);
  [[nodiscard]] const std::vector<double>& values() const { return values_; }
  /// Where all positions that the kernel reaches have been added.
  [[nodiscard]] std::vector<std::uint8_t> complete() const { return reached(added_, rows_, cols_, kernel_.half()); }

 private:
  RicomKernel kernel_;
  Index rows_, cols_;
  std::vector<double> values_;
  std::vector<std::uint8_t> added_;
};

/// The same sum for a field that is there, on all threads, with the same bits for any number of them. Missing positions
/// add nothing.
[[nodiscard]] std::vector<double> integrate_kernel(const VectorField& gradient, const RicomKernel& kernel);

}  // namespace sonde::stem
