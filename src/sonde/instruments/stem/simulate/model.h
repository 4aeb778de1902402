// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/instruments/stem/simulate/integrating_detector.h"

namespace sonde::stem {

/// What is the same at every scan position. Lengths in detector pixels, pixel centres at integer coordinates.
struct Optics {
  Index rows = 192, cols = 192;
  double dose = 36864;  ///< mean electrons per pattern on the whole detector while the beam is undeflected
  double centre_row = 95.5, centre_col = 95.5;  ///< of the undeflected beam
  double disk_radius = 30;
  double edge_width = 0.8;  ///< of the logistic edge: 1 / (1 + exp((d - radius) / width))
  double halo_length = 25;  ///< decay length of the halo exp(-d / length)
  double wide_length = 60;  ///< of the second halo: scattering to high angles
};

/// A diffracted disk: where it lies from the direct one, and its share of the dose.
struct Spot {
  double row = 0, col = 0;
  double weight = 0;
};

/// What one scan position sends to the detector: where the direct disk lies, and the shares of the dose in the direct
/// disk, the two halos and the diffracted disks. Shares may add up to less than one: the rest misses the detector.
struct Beam {
  static constexpr int max_spots = 12;

  double shift_row = 0, shift_col = 0;  ///< deflection of the whole pattern, px
  double disk = 1, halo = 0, wide = 0;
  std::array<Spot, max_spots> spots{};
  int spot_count = 0;

  void add(const Spot& spot) {
    if (spot_count < max_spots) spots[static_cast<std::size_t>(spot_count++)] = spot;
  }
};

/// A pixel that does not count electrons.
struct Defect {
  enum class Kind { sentinel, hot, dead };
  Index row = 0, col = 0;
  Kind kind =
      Kind::sentinel;  ///< writes "no data" (the largest value of the type) | counts `rate` too many | counts none
  double rate = 0;     ///< of a hot pixel, counts per frame
  std::uint32_t mask_bits = 0;  ///< what the detector's pixel mask says about it (NXdetector); 0: nothing
};

/// The expected number of counts of every detector pixel at every scan position:
///   rate(n, q) = dose [ disk D(|q - c|) + halo H(|q - c|) + wide W(|q - c|) + sum_g weight_g D(|q - c - g|) ],
///   c = centre + shift(n),
/// with D the soft disk and H, W the exponential halos, each scaled to a sum of one over the detector when undeflected.
/// Radial functions are tabulated at 1/32 px and linear between; D is cut to zero 16 widths outside of its radius. A
/// pure function of the position, so that every expected value is known. Immutable, thread-safe.
class Model {
 public:
  using BeamAt = std::function<Beam(Index scan_row, Index scan_col)>;

  /// Room for the pattern of one position; keep one per worker.
  struct Scratch {
    std::vector<double> profile;
    std::vector<std::complex<double>> wave;
  };
  /// The rates of one position in place of the equation above, of a beam that lies where `beam` says.
  using PatternAt =
      std::function<void(Index scan_row, Index scan_col, const Beam& beam, Scratch& scratch, std::span<double> rate)>;

  /// Throws Error(bad_input) for sizes, dose or lengths that make no sense and for defects outside the detector. With
  /// an integrating detector rates are those of electrons, and frames hold its values.
  Model(Optics optics, Index scan_rows, Index scan_cols, BeamAt beam, std::vector<Defect> defects = {},
        PatternAt pattern = {}, std::shared_ptr<const IntegratingDetector> integrating = {});

  [[nodiscard]] const Optics& optics() const { return optics_; }
  [[nodiscard]] Index scan_rows() const { return scan_rows_; }
  [[nodiscard]] Index scan_cols() const { return scan_cols_; }
  [[nodiscard]] Index positions() const { return scan_rows_ * scan_cols_; }
  [[nodiscard]] Index pixels() const { return optics_.rows * optics_.cols; }
  [[nodiscard]] const std::vector<Defect>& defects() const { return defects_; }
  [[nodiscard]] Beam beam(Index position) const { return beam_(position / scan_cols_, position % scan_cols_); }
  /// Null where the detector counts.
  [[nodiscard]] const IntegratingDetector* integrating() const { return integrating_.get(); }
  /// 1 for pixels that count electrons, 0 for every defect; (rows, cols).
  [[nodiscard]] std::vector<std::uint8_t> good() const;

  /// rate(position, q) for all pixels, row after row; hot and dead pixels as they count, sentinels as if they were
  /// good. About 70 us for 192 x 192 pixels.
  void rates(Index position, Scratch& scratch, std::span<double> rate) const;

 private:
  void disk_rates(const Beam& beam, Scratch& scratch, std::span<double> rate) const;

  Optics optics_;
  Index scan_rows_, scan_cols_;
  BeamAt beam_;
  std::vector<Defect> defects_;
  PatternAt pattern_;
  std::shared_ptr<const IntegratingDetector> integrating_;
  std::vector<double> disk_, halo_, wide_;  // radial tables, already times the dose
};

}  // namespace sonde::stem
