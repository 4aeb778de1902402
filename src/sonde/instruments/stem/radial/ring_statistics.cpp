// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/radial/ring_statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "sonde/engine/base/error.h"

namespace sonde::stem {
namespace {

struct RingScratch final : Operation::State {
  std::vector<double> values, sums;
};

/// The angle of a pixel where the ellipse is a circle: that of the bins.
double wave_angle(const RadialGeometry& geometry, Index pixel) {
  const double y = static_cast<double>(pixel / geometry.cols) - geometry.row,
               x = static_cast<double>(pixel % geometry.cols) - geometry.col;
  const double c = std::cos(geometry.ellipse.theta), s = std::sin(geometry.ellipse.theta);
  const double along = (c * x + s * y) / geometry.ellipse.a, across = (c * y - s * x) / geometry.ellipse.b;
  return std::atan2(s * along + c * across, c * along - s * across);
}

double median_of(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

double spread_of(const std::vector<double>& values) {
  double mean = 0, sum = 0;
  for (const double value : values) mean += value;
  mean /= static_cast<double>(values.size());
  for (const double value : values) sum += (value - mean) * (value - mean);
  return sum / static_cast<double>(values.size());
}

}  // namespace

RingPixels RingPixels::prepare(const RadialGeometry& geometry, const RadialBins& bins,
                               std::span<const std::uint8_t> good, const RingWanted& wanted) {
  const BinShares shares = share_among_bins(geometry, bins, PixelSplit::none, good);
  RingPixels made;
  made.geometry_ = geometry;
  made.first_.assign(static_cast<std::size_t>(bins.count()) + 1, 0);
  for (const std::uint32_t bin : shares.bin) ++made.first_[bin + 1];
  for (std::size_t b = 1; b < made.first_.size(); ++b) made.first_[b] += made.first_[b - 1];
  made.pixel_.resize(shares.bin.size());
  std::vector<std::uint32_t> next(made.first_.begin(), made.first_.end() - 1);
  for (std::size_t p = 0; p + 1 < shares.first.size(); ++p)
    if (shares.first[p] < shares.first[p + 1])
      made.pixel_[next[shares.bin[shares.first[p]]]++] = static_cast<std::uint32_t>(p);
  if (!wanted.orders) return made;
  made.orders_ = *wanted.orders + 1;
  made.waves_.reserve(made.pixel_.size() * static_cast<std::size_t>(2 * made.orders_));
  for (const std::uint32_t pixel : made.pixel_) {
    const double angle = wave_angle(geometry, pixel);
    for (Index m = 0; m < made.orders_; ++m) {
      made.waves_.push_back(static_cast<float>(std::cos(static_cast<double>(m) * angle)));
      made.waves_.push_back(static_cast<float>(std::sin(static_cast<double>(m) * angle)));
    }
  }
  return made;
}

std::size_t RingStatistics::bytes(const RingWanted& wanted, Index positions, Index bins) {
  const Index maps = (wanted.median ? 1 : 0) + (wanted.spread ? 1 : 0) + (wanted.orders ? 2 * (*wanted.orders + 1) : 0);
  return sizeof(float) * static_cast<std::size_t>(positions * bins * maps);
}

Abilities RingStatistics::abilities(const PassShape& shape) const {
  const RadialGeometry& geometry = pixels_->geometry();
  if (geometry.rows != shape.detector.out_rows || geometry.cols != shape.detector.out_cols)
    throw Error(ErrorKind::bad_input,
                fmt::format("rings of a detector of {} x {} pixels, but patterns of {} x {}", geometry.rows,
                            geometry.cols, shape.detector.out_rows, shape.detector.out_cols));
  return {.shared_bytes = pixels_->bytes() + bytes(wanted_, shape.scan.positions(), pixels_->bins()),
          .state_bytes = sizeof(double) * static_cast<std::size_t>(shape.detector.out_pixels()),
          .tile_bytes = pixels_->bytes()};
}

void RingStatistics::start(const PassShape& shape) {
  const Index positions = shape.scan.positions(), bins = pixels_->bins();
  if (wanted_.median) median = Array(Device::cpu(), {positions, bins}, DType::f32);
  if (wanted_.spread) spread = Array(Device::cpu(), {positions, bins}, DType::f32);
  if (wanted_.orders) orders = Array(Device::cpu(), {positions, bins, pixels_->orders()}, DType::c64);
  for (Array* each : {&median, &spread, &orders})
    if (!each->empty())
      std::fill_n(static_cast<float*>(each->data()), each->count() * (each == &orders ? 2 : 1),
                  std::numeric_limits<float>::quiet_NaN());
}

std::unique_ptr<Operation::State> RingStatistics::make_state(const PassShape&) const {
  return std::make_unique<RingScratch>();
}

void RingStatistics::take(const Tile& tile, State* state) {
  auto& [values, sums] = static_cast<RingScratch&>(*state);
  const Index bins = pixels_->bins(), detector = pixels_->geometry().rows * pixels_->geometry().cols;
  const Index waves = 2 * pixels_->orders();
  for (Index k = 0; k < tile.count(); ++k) {
    if (tile.present[static_cast<std::size_t>(k)] == 0) continue;
    for (Index bin = 0; bin < bins; ++bin) {
      const std::span<const std::uint32_t> of_bin = pixels_->of(bin);
      if (of_bin.empty()) continue;
      values.resize(of_bin.size());
      visit_elements(tile.shape->elements, [&](auto element) {
        const auto* frame = static_cast<const decltype(element)*>(tile.frames) + k * detector;
        for (std::size_t i = 0; i < of_bin.size(); ++i) values[i] = static_cast<double>(frame[of_bin[i]]);
      });
      const Index to = tile.positions[static_cast<std::size_t>(k)] * bins + bin;
      if (wanted_.orders) {
        sums.assign(static_cast<std::size_t>(waves), 0);
        const float* wave = pixels_->waves(bin);
        for (const double value : values) {
          for (Index j = 0; j < waves; ++j) sums[static_cast<std::size_t>(j)] += value * static_cast<double>(wave[j]);
          wave += waves;
        }
        auto* out = static_cast<float*>(orders.data()) + to * waves;
        for (std::size_t j = 0; j < sums.size(); ++j)
          out[j] = static_cast<float>(sums[j] / static_cast<double>(values.size()));
      }
      if (wanted_.spread) static_cast<float*>(spread.data())[to] = static_cast<float>(spread_of(values));
      if (wanted_.median) static_cast<float*>(median.data())[to] = static_cast<float>(median_of(values));
    }
  }
}

}  // namespace sonde::stem
