// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/count/count_electrons.h"

#include <fmt/format.h>

#include <algorithm>

#include "sonde/engine/base/error.h"

namespace sonde::stem {
namespace {

struct FoundElectrons final : Operation::State {
  explicit FoundElectrons(const CountRule& rule) : scratch(rule) {}

  CountRule::Scratch scratch;
  EventParts parts;
  std::uint64_t xrays = 0;
};

void require_detector(const CountRule& rule, const PassShape& shape) {
  if (rule.rows() != shape.detector.out_rows || rule.cols() != shape.detector.out_cols)
    throw Error(ErrorKind::bad_input,
                fmt::format("a rule for a detector of {} x {} pixels, but frames of {} x {}", rule.rows(), rule.cols(),
                            shape.detector.out_rows, shape.detector.out_cols));
}

}  // namespace

Abilities CountElectrons::abilities(const PassShape& shape) const {
  require_detector(*rule_, shape);
  return {
      .shared_bytes = rule_->bytes() + sizeof(std::uint64_t) * static_cast<std::size_t>(shape.detector.out_pixels()),
      .state_bytes = CountRule::Scratch::bytes(rule_->cols()),
      .tile_bytes = CountRule::Scratch::bytes(rule_->cols()) + rule_->bytes()};
}

void CountElectrons::start(const PassShape& shape) {
  list = {
      .scan_rows = shape.scan.out_rows, .scan_cols = shape.scan.out_cols, .rows = rule_->rows(), .cols = rule_->cols()};
  xrays = 0;
  pattern = Array::zeros(Device::cpu(), {rule_->rows(), rule_->cols()}, DType::u64);
}

std::unique_ptr<Operation::State> CountElectrons::make_state(const PassShape&) const {
  return std::make_unique<FoundElectrons>(*rule_);
}

void CountElectrons::take(const Tile& tile, State* state) {
  auto& of = static_cast<FoundElectrons&>(*state);
  visit_elements(tile.shape->elements, [&](auto element) {
    const auto* frames = static_cast<const decltype(element)*>(tile.frames);
    for (Index k = 0; k < tile.count(); ++k) {
      const auto i = static_cast<std::size_t>(k);
      if (tile.present[i] == 0) continue;
      of.xrays += static_cast<std::uint64_t>(
          rule_->count(frames + k * rule_->rows() * rule_->cols(), tile.largest[i], of.scratch, of.parts.index));
      of.parts.end(tile.positions[i]);
    }
  });
}

void CountElectrons::merge(State& total, State& part) const {
  auto& to = static_cast<FoundElectrons&>(total);
  auto& from = static_cast<FoundElectrons&>(part);
  to.parts.append(from.parts);
  to.xrays += from.xrays;
  from.parts = {};
}

void CountElectrons::finish(State* total) {
  const auto& found = static_cast<const FoundElectrons&>(*total);
  gather(found.parts, list);
  xrays = found.xrays;
  auto* sums = static_cast<std::uint64_t*>(pattern.data());
  for (const std::uint32_t pixel : list.index) ++sums[pixel];
}

Abilities CorrectedValues::abilities(const PassShape& shape) const {
  require_detector(*rule_, shape);
  const auto frame = sizeof(float) * static_cast<std::size_t>(shape.detector.out_pixels());
  return {.shared_bytes = rule_->bytes() + frame * static_cast<std::size_t>(shape.scan.positions()),
          .tile_bytes = frame};
}

void CorrectedValues::start(const PassShape& shape) {
  values.assign(static_cast<std::size_t>(shape.scan.positions() * shape.detector.out_pixels()), 0);
  present.assign(static_cast<std::size_t>(shape.scan.positions()), 0);
}

void CorrectedValues::take(const Tile& tile, State*) {
  const Index pixels = rule_->rows() * rule_->cols();
  visit_elements(tile.shape->elements, [&](auto element) {
    const auto* frames = static_cast<const decltype(element)*>(tile.frames);
    for (Index k = 0; k < tile.count(); ++k) {
      const auto i = static_cast<std::size_t>(k);
      if (tile.present[i] == 0) continue;
      float* to = values.data() + tile.positions[i] * pixels;
      for (Index row = 0; row < rule_->rows(); ++row)
        rule_->correct(frames + k * pixels, row, to + row * rule_->cols());
      present[static_cast<std::size_t>(tile.positions[i])] = 1;
    }
  });
}

}  // namespace sonde::stem
