// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/spectra/pattern_spectra.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <memory>
#include <type_traits>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/stem/spectra/power_peak.h"

namespace sonde::stem {
namespace {

/// How the maxima of a frame move with its pixels.
struct PeakMovements {
  std::array<std::vector<float>, 4> of;  // a1_x, a1_y, a2_x, a2_y, in points of the transform
};

struct SpectrumState final : Operation::State {
  explicit SpectrumState(const PatternPower& plan)
      : scratch(plan), power(plan.rows(), plan.cols()), sum(scratch.power.size(), 0.0) {}
  PatternPower::Scratch scratch;
  PowerAt power;
  PeakMovements movements;
  std::vector<double> sum;
  Index frames = 0;
};

/// The variance of what is transformed, of a count n.
template <class T>
double variance_of(T count, PatternScale scale) {
  const auto n = static_cast<double>(count);
  if (scale == PatternScale::counts || n == 0) return n;
  const double step = std::log1p(1 / n);
  return n * step * step;
}

template <class T>
void add_covariance(const T* frame, const PatternPower& plan, const PeakMovements& movements, PairCovariance& to) {
  static_assert(std::is_integral_v<T>);
  const Index cols = plan.cols();
  for (Index row = 0; row < plan.rows(); ++row)
    for (Index col = 0; col < cols; ++col) {
      const auto pixel = static_cast<std::size_t>(row * cols + col);
      if (frame[pixel] == 0) continue;
      const double weight = static_cast<double>(plan.row_window()[static_cast<std::size_t>(row)]) *
                            static_cast<double>(plan.col_window()[static_cast<std::size_t>(col)]);
      const double variance = weight * weight * variance_of(frame[pixel], plan.scale());
      for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t j = 0; j <= i; ++j)
          to[i][j] +=
              variance * static_cast<double>(movements.of[i][pixel]) * static_cast<double>(movements.of[j][pixel]);
    }
  const double per_point[4] = {1 / static_cast<double>(cols), 1 / static_cast<double>(plan.rows()),
                               1 / static_cast<double>(cols), 1 / static_cast<double>(plan.rows())};
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j <= i; ++j) to[j][i] = to[i][j] *= per_point[i] * per_point[j];
}

template <class T>
MeasuredPair measure_pair(const T* frame, const PatternPower& plan, const SpectralPair& near, double radius,
                          SpectrumState& state) {
  MeasuredPair made;
  const Frequency places[2] = {{near.a1_x, near.a1_y}, {near.a2_x, near.a2_y}};
  Frequency found[2];
  for (std::size_t i = 0; i < 2; ++i) {
    const auto peak = place_peak(plan, state.scratch, places[i], radius, state.power);
    if (!peak) return made;
    found[i] = peak->at;
    if constexpr (std::is_integral_v<T>)
      state.power.movements(peak->maximum, state.movements.of[2 * i + 1], state.movements.of[2 * i]);
  }
  made.found = true;
  made.pair = {found[0].x, found[0].y, found[1].x, found[1].y};
  if constexpr (std::is_integral_v<T>)
    add_covariance(frame, plan, state.movements, made.covariance);
  else
    for (auto& row : made.covariance) row.fill(std::numeric_limits<double>::quiet_NaN());
  return made;
}

}  // namespace

Abilities PatternSpectra::abilities(const PassShape& shape) const {
  if (plan_->rows() != shape.detector.out_rows || plan_->cols() != shape.detector.out_cols)
    throw Error(ErrorKind::bad_input,
                fmt::format("spectra of a detector of {} x {} pixels, but patterns of {} x {}", plan_->rows(),
                            plan_->cols(), shape.detector.out_rows, shape.detector.out_cols));
  const auto pixels = static_cast<std::size_t>(plan_->rows() * plan_->cols());
  const std::size_t scratch = PatternPower::Scratch::bytes(plan_->rows(), plan_->cols());
  return {.sums_of_floats = true,
          .shared_bytes = plan_->bytes() + (near_ ? sizeof(MeasuredPair) : std::size_t{1}) *
                                               static_cast<std::size_t>(shape.scan.positions()),
          .state_bytes = scratch + pixels * (sizeof(double) + (near_ ? 4 * sizeof(float) : std::size_t{0})),
          .tile_bytes = scratch + plan_->bytes()};
}

void PatternSpectra::start(const PassShape& shape) {
  const auto positions = static_cast<std::size_t>(shape.scan.positions());
  mean.assign(static_cast<std::size_t>(plan_->rows() * (plan_->cols() / 2 + 1)), 0);
  frames = 0;
  valid.assign(positions, 0);
  pairs.assign(near_ ? positions : 0, {});
}

std::unique_ptr<Operation::State> PatternSpectra::make_state(const PassShape&) const {
  return std::make_unique<SpectrumState>(*plan_);
}

void PatternSpectra::take(const Tile& tile, State* state) {
  auto& of = static_cast<SpectrumState&>(*state);
  visit_elements(tile.shape->elements, [&](auto element) {
    const auto* frames_of_tile = static_cast<const decltype(element)*>(tile.frames);
    for (Index k = 0; k < tile.count(); ++k) {
      const auto i = static_cast<std::size_t>(k);
      if (tile.present[i] == 0) continue;
      const auto* frame = frames_of_tile + k * plan_->rows() * plan_->cols();
      plan_->run(frame, of.scratch);
      for (std::size_t p = 0; p < of.sum.size(); ++p) of.sum[p] += static_cast<double>(of.scratch.power[p]);
      ++of.frames;
      const auto position = static_cast<std::size_t>(tile.positions[i]);
      valid[position] = 1;
      if (near_) pairs[position] = measure_pair(frame, *plan_, *near_, radius_, of);
    }
  });
}

void PatternSpectra::merge(State& total, State& part) const {
  auto& to = static_cast<SpectrumState&>(total);
  const auto& from = static_cast<const SpectrumState&>(part);
  for (std::size_t p = 0; p < to.sum.size(); ++p) to.sum[p] += from.sum[p];
  to.frames += from.frames;
}

void PatternSpectra::finish(State* total) {
  const auto& of = static_cast<const SpectrumState&>(*total);
  frames = of.frames;
  if (frames == 0) return;
  for (std::size_t p = 0; p < mean.size(); ++p) mean[p] = of.sum[p] / static_cast<double>(frames);
}

}  // namespace sonde::stem
