// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <numbers>

#include "sonde/engine/array/view.h"
#include "sonde/instruments/stem/phase/cosine_solver.h"
#include "sonde/instruments/stem/phase/integrate.h"

namespace sonde::stem {
namespace {

/// Of second differences with free ends.
std::vector<double> eigenvalues(Index length, double step) {
  std::vector<double> values;
  for (Index k = 0; k < length; ++k) {
    const double sine = std::sin(std::numbers::pi * static_cast<double>(k) / static_cast<double>(2 * length)) / step;
    values.push_back(4 * sine * sine);
  }
  return values;
}

/// The columns of a matrix as lines.
View<double, 2> columns_of(double* data, Index rows, Index cols) {
  View<double, 2> view(data, cols, rows);
  view.stride[0] = 1;
  view.stride[1] = cols;
  return view;
}

}  // namespace

CosineSolver::CosineSolver(Index rows, Index cols, double step_row, double step_col, double regularise)
    : rows_(rows),
      cols_(cols),
      of_rows_(eigenvalues(rows, step_row)),
      of_cols_(eigenvalues(cols, step_col)),
      regularise_(regularise),
      along_rows_(Dct<double>::prepare({.length = rows, .batch = cols})),
      along_cols_(Dct<double>::prepare({.length = cols, .batch = rows})) {}

void CosineSolver::solve(std::vector<double>& image) {
  const View<double, 2> lines(image.data(), rows_, cols_), columns = columns_of(image.data(), rows_, cols_);
  along_cols_.transform(stream_, lines, lines, FftDirection::forward);
  along_rows_.transform(stream_, columns, columns, FftDirection::forward);
  const double scale = 1 / (4 * static_cast<double>(rows_ * cols_));  // forward and inverse: 2 N along each axis
  for (Index row = 0; row < rows_; ++row)
    for (Index col = 0; col < cols_; ++col) {
      const double value =
          of_rows_[static_cast<std::size_t>(row)] + of_cols_[static_cast<std::size_t>(col)] + regularise_;
      double& element = image[static_cast<std::size_t>(row * cols_ + col)];
      element = value > 0 ? scale * element / value : 0;
    }
  along_rows_.transform(stream_, columns, columns, FftDirection::inverse);
  along_cols_.transform(stream_, lines, lines, FftDirection::inverse);
}

std::vector<double> integrate_cosine(const VectorField& gradient, double regularise) {
  const VectorField g = filled(gradient);
  std::vector<double> image(static_cast<std::size_t>(g.positions()));
  for (Index row = 0; row < g.rows; ++row)
    for (Index col = 0; col < g.cols; ++col) {
      const auto here = static_cast<std::size_t>(row * g.cols + col), right = here + 1,
                 below = here + static_cast<std::size_t>(g.cols);
      if (col + 1 < g.cols) {
        const double flow = (g.x[here] + g.x[right]) / (2 * g.step_col);
        image[here] -= flow;
        image[right] += flow;
      }
      if (row + 1 < g.rows) {
        const double flow = (g.y[here] + g.y[below]) / (2 * g.step_row);
        image[here] -= flow;
        image[below] += flow;
      }
    }
  CosineSolver(g.rows, g.cols, g.step_row, g.step_col, regularise).solve(image);
  return image;
}

}  // namespace sonde::stem
