// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/read/frames.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <numbers>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/device/parallel.h"

namespace sonde::ptycho {
namespace {

template <class From, class To>
Array converted(const Array& patterns) {
  Array made(Device::cpu(), patterns.shape(), dtype_of<To>);
  const auto* from = static_cast<const From*>(patterns.data());
  auto* to = static_cast<To*>(made.data());
  parallel_for(patterns.count(), 1 << 16, [&](Index first, Index last, Worker&) {
    for (Index i = first; i < last; ++i) to[i] = static_cast<To>(from[i]);
  });
  return made;
}

/// The index of frequency k in an axis of n pixels.
Index index_of(Index k, Index n, ZeroFrequency zero) { return zero == ZeroFrequency::centre ? k + n / 2 : (k + n) % n; }

/// body(pixel in `from`, pixel in `to`) for every pixel that both have.
template <class Body>
void for_shared(Extent from, Extent to, ZeroFrequency zero, OffCentre off, Body&& body) {
  const auto least = [](Index a, Index shift, Index b) { return -std::min(a / 2 + shift, b / 2); };
  const auto most = [](Index a, Index shift, Index b) { return std::min(a - a / 2 - shift, b - b / 2); };
  for (Index k = least(from.rows, off.rows, to.rows); k < most(from.rows, off.rows, to.rows); ++k)
    for (Index l = least(from.cols, off.cols, to.cols); l < most(from.cols, off.cols, to.cols); ++l)
      body(index_of(k + off.rows, from.rows, zero) * from.cols + index_of(l + off.cols, from.cols, zero),
           index_of(k, to.rows, zero) * to.cols + index_of(l, to.cols, zero));
}

template <class T>
void add_frames(const T* patterns, Index count, Index first_frame, std::span<const Index> skip, std::span<double> sum) {
  const auto pixels = static_cast<Index>(sum.size());
  // Every pixel adds up its frames in their order, whoever works on it.
  parallel_for(pixels, 1024, [&](Index first, Index last, Worker&) {
    for (Index j = 0; j < count; ++j) {
      if (std::binary_search(skip.begin(), skip.end(), first_frame + j)) continue;
      for (Index p = first; p < last; ++p)
        sum[static_cast<std::size_t>(p)] += static_cast<double>(patterns[j * pixels + p]);
    }
  });
}

template <class T>
Index clip(Array& patterns) {
  auto* values = static_cast<T*>(patterns.data());
  std::atomic<Index> clipped{0};
  parallel_for(patterns.count(), 1 << 16, [&](Index first, Index last, Worker&) {
    Index here = 0;
    for (Index i = first; i < last; ++i)
      if (values[i] < 0) {
        values[i] = 0;
        ++here;
      }
    clipped += here;
  });
  return clipped;
}

template <class T>
Index at_limit(const Array& patterns, std::span<const std::uint8_t> good) {
  const auto* values = static_cast<const T*>(patterns.data());
  const Index pixels = patterns.shape()[1] * patterns.shape()[2];
  std::atomic<Index> found{0};
  parallel_for(patterns.shape()[0], 1, [&](Index first, Index last, Worker&) {
    Index here = 0;
    for (Index j = first; j < last; ++j)
      for (Index p = 0; p < pixels; ++p)
        if (values[j * pixels + p] == std::numeric_limits<T>::max() &&
            (good.empty() || good[static_cast<std::size_t>(p)]))
          ++here;
    found += here;
  });
  return found;
}

/// n sum x^2 / (sum x)^2: 1 when all are alike.
double variation(const std::vector<double>& values) {
  double first = 0, second = 0;
  for (const double value : values) {
    first += value;
    second += value * value;
  }
  return first > 0 ? static_cast<double>(values.size()) * second / (first * first) : 0;
}

}  // namespace

DType counted_as(DType stored) {
  switch (stored) {
    case DType::i8:
    case DType::i16:
      return DType::f32;
    case DType::i32:
    case DType::i64:
    case DType::u64:
      return DType::f64;
    case DType::u8:
    case DType::u16:
    case DType::u32:
    case DType::f32:
    case DType::f64:
      return stored;
    default:
      throw Error(ErrorKind::bad_input, fmt::format("patterns of type {} are not counts", name(stored)));
  }
}

Array as_counts(Array patterns) {
  if (counted_as(patterns.dtype()) == patterns.dtype()) return patterns;
  if (patterns.dtype() == DType::i8) return converted<std::int8_t, float>(patterns);
  if (patterns.dtype() == DType::i16) return converted<std::int16_t, float>(patterns);
  if (patterns.dtype() == DType::i32) return converted<std::int32_t, double>(patterns);
  if (patterns.dtype() == DType::i64) return converted<std::int64_t, double>(patterns);
  return converted<std::uint64_t, double>(patterns);
}

Index clip_negative(Array& patterns) {
  if (patterns.dtype() == DType::f32) return clip<float>(patterns);
  if (patterns.dtype() == DType::f64) return clip<double>(patterns);
  return 0;
}

Index saturated_pixels(const Array& patterns, std::span<const std::uint8_t> good) {
  if (patterns.dtype() == DType::u8) return at_limit<std::uint8_t>(patterns, good);
  if (patterns.dtype() == DType::u16) return at_limit<std::uint16_t>(patterns, good);
  if (patterns.dtype() == DType::u32) return at_limit<std::uint32_t>(patterns, good);
  return 0;
}

Array fit_detector(const Array& patterns, ZeroFrequency zero, Extent extent, OffCentre off) {
  const Shape& shape = patterns.shape();
  const Extent from{shape[1], shape[2]};
  Array made = Array::zeros(Device::cpu(), Shape{shape[0], extent.rows, extent.cols}, patterns.dtype());
  const std::size_t bytes = size_bytes(patterns.dtype());
  const auto* source = static_cast<const std::byte*>(patterns.data());
  auto* target = static_cast<std::byte*>(made.data());
  parallel_for(shape[0], 1, [&](Index first, Index last, Worker&) {
    for (Index j = first; j < last; ++j)
      for_shared(from, extent, zero, off, [&](Index a, Index b) {
        std::memcpy(target + static_cast<std::size_t>(j * extent.rows * extent.cols + b) * bytes,
                    source + static_cast<std::size_t>(j * from.rows * from.cols + a) * bytes, bytes);
      });
  });
  return made;
}

std::vector<std::uint8_t> fit_mask(std::span<const std::uint8_t> good, Extent from, ZeroFrequency zero, Extent extent,
                                   OffCentre off) {
  std::vector<std::uint8_t> fitted(static_cast<std::size_t>(extent.rows * extent.cols), 0);
  for_shared(from, extent, zero, off, [&](Index a, Index b) {
    fitted[static_cast<std::size_t>(b)] = good.empty() ? 1 : good[static_cast<std::size_t>(a)];
  });
  return fitted;
}

void add_patterns(const Array& patterns, Index first, std::span<const Index> skip, std::span<double> sum) {
  const auto add = [&](auto type) {
    using T = decltype(type);
    add_frames(static_cast<const T*>(patterns.data()), patterns.shape()[0], first, skip, sum);
  };
  if (patterns.dtype() == DType::u8) add(std::uint8_t{});
  if (patterns.dtype() == DType::u16) add(std::uint16_t{});
  if (patterns.dtype() == DType::u32) add(std::uint32_t{});
  if (patterns.dtype() == DType::f32) add(float{});
  if (patterns.dtype() == DType::f64) add(double{});
}

bool zero_frequency_doubtful(std::span<const double> sum, Extent extent, std::span<const std::uint8_t> good,
                             ZeroFrequency zero) {
  const Index rows = extent.rows, cols = extent.cols;
  std::complex<double> row, col;
  double total = 0;
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c < cols; ++c) {
      const auto p = static_cast<std::size_t>(r * cols + c);
      if ((!good.empty() && good[p] == 0) || !std::isfinite(sum[p])) continue;
      const double turn = 2 * std::numbers::pi;
      row += std::polar(sum[p], turn * static_cast<double>(r) / static_cast<double>(rows));
      col += std::polar(sum[p], turn * static_cast<double>(c) / static_cast<double>(cols));
      total += sum[p];
    }
  // Directions: +1 for index 0, -1 for the middle. Below a tenth the counts are everywhere and say nothing.
  const double wanted = zero == ZeroFrequency::corner ? 1 : -1;
  return total > 0 && wanted * row.real() < -0.1 * total && wanted * col.real() < -0.1 * total;
}

