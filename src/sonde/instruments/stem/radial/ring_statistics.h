// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/instruments/stem/pass/operation.h"
#include "sonde/instruments/stem/radial/bins.h"

namespace sonde::stem {

/// The largest angular order.
constexpr Index most_orders = 24;

/// What is wanted of each bin beside its mean.
struct RingWanted {
  bool median = false, spread = false;
  std::optional<Index> orders;  ///< the largest angular order; bins are whole rings then
  [[nodiscard]] bool any() const { return median || spread || orders.has_value(); }
};

/// Which pixels are in which bin by their centres, in the order of the detector, with the angles of those.
class RingPixels {
 public:
  /// Throws what share_among_bins throws.
  [[nodiscard]] static RingPixels prepare(const RadialGeometry& geometry, const RadialBins& bins,
                                          std::span<const std::uint8_t> good, const RingWanted& wanted);

  [[nodiscard]] const RadialGeometry& geometry() const { return geometry_; }
  [[nodiscard]] Index bins() const { return static_cast<Index>(first_.size()) - 1; }
  [[nodiscard]] std::span<const std::uint32_t> of(Index bin) const {
    const auto b = static_cast<std::size_t>(bin);
    return std::span(pixel_).subspan(first_[b], first_[b + 1] - first_[b]);
  }
  /// cos(m phi) and sin(m phi) of the pixels of a bin, m from 0 to the largest order: (pixel, order, 2).
  [[nodiscard]] const float* waves(Index bin) const {
    return waves_.data() + first_[static_cast<std::size_t>(bin)] * static_cast<std::size_t>(2 * orders_);
  }
  /// Of waves(): one more than the largest.
  [[nodiscard]] Index orders() const { return orders_; }
  [[nodiscard]] std::size_t bytes() const { return 4 * (first_.size() + pixel_.size() + waves_.size()); }

 private:
  RadialGeometry geometry_;
  std::vector<std::uint32_t> first_, pixel_;
  std::vector<float> waves_;
  Index orders_ = 0;
};

/// Of each frame of a pass, by bin over its n good pixels I_p:
///  - the median, of an even number the mean of the middle two;
///  - the spread around the ring, sum_p (I_p - mean)^2 / n, of which Poisson counts contribute the mean;
///  - angular orders c_m = 1/n sum_p I_p exp(i m phi_p), m from 0 (the radial Fourier analysis of LiberTEM): counts
///    A (1 + b cos(m (phi - phi0))) have c_m = A b / 2 exp(i m phi0), phi from the columns toward the rows, as far as
///    the pixels of the ring are spread evenly.
/// NaN in bins without a good pixel and at positions without a frame.
class RingStatistics final : public Operation {
 public:
  /// The pixels are borrowed. Their detector must be that of the pass.
  RingStatistics(const RingPixels& pixels, const RingWanted& wanted) : pixels_(&pixels), wanted_(wanted) {}

  Array median, spread;  ///< f32 (positions, bins); empty unless wanted
  Array orders;          ///< c64 (positions, bins, orders)

  [[nodiscard]] static std::size_t bytes(const RingWanted& wanted, Index positions, Index bins);
  [[nodiscard]] Abilities abilities(const PassShape& shape) const override;
  void start(const PassShape& shape) override;
  [[nodiscard]] std::unique_ptr<State> make_state(const PassShape& shape) const override;
  void take(const Tile& tile, State* state) override;

 private:
  const RingPixels* pixels_;
  RingWanted wanted_;
};

}  // namespace sonde::stem
