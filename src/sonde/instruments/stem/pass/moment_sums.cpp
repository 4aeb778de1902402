// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/pass/moment_sums.h"

#include <algorithm>

#include "sonde/instruments/stem/pass/frame_kernels.h"

namespace sonde::stem {
namespace {

struct ColumnSums final : Operation::State {
  explicit ColumnSums(Index cols) : values(static_cast<std::size_t>(cols)) {}
  std::vector<std::uint64_t> values;  // scratch of the kernel: as wide as f64
};

template <class T>
void take_moments(const Tile& tile, ColumnSums& columns, MomentSums& sums) {
  using Sum = cpu::sum_of<T>;
  static_assert(sizeof(Sum) == sizeof(std::uint64_t));
  const cpu::FrameKernels<T>& kernels = cpu::frame_kernels<T>();
  const DetectorGrid& detector = tile.shape->detector;
  const T* frame = static_cast<const T*>(tile.frames);
  for (std::size_t k = 0; k < tile.positions.size(); ++k, frame += detector.out_pixels()) {
    const auto of_frame = kernels.moments(frame, detector.out_rows, detector.out_cols, static_cast<T>(tile.largest[k]),
                                          reinterpret_cast<Sum*>(columns.values.data()));
    const Index position = tile.positions[k];
    static_cast<Sum*>(sums.total.data())[position] = of_frame.total;
    static_cast<Sum*>(sums.moment_row.data())[position] = of_frame.moment_row;
    static_cast<Sum*>(sums.moment_col.data())[position] = of_frame.moment_col;
  }
}

void take_lists(const Tile& tile, MomentSums& sums) {
  for (std::size_t k = 0; k < tile.positions.size(); ++k) {
    std::uint64_t total = 0, moment_row = 0, moment_col = 0;
    tile.lists->visit(k, tile.shape->detector.out_cols, [&](Index row, Index col, std::uint64_t value) {
      total += value;
      moment_row += static_cast<std::uint64_t>(row) * value;
      moment_col += static_cast<std::uint64_t>(col) * value;
    });
    const Index position = tile.positions[k];
    static_cast<std::uint64_t*>(sums.total.data())[position] = total;
    static_cast<std::uint64_t*>(sums.moment_row.data())[position] = moment_row;
    static_cast<std::uint64_t*>(sums.moment_col.data())[position] = moment_col;
  }
}

}  // namespace

Abilities MomentSums::abilities(const PassShape& shape) const {
  return {.lists = true,
          .shared_bytes = 3 * 8 * static_cast<std::size_t>(shape.scan.positions()),
          .state_bytes = 8 * static_cast<std::size_t>(shape.detector.out_cols)};
}

void MomentSums::start(const PassShape& shape) {
  const DType type = shape.counts() ? DType::u64 : DType::f64;
  for (Array* sums : {&total, &moment_row, &moment_col})
    *sums = Array::zeros(Device::cpu(), {shape.scan.positions()}, type);
}

std::unique_ptr<Operation::State> MomentSums::make_state(const PassShape& shape) const {
  return std::make_unique<ColumnSums>(shape.detector.out_cols);
}

void MomentSums::take(const Tile& tile, State* state) {
  if (tile.lists != nullptr) return take_lists(tile, *this);
  visit_elements(tile.shape->elements,
                 [&](auto element) { take_moments<decltype(element)>(tile, static_cast<ColumnSums&>(*state), *this); });
}

}  // namespace sonde::stem
