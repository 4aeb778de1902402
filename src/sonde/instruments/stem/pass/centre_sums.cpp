// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/pass/centre_sums.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/setting.h"
#include "sonde/instruments/stem/pass/centre_kernels.h"

namespace sonde::stem {
namespace {

struct CentreScratch final : Operation::State {
  explicit CentreScratch(Index cols) : columns(static_cast<std::size_t>(cols)) {}
  std::vector<std::uint64_t> columns;  // as wide as f64
};

/// The largest T that is not above the threshold: whole values exceed both or neither.
template <class T>
T as_element(double threshold) {
  if constexpr (std::is_integral_v<T>) {
    constexpr T most = std::numeric_limits<T>::max();
    return threshold >= static_cast<double>(most) ? most : static_cast<T>(threshold);
  } else {
    T nearest = static_cast<T>(threshold);
    if (static_cast<double>(nearest) > threshold) nearest = std::nextafter(nearest, T(0));
    return nearest;
  }
}

template <class T>
void sum_tile(const Tile& tile, const std::optional<double>& threshold, CentreScratch& scratch, CentreSums& sums) {
  using Sum = cpu::sum_of<T>;
  const DetectorGrid& detector = tile.shape->detector;
  const T limit = as_element<T>(threshold.value_or(0));
  const T* frame = static_cast<const T*>(tile.frames);
  for (std::size_t k = 0; k < tile.positions.size(); ++k, frame += detector.out_pixels()) {
    const auto found = cpu::centre_sums(frame, detector.out_rows, detector.out_cols, static_cast<T>(tile.largest[k]),
                                        threshold ? &limit : nullptr, reinterpret_cast<Sum*>(scratch.columns.data()));
    const auto write = [position = tile.positions[k]](Array& array, Sum sum) {
      static_cast<Sum*>(array.data())[position] = sum;
    };
    write(sums.total, found.total);
    write(sums.moment_row, found.moment_row);
    write(sums.moment_col, found.moment_col);
    write(sums.square_row, found.square_row);
    write(sums.square_col, found.square_col);
  }
}

void sum_lists(const Tile& tile, const std::optional<double>& threshold, Index middle_row, Index middle_col,
               CentreSums& sums) {
  for (std::size_t k = 0; k < tile.positions.size(); ++k) {
    std::uint64_t total = 0, moment_row = 0, moment_col = 0, square_row = 0, square_col = 0;
    tile.lists->visit(k, tile.shape->detector.out_cols, [&](Index row, Index col, std::uint64_t value) {
      if (threshold && static_cast<double>(value) <= *threshold) return;
      total += value;
      moment_row += static_cast<std::uint64_t>(row) * value;
      moment_col += static_cast<std::uint64_t>(col) * value;
      square_row += static_cast<std::uint64_t>((row - middle_row) * (row - middle_row)) * value;
      square_col += static_cast<std::uint64_t>((col - middle_col) * (col - middle_col)) * value;
    });
    const auto write = [position = tile.positions[k]](Array& array, std::uint64_t sum) {
      static_cast<std::uint64_t*>(array.data())[position] = sum;
    };
    write(sums.total, total);
    write(sums.moment_row, moment_row);
    write(sums.moment_col, moment_col);
    write(sums.square_row, square_row);
    write(sums.square_col, square_col);
  }
}

double value_at(const Array& sums, Index position) {
  return sums.dtype() == DType::u64 ? static_cast<double>(static_cast<const std::uint64_t*>(sums.data())[position])
                                    : static_cast<const double*>(sums.data())[position];
}

/// Exact for counts below 2^53 in units of the middle.
double moment_about(const Array& moment, const Array& total, Index middle, Index position) {
  if (total.dtype() != DType::u64)
    return value_at(moment, position) - static_cast<double>(middle) * value_at(total, position);
  const auto* sums = static_cast<const std::uint64_t*>(moment.data());
  const auto* totals = static_cast<const std::uint64_t*>(total.data());
  return static_cast<double>(
      static_cast<std::int64_t>(sums[position] - static_cast<std::uint64_t>(middle) * totals[position]));
}

}  // namespace

Abilities CentreSums::abilities(const PassShape& shape) const {
  if (threshold_ && !(*threshold_ >= 0))
    throw Error(ErrorKind::bad_input, fmt::format("{} = {}; expected 0 or more", setting("threshold"), *threshold_));
  const std::size_t scratch_bytes = 8 * static_cast<std::size_t>(shape.detector.out_cols);
  return {.lists = true,
          .shared_bytes = 5 * 8 * static_cast<std::size_t>(shape.scan.positions()),
          .state_bytes = scratch_bytes,
          .tile_bytes = scratch_bytes};
}

void CentreSums::start(const PassShape& shape) {
  middle_row_ = shape.detector.out_rows / 2;
  middle_col_ = shape.detector.out_cols / 2;
  const DType type = shape.counts() ? DType::u64 : DType::f64;
  for (Array* sums : {&total, &moment_row, &moment_col, &square_row, &square_col})
    *sums = Array::zeros(Device::cpu(), {shape.scan.positions()}, type);
}

std::unique_ptr<Operation::State> CentreSums::make_state(const PassShape& shape) const {
  return std::make_unique<CentreScratch>(shape.detector.out_cols);
}

void CentreSums::take(const Tile& tile, State* state) {
  if (tile.lists != nullptr) return sum_lists(tile, threshold_, middle_row_, middle_col_, *this);
  visit_elements(tile.shape->elements, [&](auto element) {
    sum_tile<decltype(element)>(tile, threshold_, static_cast<CentreScratch&>(*state), *this);
  });
}

double CentreSums::counts(Index position) const { return value_at(total, position); }

PatternCentre CentreSums::centre(Index position) const {
  const double all = counts(position);
  if (!(all > 0)) {
    constexpr double no_number = std::numeric_limits<double>::quiet_NaN();
    return {no_number, no_number, no_number, no_number};
  }
  // About the middle, so that little is subtracted from much only for a narrow pattern far from it.
  const auto along = [&](const Array& moment, const Array& square, Index middle, double& centre, double& sigma) {
    const double mean = moment_about(moment, total, middle, position) / all;
    centre = value_at(moment, position) / all;
    sigma = std::sqrt(std::max(0.0, value_at(square, position) / all - mean * mean) / all);
  };
  PatternCentre found;
  along(moment_row, square_row, middle_row_, found.row, found.sigma_row);
  along(moment_col, square_col, middle_col_, found.col, found.sigma_col);
  return found;
}

}  // namespace sonde::stem
