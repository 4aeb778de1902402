// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/phase/vector_field.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace sonde::stem {
namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

/// A mean with these weights of |k|, 0 first, over the positions i + k of a line that has `before` positions before i
/// and `after` behind it: at an end, the value at i of the line that fits best, so that slopes do not bend there.
std::vector<double> kernel_at(const std::vector<double>& weights, Index before, Index after) {
  const Index reach = std::ssize(weights) - 1, first = std::max(-reach, -before), last = std::min(reach, after);
  double sum = 0, slope = 0, square = 0;
  for (Index k = first; k <= last; ++k) {
    const double w = weights[static_cast<std::size_t>(std::abs(k))], at = static_cast<double>(k);
    sum += w;
    slope += at * w;
    square += at * at * w;
  }
  const double determinant = sum * square - slope * slope;
  std::vector<double> kernel;
  for (Index k = first; k <= last; ++k) {
    const double w = weights[static_cast<std::size_t>(std::abs(k))];
    kernel.push_back(determinant > 0 ? w * (square - static_cast<double>(k) * slope) / determinant : w / sum);
  }
  return kernel;
}

/// The blur along one axis of (rows, cols).
void blur_lines(const std::vector<double>& weights, Index rows, Index cols, bool along_rows,
                std::vector<double>& image) {
  const Index reach = std::ssize(weights) - 1, length = along_rows ? rows : cols, stride = along_rows ? cols : 1;
  std::vector<std::vector<double>> kernels;
  for (Index at = 0; at < length; ++at) kernels.push_back(kernel_at(weights, at, length - 1 - at));
  std::vector<double> made(image.size());
  for (Index row = 0; row < rows; ++row)
    for (Index col = 0; col < cols; ++col) {
      const Index at = along_rows ? row : col, here = row * cols + col;
      Index from = here + std::max(-reach, -at) * stride;
      double sum = 0;
      for (const double weight : kernels[static_cast<std::size_t>(at)]) {
        sum += weight * image[static_cast<std::size_t>(from)];
        from += stride;
      }
      made[static_cast<std::size_t>(here)] = sum;
    }
  image = std::move(made);
}

}  // namespace

Index VectorField::missing() const { return std::count(valid.begin(), valid.end(), std::uint8_t{0}); }

VectorField make_field(Index rows, Index cols, double step_row, double step_col) {
  VectorField field{.rows = rows, .cols = cols, .step_row = step_row, .step_col = step_col};
  const auto count = static_cast<std::size_t>(rows * cols);
  field.x.assign(count, 0);
  field.y.assign(count, 0);
  field.counts.assign(count, 1);
  field.valid.assign(count, 1);
  return field;
}

VectorField turned(VectorField field, double rotation, bool transpose, double scale) {
  const double c = scale * std::cos(rotation), s = scale * std::sin(rotation);
  if (transpose) std::swap(field.x, field.y);
  for (std::size_t i = 0; i < field.x.size(); ++i) {
    const double x = field.x[i], y = field.y[i];
    field.x[i] = c * x - s * y;
    field.y[i] = s * x + c * y;
  }
  return field;
}

VectorField blurred(VectorField field, double sigma) {
  if (!(sigma > 0)) return field;
  std::vector<double> weights;
  for (Index k = 0; k <= static_cast<Index>(std::ceil(4 * sigma)); ++k)
    weights.push_back(std::exp(-static_cast<double>(k * k) / (2 * sigma * sigma)));
  field = filled(std::move(field));
  for (std::vector<double>* image : {&field.x, &field.y}) {
    for (const bool along_rows : {false, true}) blur_lines(weights, field.rows, field.cols, along_rows, *image);
    for (std::size_t i = 0; i < image->size(); ++i)
      if (field.valid[i] == 0) (*image)[i] = no_number;
  }
  return field;
}

CurlAndDivergence curl_and_divergence(const VectorField& field) {
  const auto count = static_cast<std::size_t>(field.positions());
  CurlAndDivergence made{std::vector<double>(count, no_number), std::vector<double>(count, no_number)};
  for (Index row = 1; row + 1 < field.rows; ++row)
    for (Index col = 1; col + 1 < field.cols; ++col) {
      const auto here = static_cast<std::size_t>(row * field.cols + col),
                 below = here + static_cast<std::size_t>(field.cols),
                 above = here - static_cast<std::size_t>(field.cols);
      if (field.valid[here] == 0) continue;
      const double per_x = 1 / (2 * field.step_col), per_y = 1 / (2 * field.step_row);
      // NaN of a missing neighbour goes through.
      made.curl[here] = per_x * (field.y[here + 1] - field.y[here - 1]) - per_y * (field.x[below] - field.x[above]);
      made.divergence[here] =
          per_x * (field.x[here + 1] - field.x[here - 1]) + per_y * (field.y[below] - field.y[above]);
    }
  return made;
}

VectorField filled(VectorField field) {
  std::vector<std::uint8_t> known = field.valid;
  for (bool changed = true; changed;) {
    changed = false;
    std::vector<std::uint8_t> next = known;
    for (Index row = 0; row < field.rows; ++row)
      for (Index col = 0; col < field.cols; ++col) {
        const auto here = static_cast<std::size_t>(row * field.cols + col);
        if (known[here] != 0) continue;
        double x = 0, y = 0;
        int neighbours = 0;
        const auto add = [&](bool inside, Index offset) {
          const auto at = static_cast<std::size_t>(static_cast<Index>(here) + offset);
          if (!inside || known[at] == 0) return;
          x += field.x[at];
          y += field.y[at];
          ++neighbours;
        };
        add(row > 0, -field.cols);
        add(row + 1 < field.rows, field.cols);
        add(col > 0, -1);
        add(col + 1 < field.cols, 1);
        if (neighbours == 0) continue;
        field.x[here] = x / neighbours;
        field.y[here] = y / neighbours;
        next[here] = 1;
        changed = true;
      }
    known = std::move(next);
  }
  for (std::size_t i = 0; i < known.size(); ++i)
    if (known[i] == 0) field.x[i] = field.y[i] = 0;  // nothing is known of any position
  return field;
}

}  // namespace sonde::stem
