// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/bragg/bragg_disks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "sonde/engine/base/error.h"

namespace sonde::stem {
namespace {

struct FoundDisks final : Operation::State {
  explicit FoundDisks(const BraggPlan& plan) : scratch(plan) {}

  BraggPlan::Scratch scratch;
  DiskList list;
  std::vector<Index> positions;  // of its patterns
};

}  // namespace

std::size_t BraggDisks::most_bytes(Index positions, Index max_num_peaks) {
  return 2 * sizeof(BraggDisk) * static_cast<std::size_t>(positions) * static_cast<std::size_t>(max_num_peaks);
}

Abilities BraggDisks::abilities(const PassShape& shape) const {
  if (plan_->rows() != shape.detector.out_rows || plan_->cols() != shape.detector.out_cols)
    throw Error(ErrorKind::bad_input,
                fmt::format("disks of a detector of {} x {} pixels, but patterns of {} x {}", plan_->rows(),
                            plan_->cols(), shape.detector.out_rows, shape.detector.out_cols));
  const std::size_t scratch = BraggPlan::Scratch::bytes(plan_->rows(), plan_->cols());
  return {.shared_bytes = plan_->bytes() + most_bytes(shape.scan.positions(), plan_->settings().max_num_peaks),
          .state_bytes = scratch,
          .tile_bytes = scratch + plan_->bytes()};
}

void BraggDisks::start(const PassShape& shape) {
  vectors = {};
  filters = {};
  vectors.scan_rows = shape.scan.out_rows;
  vectors.scan_cols = shape.scan.out_cols;
  vectors.rows = plan_->rows();
  vectors.cols = plan_->cols();
}

std::unique_ptr<Operation::State> BraggDisks::make_state(const PassShape&) const {
  return std::make_unique<FoundDisks>(*plan_);
}

void BraggDisks::take(const Tile& tile, State* state) {
  auto& of = static_cast<FoundDisks&>(*state);
  visit_elements(tile.shape->elements, [&](auto element) {
    const auto* frames = static_cast<const decltype(element)*>(tile.frames);
    for (Index k = 0; k < tile.count(); ++k) {
      const auto i = static_cast<std::size_t>(k);
      if (tile.present[i] == 0) continue;
      plan_->run(frames + k * plan_->rows() * plan_->cols(), 1, of.scratch, of.list);
      of.positions.push_back(tile.positions[i]);
    }
  });
}

void BraggDisks::merge(State& total, State& part) const {
  auto& to = static_cast<FoundDisks&>(total);
  auto& from = static_cast<FoundDisks&>(part);
  const std::size_t before = to.list.disks.size();
  to.list.disks.insert(to.list.disks.end(), from.list.disks.begin(), from.list.disks.end());
  for (const std::size_t end : from.list.ends) to.list.ends.push_back(before + end);
  to.positions.insert(to.positions.end(), from.positions.begin(), from.positions.end());
  to.list.filters += from.list.filters;
  from.list = {};
}

void BraggDisks::finish(State* total) {
  const auto& found = static_cast<const FoundDisks&>(*total);
  const auto positions = static_cast<std::size_t>(vectors.positions());
  vectors.valid.assign(positions, 0);
  vectors.offsets.assign(positions + 1, 0);
  const auto first_of = [&](std::size_t pattern) { return pattern == 0 ? 0 : found.list.ends[pattern - 1]; };
  for (std::size_t pattern = 0; pattern < found.positions.size(); ++pattern) {
    const auto position = static_cast<std::size_t>(found.positions[pattern]);
    vectors.valid[position] = 1;
    vectors.offsets[position + 1] = found.list.ends[pattern] - first_of(pattern);
  }
  for (std::size_t position = 0; position < positions; ++position)
    vectors.offsets[position + 1] += vectors.offsets[position];
  const std::size_t disks = found.list.disks.size();
  for (std::vector<float>* values : {&vectors.qy, &vectors.qx, &vectors.intensity, &vectors.var_y, &vectors.var_x})
    values->resize(disks);
  for (std::size_t pattern = 0; pattern < found.positions.size(); ++pattern) {
    std::size_t to = vectors.offsets[static_cast<std::size_t>(found.positions[pattern])];
    for (std::size_t from = first_of(pattern); from < found.list.ends[pattern]; ++from, ++to) {
      const BraggDisk& disk = found.list.disks[from];
      vectors.qy[to] = disk.qy;
      vectors.qx[to] = disk.qx;
      vectors.intensity[to] = disk.intensity;
      vectors.var_y[to] = disk.var_y;
      vectors.var_x[to] = disk.var_x;
    }
  }
  if (std::all_of(vectors.var_y.begin(), vectors.var_y.end(), [](float v) { return std::isnan(v); })) {
    vectors.var_y.clear();
    vectors.var_x.clear();
  }
  filters = found.list.filters;
}

}  // namespace sonde::stem