bool axes_doubtful(std::span<const double> sum, std::span<const std::uint8_t> good, std::span<const CountSums> frames) {
  std::vector<double> pixels, totals;
  for (std::size_t p = 0; p < sum.size(); ++p)
    if ((good.empty() || good[p] != 0) && std::isfinite(sum[p])) pixels.push_back(sum[p]);
  for (const CountSums& frame : frames) totals.push_back(frame.counts);
  // A disk of a third of the detector's width has 11, absorption of four fifths in half of a scan 1.4.
  constexpr double much = 2;
  return variation(totals) > much && variation(totals) > much * variation(pixels);
}

std::vector<std::array<Index, 2>> hot_pixels(View<const double, 2> mean) {
  const Index rows = mean.extent[0], cols = mean.extent[1];
  // The level of the disk, of the pixels but the brightest hundredth: hot ones are among these.
  std::vector<double> sorted(mean.data, mean.data + rows * cols);
  const auto most = sorted.begin() + rows * cols * 99 / 100;
  std::nth_element(sorted.begin(), most, sorted.end());
  double first = 0, second = 0;
  for (auto value = sorted.begin(); value <= most && value != sorted.end(); ++value) {
    first += *value;
    second += *value * *value;
  }
  std::vector<std::array<Index, 2>> hot;
  if (!(first > 0) || rows < 3 || cols < 3) return hot;
  constexpr double times = 20, least = 0.02;
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c < cols; ++c) {
      if (!(mean(r, c) > times * least * second / first)) continue;
      std::vector<double> around;
      for (Index i = -1; i <= 1; ++i)
        for (Index j = -1; j <= 1; ++j)
          if (i != 0 || j != 0) around.push_back(mean((r + i + rows) % rows, (c + j + cols) % cols));
      std::nth_element(around.begin(), around.begin() + 5, around.end());
      if (mean(r, c) > times * std::max(around[5], least * second / first)) hot.push_back({r, c});
    }
  return hot;
}

std::optional<BrightDisk> bright_disk(View<const double, 2> mean, const Sampling& sampling) {
  double first = 0, second = 0;
  for (Index r = 0; r < mean.extent[0]; ++r)
    for (Index c = 0; c < mean.extent[1]; ++c) {
      first += mean(r, c);
      second += mean(r, c) * mean(r, c);
    }
  if (!(first > 0)) return std::nullopt;
  const double level = second / first;
  double area = 0;
  Point sum;
  const auto from_zero = [](Index i, Index n) { return static_cast<double>(i < (n + 1) / 2 ? i : i - n); };
  for (Index r = 0; r < mean.extent[0]; ++r)
    for (Index c = 0; c < mean.extent[1]; ++c) {
      if (!(mean(r, c) > level / 2)) continue;
      area += 1;
      sum = {sum.row + from_zero(r, mean.extent[0]), sum.col + from_zero(c, mean.extent[1])};
    }
  constexpr double least = 28;  // pixels, a radius of three
  if (area < least) return std::nullopt;
  return BrightDisk{std::sqrt(area * sampling.angle_row() * sampling.angle_col() / std::numbers::pi),
                    {sum.row / area, sum.col / area}};
}

}  // namespace sonde::ptycho
