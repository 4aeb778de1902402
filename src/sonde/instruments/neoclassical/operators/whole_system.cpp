// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/operators/whole_system.h"

#include <algorithm>

#include "sonde/instruments/neoclassical/operators/whole_system_kernels.h"

namespace sonde::neoclassical {
namespace {

/// to[j][i] = from[i][j].
void transpose(std::span<const double> from, Index rows, Index columns, std::span<double> to) {
  constexpr Index tile = 8;  // a line of cache each way
  for (Index row = 0; row < rows; row += tile)
    for (Index column = 0; column < columns; column += tile)
      for (Index i = row; i < std::min(row + tile, rows); ++i)
        for (Index j = column; j < std::min(column + tile, columns); ++j)
          to[static_cast<std::size_t>(j * rows + i)] = from[static_cast<std::size_t>(i * columns + j)];
}

}  // namespace

std::size_t WholeSystem::bytes(Index points, Index n_xi) {
  return static_cast<std::size_t>((3 * points + 7) * (n_xi + 1)) * sizeof(double);
}

void WholeSystem::prepare(Index n_xi) {
  levels_ = n_xi + 1;
  const auto levels = static_cast<std::size_t>(levels_);
  for (std::vector<double>* field : {&x_, &y_, &streamed_})
    field->resize(static_cast<std::size_t>(equation_.points()) * levels);
  for (std::vector<double>* line : {&coefficients_.lower, &coefficients_.lower_shift, &coefficients_.upper,
                                    &coefficients_.upper_shift, &coefficients_.collisions, &along_, &across_})
    line->resize(levels);
  for (Index k = 0; k < levels_; ++k) {
    const auto at = static_cast<std::size_t>(k);
    const DriftKinetic::Factors lower = k > 0 ? equation_.lower(k) : DriftKinetic::Factors{0, 0};
    const DriftKinetic::Factors upper = k < n_xi ? equation_.upper(k) : DriftKinetic::Factors{0, 0};
    coefficients_.lower[at] = lower.scale;
    coefficients_.lower_shift[at] = lower.scale * lower.shift;
    coefficients_.upper[at] = upper.scale;
    coefficients_.upper_shift[at] = upper.scale * upper.shift;
  }
}

void WholeSystem::apply(const Case& at, std::span<const double> x, std::span<double> y) {
  const Index points = equation_.points();
  for (Index k = 0; k < levels_; ++k)
    coefficients_.collisions[static_cast<std::size_t>(k)] = DriftKinetic::collisions(at.nu_hat, k);
  transpose(x, levels_, points, x_);
  std::fill(streamed_.begin(), streamed_.end(), 0.0);
  cpu::add_products(equation_.streaming, 1, levels_, x_.data(), streamed_.data());
  cpu::couple(coefficients_, equation_.mirror, x_.data(), streamed_.data(), y_.data());
  if (at.epsi_hat != 0) {
    cpu::add_products(equation_.drift, at.epsi_hat, levels_, x_.data(), y_.data());
    if (!equation_.null_vector.empty()) {
      std::fill(along_.begin(), along_.end(), 0.0);
      std::fill(across_.begin(), across_.end(), 0.0);
      const std::vector<double>&v = equation_.null_vector, &w = equation_.drift_of_null;
      for (Index p = 0; p < points; ++p) {
        const auto point = static_cast<std::size_t>(p);
        for (std::size_t k = 0; k < along_.size(); ++k) {
          along_[k] += at.epsi_hat * v[point] * x_[point * along_.size() + k];
          across_[k] += at.epsi_hat * w[point] * x_[point * along_.size() + k];
        }
      }
      for (Index p = 0; p < points; ++p) {
        const auto point = static_cast<std::size_t>(p);
        for (std::size_t k = 0; k < along_.size(); ++k)
          y_[point * along_.size() + k] += across_[k] * v[point] - along_[k] * w[point];
      }
    }
  }
  if (equation_.pinned(0)) y_[0] = x_[0];
  transpose(y_, points, levels_, y);
}

}  // namespace sonde::neoclassical
