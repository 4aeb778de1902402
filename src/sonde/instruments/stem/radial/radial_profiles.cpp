// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/radial/radial_profiles.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <span>

#include "sonde/engine/base/error.h"

namespace sonde::stem {
namespace {

struct Sums final : Operation::State {
  explicit Sums(const RadialPlan& plan) : scratch(plan) {}
  RadialPlan::Scratch scratch;
  std::vector<double> sums, squares;  // of a tile
};

}  // namespace

Abilities RadialProfiles::abilities(const PassShape& shape) const {
  const RadialGeometry& geometry = plan_->geometry();
  if (geometry.rows != shape.detector.out_rows || geometry.cols != shape.detector.out_cols)
    throw Error(ErrorKind::bad_input,
                fmt::format("rings of a detector of {} x {} pixels, but patterns of {} x {}", geometry.rows,
                            geometry.cols, shape.detector.out_rows, shape.detector.out_cols));
  if (wanted_ == Variance::of_counts && !shape.counts())
    throw Error(ErrorKind::bad_input, "the variance of values that are not counts is not known");
  const auto bins = static_cast<std::size_t>(plan_->bins().count());
  const std::size_t arrays = wanted_ == Variance::of_counts ? 2 : 1;
  return {
      .lists = true,
      .shared_bytes = plan_->bytes() + arrays * sizeof(float) * bins * static_cast<std::size_t>(shape.scan.positions()),
      .state_bytes = RadialPlan::Scratch::bytes(plan_->bins()) +
                     2 * sizeof(double) * bins * static_cast<std::size_t>(block_positions),
      .tile_bytes = RadialPlan::Scratch::bytes(plan_->bins()) + plan_->bytes()};
}

void RadialProfiles::start(const PassShape& shape) {
  const Shape all = {shape.scan.positions(), plan_->bins().count()};
  mean = Array(Device::cpu(), all, DType::f32);
  if (wanted_ == Variance::of_counts) variance = Array(Device::cpu(), all, DType::f32);
  for (Array* each : {&mean, &variance})
    if (!each->empty())
      std::fill_n(static_cast<float*>(each->data()), each->count(), std::numeric_limits<float>::quiet_NaN());
}

std::unique_ptr<Operation::State> RadialProfiles::make_state(const PassShape&) const {
  return std::make_unique<Sums>(*plan_);
}

void RadialProfiles::take(const Tile& tile, State* state) {
  auto& of = static_cast<Sums&>(*state);
  const Index bins = plan_->bins().count();
  of.sums.resize(static_cast<std::size_t>(tile.count() * bins));
  if (wanted_ == Variance::of_counts) of.squares.resize(of.sums.size());
  const double largest = *std::max_element(tile.largest.begin(), tile.largest.end());
  if (tile.lists != nullptr)
    plan_->run(*tile.lists, of.sums, of.squares);
  else
    visit_elements(tile.shape->elements, [&](auto element) {
      plan_->run(static_cast<const decltype(element)*>(tile.frames), tile.count(), largest, of.scratch, of.sums,
                 of.squares);
    });
  for (Index k = 0; k < tile.count(); ++k) {
    const auto i = static_cast<std::size_t>(k);
    if (tile.present[i] == 0) continue;
    for (Index b = 0; b < bins; ++b) {
      const double area = plan_->area()[static_cast<std::size_t>(b)];
      if (area == 0) continue;
      const auto from = static_cast<std::size_t>(k * bins + b);
      const Index to = tile.positions[i] * bins + b;
      static_cast<float*>(mean.data())[to] = static_cast<float>(of.sums[from] / area);
      if (wanted_ == Variance::of_counts)
        static_cast<float*>(variance.data())[to] = static_cast<float>(of.squares[from] / (area * area));
    }
  }
}

}  // namespace sonde::stem
