// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/optics/start_modes.h"

#include <fmt/format.h>

#include <cmath>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/ptycho/optics/probe.h"

namespace sonde::ptycho {
namespace {

using Mode = View<complex128, 2>;

complex128 product(const Mode& a, const Mode& b) {
  complex128 sum = 0;
  for (Index i = 0; i < a.count(); ++i) sum += std::conj(a.data[i]) * b.data[i];
  return sum;
}

void scale(const Mode& mode, double factor) {
  for (Index i = 0; i < mode.count(); ++i) mode.data[i] *= factor;
}

/// The place of the probe and its width: in these coordinates the products are of like size.
struct Frame {
  double row, col, width;
};

Frame frame_of(const Mode& mode) {
  double sum = 0, row_sum = 0, col_sum = 0, square_sum = 0;
  for (Index row = 0; row < mode.extent[0]; ++row)
    for (Index col = 0; col < mode.extent[1]; ++col) {
      const double weight = std::norm(mode(row, col)), y = static_cast<double>(row), x = static_cast<double>(col);
      sum += weight;
      row_sum += weight * y;
      col_sum += weight * x;
      square_sum += weight * (y * y + x * x);
    }
  const double row = row_sum / sum, col = col_sum / sum;
  return {row, col, std::sqrt(std::max(square_sum / sum - row * row - col * col, 1e-6))};
}

}  // namespace

Array start_modes(const Array& probe, Index modes, double share) {
  if (probe.shape().rank() != 3 || probe.shape()[0] != 1)
    throw Error(ErrorKind::bad_input,
                fmt::format("start modes are made from one mode, not from {}", probe.shape().text()));
  if (modes < 1 || share <= 0 || static_cast<double>(modes - 1) * share >= 1)
    throw Error(ErrorKind::bad_input, fmt::format("{} probe modes of {} of the power each", modes, share));
  const double counts = power(probe);
  const Index rows = probe.shape()[1], cols = probe.shape()[2];
  Array result(Device::cpu(), {modes, rows, cols}, DType::c128);
  const View<complex128, 3> p = result.view<complex128, 3>();
  const View<const complex128, 3> start = probe.view<complex128, 3>();
  for (Index i = 0; i < start.count(); ++i) p.data[i] = start.data[i];
  scale(p[0], 1 / std::sqrt(counts));
  const Frame frame = frame_of(p[0]);

  Index degree = 1, power_of_x = 0;
  for (Index mode = 1; mode < modes; ++mode) {
    for (Index row = 0; row < rows; ++row)
      for (Index col = 0; col < cols; ++col)
        p(mode, row, col) =
            p(0, row, col) *
            std::pow((static_cast<double>(row) - frame.row) / frame.width, static_cast<double>(degree - power_of_x)) *
            std::pow((static_cast<double>(col) - frame.col) / frame.width, static_cast<double>(power_of_x));
    const double before = std::sqrt(product(p[mode], p[mode]).real());
    // Twice is enough: the second pass removes what rounding left of the first.
    for (int pass = 0; pass < 2; ++pass)
      for (Index other = 0; other < mode; ++other) {
        const complex128 part = product(p[other], p[mode]);
        for (Index i = 0; i < rows * cols; ++i) p[mode].data[i] -= part * p[other].data[i];
      }
    const double left = std::sqrt(product(p[mode], p[mode]).real());
    if (!(left > 1e-9 * before))
      throw Error(ErrorKind::bad_input, fmt::format("the probe has no {} independent modes", modes));
    scale(p[mode], 1 / left);
    if (power_of_x == degree) {
      ++degree;
      power_of_x = 0;
    } else {
      ++power_of_x;
    }
  }
  for (Index mode = 0; mode < modes; ++mode)
    scale(p[mode], std::sqrt(counts * (mode == 0 ? 1 - static_cast<double>(modes - 1) * share : share)));
  return result;
}

}  // namespace sonde::ptycho
