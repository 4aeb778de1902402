// SPDX-License-Identifier: Apache-2.0
// Diffraction is imaging with the two halves of the scan exchanged: over frames it sums "planes" of one position each,
// over planes it sums masked "frames" of one pixel each. The same kernels serve.
#include "sonde/instruments/stem/image/diffraction.h"

#include <fmt/format.h>

#include <cstdint>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/device/dispatch.h"
#include "sonde/instruments/stem/image/diffraction_kernels.h"
#include "sonde/instruments/stem/image/masked_sum_kernels.h"
#include "sonde/instruments/stem/image/plane_sum_kernels.h"

namespace sonde::stem {
namespace {

Index position_count(const ScanView& scan) {
  return scan.layout == Layout::frame_major ? scan.array->shape()[0] : scan.array->shape()[1];
}

void check(const Stream& stream, const ScanView& scan, const Array& pattern, DType dtype) {
  const Shape shape = scan.array->shape();
  const Index pixels = scan.rows * scan.cols;
  const bool fits = scan.layout == Layout::frame_major
                        ? shape.rank() == 3 && shape.last(2) == Shape{scan.rows, scan.cols} && scan.array->contiguous()
                        : shape.rank() == 2 && shape[0] == pixels && (shape[1] <= 1 || scan.array->stride(1) == 1);
  if (!fits)
    throw Error(ErrorKind::bad_input,
                fmt::format("an array of shape {} is not a dense {} scan of {} x {} pixels", shape.text(),
                            scan.layout == Layout::frame_major ? "frame-major" : "pixel-major", scan.rows, scan.cols));
  if (pattern.shape() != Shape{scan.rows, scan.cols} || pattern.dtype() != dtype || !pattern.contiguous())
    throw Error(ErrorKind::bad_input,
                fmt::format("a pattern of {} with shape {}, expected dense {} with shape {}", name(pattern.dtype()),
                            pattern.shape().text(), name(dtype), Shape{scan.rows, scan.cols}.text()));
  require_on(stream, *scan.array, pattern);
}

void check_positions(const ScanView& scan, std::span<const Index> positions) {
  for (const Index position : positions)
    if (position < 0 || position >= position_count(scan))
      throw Error(ErrorKind::bad_input,
                  fmt::format("position {} is outside a scan of {}", position, position_count(scan)));
}

std::vector<PixelRun> runs_of(std::span<const Index> positions) {
  std::vector<PixelRun> runs;
  for (const Index position : positions) {
    if (!runs.empty() && runs.back().offset + runs.back().length == position)
      ++runs.back().length;
    else
      runs.push_back({position, 1});
  }
  return runs;
}

/// Frame-major: (R, pixels). Pixel-major: the pixels as frames of one row of R elements.
template <class T>
View<const T, 2> as_rows(const ScanView& scan) {
  return {static_cast<const T*>(scan.array->data()), position_count(scan), scan.rows * scan.cols};
}
template <class T>
View<const T, 3> as_frames(const ScanView& scan) {
  View<const T, 3> frames(static_cast<const T*>(scan.array->data()), scan.rows * scan.cols, Index{1},
                          position_count(scan));
  frames.stride[0] = scan.array->stride(0);
  return frames;
}
/// (position, pixel) in either layout.
template <class T>
View<const T, 2> by_position(const ScanView& scan) {
  View<const T, 2> view = as_rows<T>(scan);
  if (scan.layout == Layout::pixel_major) {
    view.stride[0] = 1;
    view.stride[1] = scan.array->stride(0);
  }
  return view;
}

/// Calls body(T{}) with the element type.
template <class Body>
void visit_type(const Array& array, Body&& body) {
  switch (array.dtype()) {
    case DType::u8:
      return body(std::uint8_t{});
    case DType::u16:
      return body(std::uint16_t{});
    case DType::u32:
      return body(std::uint32_t{});
    case DType::f32:
      return body(float{});
    default:
      throw Error(ErrorKind::bad_input, fmt::format("a scan of {} elements", name(array.dtype())));
  }
}

template <class T>
View<T, 1> flat(Array& pattern) {
  return {static_cast<T*>(pattern.data()), pattern.count()};
}

void update(Stream& stream, const ScanView& scan, const Array* base, std::span<const Index> added,
            std::span<const Index> removed, Array& pattern) {
  check(stream, scan, pattern, DType::u64);
  check_positions(scan, added);
  check_positions(scan, removed);
  View<const std::uint64_t, 1> start;
  if (base != nullptr) {
    check(stream, scan, *base, DType::u64);
    start = flat<std::uint64_t>(const_cast<Array&>(*base));
  }
  visit_type(*scan.array, [&](auto element) {
    using T = decltype(element);
    if constexpr (std::is_same_v<T, float>) {
      throw Error(ErrorKind::bad_input, "exact sums need counts, not f32; take the mean");
    } else if (scan.layout == Layout::frame_major) {
      SONDE_DISPATCH(stream, plane_update, as_rows<T>(scan), added, removed, start, flat<std::uint64_t>(pattern));
    } else {
      const std::vector<PixelRun> plus = runs_of(added), minus = runs_of(removed);
      SONDE_DISPATCH(stream, masked_update, as_frames<T>(scan), std::span<const PixelRun>(plus),
                     std::span<const PixelRun>(minus), start, flat<std::uint64_t>(pattern));
    }
  });
}

}  // namespace

void pattern_sum(Stream& stream, const ScanView& scan, std::span<const Index> positions, Array& pattern) {
  update(stream, scan, nullptr, positions, {}, pattern);
}

void pattern_update(Stream& stream, const ScanView& scan, const Array& base, std::span<const Index> added,
                    std::span<const Index> removed, Array& pattern) {
  update(stream, scan, &base, added, removed, pattern);
}

void pattern_mean(Stream& stream, const ScanView& scan, std::span<const Index> positions, Array& pattern) {
  check(stream, scan, pattern, DType::f64);
  check_positions(scan, positions);
  if (positions.empty()) throw Error(ErrorKind::bad_input, "the mean pattern of 0 scan positions; expected 1 or more");
  const std::span<const float> no_weights;
  visit_type(*scan.array, [&](auto element) {
    using T = decltype(element);
    if (scan.layout == Layout::frame_major) {
      SONDE_DISPATCH(stream, weighted_plane_sum, as_rows<T>(scan), positions, no_weights, flat<double>(pattern));
    } else {
      const std::vector<PixelRun> runs = runs_of(positions);
      SONDE_DISPATCH(stream, weighted_masked_sum, as_frames<T>(scan), std::span<const PixelRun>(runs), no_weights,
                     flat<double>(pattern));
    }
  });
  SONDE_DISPATCH(stream, divide, flat<double>(pattern), static_cast<double>(positions.size()));
}

void pattern_maximum(Stream& stream, const ScanView& scan, std::span<const Index> positions, Array& pattern) {
  check(stream, scan, pattern, scan.array->dtype());
  check_positions(scan, positions);
  visit_type(*scan.array, [&](auto element) {
    using T = decltype(element);
    SONDE_DISPATCH(stream, pattern_maximum, by_position<T>(scan), positions, flat<T>(pattern));
  });
}

void read_pattern(Stream& stream, const ScanView& scan, Index position, Array& pattern) {
  pattern_maximum(stream, scan, std::span<const Index>(&position, 1), pattern);
}

std::vector<Index> scan_positions(Index scan_rows, Index scan_cols, Index row0, Index row1, Index col0, Index col1) {
  if (row0 < 0 || col0 < 0 || row0 >= row1 || col0 >= col1 || row1 > scan_rows || col1 > scan_cols)
    throw Error(ErrorKind::bad_input, fmt::format("scan region rows {} to {}, columns {} to {}: not within {} x {}",
                                                  row0, row1, col0, col1, scan_rows, scan_cols))
        .hint("a region is row0,row1,col0,col1; row1 and col1 are the first ones outside");
  std::vector<Index> positions;
  for (Index row = row0; row < row1; ++row)
    for (Index col = col0; col < col1; ++col) positions.push_back(row * scan_cols + col);
  return positions;
}

}  // namespace sonde::stem
