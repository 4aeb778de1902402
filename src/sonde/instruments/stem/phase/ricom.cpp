// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/phase/ricom.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <utility>

#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/math/fft.h"

namespace sonde::stem {

RicomKernel::RicomKernel(const RicomSettings& settings, double step_row, double step_col) : half_(settings.half) {
  const auto count = static_cast<std::size_t>(width() * width());
  x_.assign(count, 0);
  y_.assign(count, 0);
  std::size_t at = 0;
  for (Index row = -half_; row <= half_; ++row)
    for (Index col = -half_; col <= half_; ++col, ++at) {
      if (row == 0 && col == 0) continue;
      const double dy = static_cast<double>(row) * (settings.normalise ? step_row : 1),
                   dx = static_cast<double>(col) * (settings.normalise ? step_col : 1);
      const double scale = settings.normalise ? step_row * step_col / (2 * std::numbers::pi) : 1;
      x_[at] = scale * dx / (dx * dx + dy * dy);
      y_[at] = scale * dy / (dx * dx + dy * dy);
    }
  if (settings.lowest || settings.highest) pass_band(settings);
  // (M v).K = v.(M^T K), with M = R T: the vectors need not be turned.
  const double c = std::cos(settings.orientation.rotation), s = std::sin(settings.orientation.rotation);
  for (std::size_t i = 0; i < count; ++i) {
    const double x = x_[i], y = y_[i];
    x_[i] = c * x + s * y;
    y_[i] = c * y - s * x;
    if (settings.orientation.transpose) std::swap(x_[i], y_[i]);
  }
}

void RicomKernel::pass_band(const RicomSettings& settings) {
  const auto fft = Fft2d<double>::prepare({.rows = width(), .cols = width()});
  std::vector<std::complex<double>> both(x_.size());
  // The band is symmetric, so that real and imaginary parts stay apart.
  for (std::size_t i = 0; i < both.size(); ++i) both[i] = {x_[i], y_[i]};
  fft.transform(both.data(), FftDirection::forward);
  for (Index row = 0; row < width(); ++row)
    for (Index col = 0; col < width(); ++col) {
      const auto cycles = [this](Index at) { return static_cast<double>(at <= half_ ? at : at - width()); };
      const double f = std::hypot(cycles(row), cycles(col));
      if ((settings.lowest && f <= *settings.lowest) || (settings.highest && f > *settings.highest))
        both[static_cast<std::size_t>(row * width() + col)] = 0;
    }
  fft.transform(both.data(), FftDirection::inverse);
  for (std::size_t i = 0; i < both.size(); ++i) {
    x_[i] = both[i].real() / static_cast<double>(both.size());
    y_[i] = both[i].imag() / static_cast<double>(both.size());
  }
}

RicomImage::RicomImage(RicomKernel kernel, Index rows, Index cols)
    : kernel_(std::move(kernel)),
      rows_(rows),
      cols_(cols),
      values_(static_cast<std::size_t>(rows * cols)),
      added_(static_cast<std::size_t>(rows * cols)) {}

bool RicomImage::add(Index row, Index col, double x, double y) {
  if (std::exchange(added_[static_cast<std::size_t>(row * cols_ + col)], std::uint8_t{1}) != 0) return false;
  const Index half = kernel_.half(), left = std::max<Index>(0, col - half), right = std::min(cols_, col + half + 1);
  for (Index r = std::max<Index>(0, row - half); r < std::min(rows_, row + half + 1); ++r) {
    // Element (r - row, c - col) of the kernel.
    const Index offset = (r - row + half) * kernel_.width() + half - col;
    for (Index c = left; c < right; ++c)
      values_[static_cast<std::size_t>(r * cols_ + c)] += x * kernel_.x()[offset + c] + y * kernel_.y()[offset + c];
  }
  return true;
}

std::vector<std::uint8_t> reached(const std::vector<std::uint8_t>& there, Index rows, Index cols, Index half) {
  // Sums over the rectangles that begin at the corner give those over all others.
  std::vector<Index> corner(static_cast<std::size_t>((rows + 1) * (cols + 1)));
  const auto at = [&](Index row, Index col) -> Index& {
    return corner[static_cast<std::size_t>(row * (cols + 1) + col)];
  };
  for (Index row = 0; row < rows; ++row)
    for (Index col = 0; col < cols; ++col)
      at(row + 1, col + 1) =
          there[static_cast<std::size_t>(row * cols + col)] + at(row, col + 1) + at(row + 1, col) - at(row, col);
  std::vector<std::uint8_t> complete(there.size());
  for (Index row = half; row + half < rows; ++row)
    for (Index col = half; col + half < cols; ++col) {
      const Index found = at(row + half + 1, col + half + 1) - at(row - half, col + half + 1) -
                          at(row + half + 1, col - half) + at(row - half, col - half);
      complete[static_cast<std::size_t>(row * cols + col)] = found == (2 * half + 1) * (2 * half + 1) ? 1 : 0;
    }
  return complete;
}

std::vector<double> integrate_kernel(const VectorField& g, const RicomKernel& kernel) {
  std::vector<double> x = g.x, y = g.y, values(x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    if (g.valid[i] == 0) x[i] = y[i] = 0;
  const Index half = kernel.half(), width = kernel.width();
  parallel_for(g.rows, 1, [&](Index first, Index last, Worker&) {
    for (Index row = first; row < last; ++row) {
      check_interrupt();
      double* line = values.data() + row * g.cols;
      // Element (row - r, col - c) of the kernel for the position (r, c): whole lines are added, one for each c - col.
      for (Index r = std::max<Index>(0, row - half); r < std::min(g.rows, row + half + 1); ++r)
        for (Index d = -std::min(half, g.cols - 1); d <= std::min(half, g.cols - 1); ++d) {
          const Index element = (row - r + half) * width + half + d;
          const double kx = kernel.x()[element], ky = kernel.y()[element];
          const double *from_x = x.data() + r * g.cols - d, *from_y = y.data() + r * g.cols - d;
          const Index begin = std::max<Index>(0, d), end = std::min(g.cols, g.cols + d);
          for (Index col = begin; col < end; ++col) line[col] += kx * from_x[col] + ky * from_y[col];
        }
    }
  });
  return values;
}

}  // namespace sonde::stem
