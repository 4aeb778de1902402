// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/simulate/expectation.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/device/parallel.h"

namespace sonde::stem {
namespace {

// Positions whose patterns are summed in one piece; pieces are added in order, so the sum is the same on any number of
// threads. 16 K positions make 64 pieces of 0.3 MB for 192 x 192 pixels.
constexpr Index pieces_at_most = 64;

struct ExpectationScratch {
  Model::Scratch profile;
  std::vector<double> rate;
};

/// sum, sum of row x value, of row^2 x value and so on over one pattern.
struct Moments2 {
  double total = 0, row = 0, col = 0, row2 = 0, col2 = 0;
};

Moments2 moments_of(std::span<const double> rate, Index rows, Index cols) {
  Moments2 sum;
  for (Index row = 0; row < rows; ++row) {
    double line = 0, line_col = 0, line_col2 = 0;
    for (Index col = 0; col < cols; ++col) {
      const double value = rate[static_cast<std::size_t>(row * cols + col)], x = static_cast<double>(col);
      line += value;
      line_col += x * value;
      line_col2 += x * x * value;
    }
    const double y = static_cast<double>(row);
    sum.total += line;
    sum.row += y * line;
    sum.row2 += y * y * line;
    sum.col += line_col;
    sum.col2 += line_col2;
  }
  return sum;
}

}  // namespace

Expectation expect(const Model& model, std::span<const Mask> masks, std::span<const std::uint8_t> good) {
  const Index rows = model.optics().rows, cols = model.optics().cols, positions = model.positions();
  for (const Mask& mask : masks)
    if (mask.rows != rows || mask.cols != cols)
      throw Error(ErrorKind::bad_input,
                  fmt::format("a mask of {} x {} pixels for a detector of {} x {}", mask.rows, mask.cols, rows, cols));
  std::vector<std::uint8_t> counting(good.begin(), good.end());
  if (counting.empty()) counting = model.good();
  if (static_cast<Index>(counting.size()) != model.pixels())
    throw Error(ErrorKind::bad_input, fmt::format("the mask of good pixels has {} values for a detector of {} pixels",
                                                  counting.size(), model.pixels()));

  const auto mask_count = static_cast<Index>(masks.size());
  const auto line = [&] { return Array::zeros(Device::cpu(), {positions}, DType::f64); };
  Expectation result{.images = Array::zeros(Device::cpu(), {mask_count, positions}, DType::f64),
                     .variances = Array::zeros(Device::cpu(), {mask_count, positions}, DType::f64),
                     .total = line(),
                     .moment_row = line(),
                     .moment_col = line(),
                     .variance_row = line(),
                     .variance_col = line(),
                     .pattern = Array::zeros(Device::cpu(), {rows, cols}, DType::f64)};
  const auto images = result.images.view<double, 2>(), variances = result.variances.view<double, 2>();
  const auto total = result.total.view<double, 1>();
  const auto moment_row = result.moment_row.view<double, 1>(), moment_col = result.moment_col.view<double, 1>();
  const auto variance_row = result.variance_row.view<double, 1>(), variance_col = result.variance_col.view<double, 1>();

  const auto pixels = static_cast<std::size_t>(model.pixels());
  const Index piece = std::max<Index>(1, (positions + pieces_at_most - 1) / pieces_at_most);
  std::vector<std::vector<double>> patterns(static_cast<std::size_t>((positions + piece - 1) / piece));
  PerWorker<ExpectationScratch> scratch([&] {
    ExpectationScratch fresh;
    fresh.rate.resize(pixels);
    return fresh;
  });
  parallel_for(positions, piece, [&](Index first, Index last, Worker& worker) {
    ExpectationScratch& own = scratch[worker];
    std::vector<double>& pattern = patterns[static_cast<std::size_t>(first / piece)];
    pattern.assign(pixels, 0);
    for (Index position = first; position < last; ++position) {
      check_interrupt();
      model.rates(position, own.profile, own.rate);
      for (std::size_t i = 0; i < pixels; ++i) {
        own.rate[i] = counting[i] != 0 ? own.rate[i] : 0;
        pattern[i] += own.rate[i];
      }
      const Moments2 sums = moments_of(own.rate, rows, cols);
      total(position) = sums.total;
      moment_row(position) = sums.row;
      moment_col(position) = sums.col;
      variance_row(position) = sums.row2;
      variance_col(position) = sums.col2;
      for (Index m = 0; m < mask_count; ++m) {
        const Mask& mask = masks[static_cast<std::size_t>(m)];
        double sum = 0, squares = 0;
        for (std::size_t i = 0; i < mask.pixels.size(); ++i) {
          const double weight = mask.boolean() ? 1 : static_cast<double>(mask.weights[i]);
          const double value = own.rate[static_cast<std::size_t>(mask.pixels[i])];
          sum += weight * value;
          squares += weight * weight * value;
        }
        images(m, position) = sum;
        variances(m, position) = squares;
      }
    }
  });
  auto* sum = static_cast<double*>(result.pattern.data());
  for (const std::vector<double>& pattern : patterns)
    for (std::size_t i = 0; i < pixels; ++i) sum[i] += pattern[i];
  return result;
}

double reduced_chi_square(std::span<const double> measured, std::span<const double> expected,
                          std::span<const double> variance) {
  if (measured.size() != expected.size() || measured.size() != variance.size())
    throw Error(ErrorKind::bad_input, fmt::format("chi-square of {} values with {} expectations and {} variances",
                                                  measured.size(), expected.size(), variance.size()));
  double sum = 0, count = 0;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const double difference = measured[i] - expected[i];
    if (variance[i] > 0) {
      sum += difference * difference / variance[i];
      count += 1;
    } else if (difference != 0) {
      return std::numeric_limits<double>::infinity();
    }
  }
  return count > 0 ? sum / count : 0;
}

double reduced_chi_square(const Array& measured, const Array& expected, const Array& variance, Index line) {
  const Index count = measured.count();
  const auto line_of = [&](const Array& lines) {
    if (lines.dtype() != DType::f64 || !lines.contiguous() || (line + 1) * count > lines.count())
      throw Error(ErrorKind::bad_input,
                  fmt::format("chi-square of an image of {} values with line {} of {} values of {}", count, line,
                              lines.count(), name(lines.dtype())));
    return std::span(static_cast<const double*>(lines.data()) + line * count, static_cast<std::size_t>(count));
  };
  const Array dense = measured.contiguous() ? Array() : measured.clone();
  const Array& source = measured.contiguous() ? measured : dense;
  std::vector<double> values(static_cast<std::size_t>(count));
  const auto copy = [&](auto type) {
    const auto* from = static_cast<const decltype(type)*>(source.data());
    std::transform(from, from + count, values.begin(), [](auto value) { return static_cast<double>(value); });
  };
  switch (measured.dtype()) {
    case DType::u8:
      copy(std::uint8_t{});
      break;
    case DType::u16:
      copy(std::uint16_t{});
      break;
    case DType::u32:
      copy(std::uint32_t{});
      break;
    case DType::u64:
      copy(std::uint64_t{});
      break;
    case DType::f32:
      copy(float{});
      break;
    case DType::f64:
      copy(double{});
      break;
    default:
      throw Error(ErrorKind::bad_input, fmt::format("chi-square of an image of {}", name(measured.dtype())));
  }
  return reduced_chi_square(values, line_of(expected), line_of(variance));
}

}  // namespace sonde::stem
