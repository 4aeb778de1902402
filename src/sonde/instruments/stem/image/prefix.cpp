// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/image/prefix.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sonde/engine/base/error.h"
#include "sonde/engine/device/dispatch.h"
#include "sonde/instruments/stem/image/mask.h"
#include "sonde/instruments/stem/image/plane_sum.h"
#include "sonde/instruments/stem/image/prefix_kernels.h"
#include "sonde/instruments/stem/image/sample_set.h"

namespace sonde::stem {
namespace {

std::int32_t ring_of(Index row, Index col, double centre_row, double centre_col) {
  return static_cast<std::int32_t>(
      std::floor(distance(static_cast<double>(row) - centre_row, static_cast<double>(col) - centre_col)));
}

/// One more than the ring of the farthest pixel, which is a corner.
Index ring_count(Index rows, Index cols, double centre_row, double centre_col) {
  std::int32_t farthest = -1;
  if (rows > 0 && cols > 0)
    for (const Index row : {Index{0}, rows - 1})
      for (const Index col : {Index{0}, cols - 1})
        farthest = std::max(farthest, ring_of(row, col, centre_row, centre_col));
  return farthest + 1;
}

View<const std::uint64_t, 1> running(const Array& image) { return image.view<std::uint64_t, 1>(); }

}  // namespace

std::size_t RadialPrefix::bytes(Index positions, Index rows, Index cols, DType dtype, double centre_row,
                                double centre_col) {
  return static_cast<std::size_t>(positions * (ring_count(rows, cols, centre_row, centre_col) + 1)) *
         size_bytes(accumulator(dtype, rows * cols));
}

RadialPrefix RadialPrefix::build(Stream& stream, const Array& planes, Index rows, Index cols,
                                 std::span<const std::uint8_t> good, double centre_row, double centre_col) {
  const Index pixels = rows * cols, margin = 10 * (rows + cols) + 1;
  if (planes.shape().rank() != 2 || planes.shape()[0] != pixels ||
      (!good.empty() && static_cast<Index>(good.size()) != pixels))
    throw Error(ErrorKind::bad_input,
                fmt::format("planes of shape {} and a detector of {} x {} pixels", planes.shape().text(), rows, cols));
  if (!(std::abs(centre_row) <= static_cast<double>(margin) && std::abs(centre_col) <= static_cast<double>(margin)))
    throw Error(ErrorKind::bad_input, fmt::format("a centre at ({}, {}), far from the detector of {} x {} pixels",
                                                  centre_row, centre_col, rows, cols));
  const Index rings = ring_count(rows, cols, centre_row, centre_col), positions = planes.shape()[1];
  RadialPrefix prefix;
  prefix.centre_row_ = centre_row;
  prefix.centre_col_ = centre_col;
  prefix.ring_.assign(static_cast<std::size_t>(pixels), -1);
  prefix.ring_area_.assign(static_cast<std::size_t>(rings), 0);
  std::vector<std::vector<Index>> members(static_cast<std::size_t>(rings));
  for (Index pixel = 0; pixel < pixels; ++pixel) {
    if (!good.empty() && good[static_cast<std::size_t>(pixel)] == 0) continue;
    const std::int32_t ring = ring_of(pixel / cols, pixel % cols, centre_row, centre_col);
    prefix.ring_[static_cast<std::size_t>(pixel)] = ring;
    ++prefix.ring_area_[static_cast<std::size_t>(ring)];
    members[static_cast<std::size_t>(ring)].push_back(pixel);
  }

  prefix.sums_ = Array(stream.device(), {rings + 1, positions}, accumulator(planes.dtype(), pixels));
  Array image = Array::zeros(stream.device(), {positions}, DType::u64);
  for (Index k = 0; k <= rings; ++k) {
    if (k > 0) plane_sum(stream, planes, members[static_cast<std::size_t>(k - 1)], image, Sign::add);
    if (prefix.sums_.dtype() == DType::u32)
      SONDE_DISPATCH(stream, store_sums, running(image), (prefix.sums_.view<std::uint32_t, 2>()[k]));
    else
      SONDE_DISPATCH(stream, store_sums, running(image), (prefix.sums_.view<std::uint64_t, 2>()[k]));
  }
  stream.synchronise();  // the running sum is freed here
  return prefix;
}

RadialPrefix::Rings RadialPrefix::nearest(const PixelSet& pixels) const {
  // Taking ring k changes the difference by (its pixels outside the set) - (its pixels inside): the best run of rings
  // is the one with the smallest sum of these.
  std::vector<Index> gain = ring_area_;
  Index area = 0;
  for (std::size_t pixel = 0; pixel < ring_.size(); ++pixel)
    if (ring_[pixel] >= 0 && pixels.holds(static_cast<Index>(pixel))) {
      gain[static_cast<std::size_t>(ring_[pixel])] -= 2;
      ++area;
    }
  Rings best{0, 0, area};
  Index sum = 0, from = 0;
  for (Index k = 0; k < static_cast<Index>(gain.size()); ++k) {
    if (sum > 0) {
      sum = 0;
      from = k;
    }
    sum += gain[static_cast<std::size_t>(k)];
    if (area + sum < best.difference) best = {from, k + 1, area + sum};
  }
  return best;
}

PixelSet RadialPrefix::pixels(const Rings& rings) const {
  PixelSet set(static_cast<Index>(ring_.size()));
  for (std::size_t pixel = 0; pixel < ring_.size(); ++pixel)
    if (ring_[pixel] >= rings.from && ring_[pixel] < rings.to) set.insert(static_cast<Index>(pixel));
  return set;
}

void RadialPrefix::image(Stream& stream, const Rings& rings, Array& image) const {
  require_on(stream, sums_, image);
  const View<std::uint64_t, 1> to = image.view<std::uint64_t, 1>();
  if (to.extent[0] != sums_.shape()[1])
    throw Error(ErrorKind::bad_input,
                fmt::format("an image of shape {} for {} positions", image.shape().text(), sums_.shape()[1]));
  const auto subtract = [&](auto sums) { SONDE_DISPATCH(stream, subtract_sums, sums[rings.to], sums[rings.from], to); };
  if (sums_.dtype() == DType::u32)
    subtract(sums_.view<std::uint32_t, 2>());
  else
    subtract(sums_.view<std::uint64_t, 2>());
}

}  // namespace sonde::stem
