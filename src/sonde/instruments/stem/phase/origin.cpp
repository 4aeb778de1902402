// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/phase/origin.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/setting.h"

namespace sonde::stem {
namespace {

using Terms = std::array<double, Origin::most_terms>;

int terms_of(OriginFit fit) {
  switch (fit) {
    case OriginFit::none:
      return 0;
    case OriginFit::mean:
      return 1;
    case OriginFit::plane:
      return 3;
    case OriginFit::parabola:
      return 6;
  }
  return 0;
}

Terms terms_at(Index row, Index col, Index rows, Index cols) {
  const auto scaled = [](Index at, Index extent) {
    return extent > 1 ? 2 * static_cast<double>(at) / static_cast<double>(extent - 1) - 1 : 0;
  };
  const double u = scaled(col, cols), v = scaled(row, rows);
  return {1, u, v, u * u, u * v, v * v};
}

/// The normal equations of n terms with two right-hand sides.
struct Normal {
  std::array<Terms, Origin::most_terms> matrix{};
  Terms x{}, y{};
};

/// By Cholesky's factors; nothing when the matrix is singular. Terms are of order one, so squares lose nothing.
std::optional<std::pair<Terms, Terms>> solved(const Normal& normal, int n) {
  std::array<Terms, Origin::most_terms> lower{};
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = normal.matrix[i][j];
      for (std::size_t k = 0; k < j; ++k) sum -= lower[i][k] * lower[j][k];
      if (i != j) {
        lower[i][j] = sum / lower[j][j];
        continue;
      }
      if (!(sum > 1e-10 * normal.matrix[i][i])) return std::nullopt;
      lower[i][i] = std::sqrt(sum);
    }
  const auto solve = [&](Terms b) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
      for (std::size_t k = 0; k < i; ++k) b[i] -= lower[i][k] * b[k];
      b[i] /= lower[i][i];
    }
    for (auto i = static_cast<std::size_t>(n); i-- > 0;) {
      for (std::size_t k = i + 1; k < static_cast<std::size_t>(n); ++k) b[i] -= lower[k][i] * b[k];
      b[i] /= lower[i][i];
    }
    return b;
  };
  return std::pair(solve(normal.x), solve(normal.y));
}

}  // namespace

Origin::At Origin::at(Index row, Index col) const {
  if (terms < 2) return {x[0], y[0]};
  const Terms of_place = terms_at(row, col, rows, cols);
  At sum;
  for (std::size_t i = 0; i < static_cast<std::size_t>(terms); ++i) {
    sum.x += of_place[i] * x[i];
    sum.y += of_place[i] * y[i];
  }
  return sum;
}

Origin fit_origin(const VectorField& field, OriginFit fit) {
  const int n = terms_of(fit);
  Origin origin{.rows = field.rows, .cols = field.cols, .terms = n};
  std::vector<std::uint8_t> used = field.valid;
  for (int round = 0; round < 4 && n > 0; ++round) {
    Normal normal;
    double weight = 0;
    origin.used = 0;
    for (Index row = 0; row < field.rows; ++row)
      for (Index col = 0; col < field.cols; ++col) {
        const auto here = static_cast<std::size_t>(row * field.cols + col);
        if (used[here] == 0) continue;
        const Terms terms = n > 1 ? terms_at(row, col, field.rows, field.cols) : Terms{1};
        const double w = field.counts[here];
        for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
          for (std::size_t j = 0; j <= i; ++j) normal.matrix[i][j] += w * terms[i] * terms[j];
          normal.x[i] += w * terms[i] * field.x[here];
          normal.y[i] += w * terms[i] * field.y[here];
        }
        weight += w;
        ++origin.used;
      }
    const auto found = origin.used >= n ? solved(normal, n) : std::nullopt;
    if (!found)
      throw Error(ErrorKind::bad_input,
                  fmt::format("{} valid positions do not determine the {} terms of the origin", origin.used, n))
          .hint("take a simpler surface, for instance " + setting("fit", "mean"));
    std::tie(origin.x, origin.y) = *found;
    const auto square_at = [&](std::size_t here) {
      const Origin::At at = origin.at(static_cast<Index>(here) / field.cols, static_cast<Index>(here) % field.cols);
      return (field.x[here] - at.x) * (field.x[here] - at.x) + (field.y[here] - at.y) * (field.y[here] - at.y);
    };
    double sum = 0;
    for (std::size_t here = 0; here < used.size(); ++here)
      if (used[here] != 0) sum += field.counts[here] * square_at(here);
    origin.rms = std::sqrt(sum / weight);
    if (round == 3) break;
    for (std::size_t here = 0; here < used.size(); ++here)
      used[here] = field.valid[here] != 0 && square_at(here) <= 4 * origin.rms * origin.rms ? 1 : 0;
  }
  origin.dropped = n > 0 ? field.positions() - field.missing() - origin.used : 0;
  return origin;
}

VectorField measured_from(VectorField field, const Origin& origin) {
  for (Index row = 0; row < field.rows; ++row)
    for (Index col = 0; col < field.cols; ++col) {
      const auto here = static_cast<std::size_t>(row * field.cols + col);
      const Origin::At at = origin.at(row, col);
      field.x[here] -= at.x;
      field.y[here] -= at.y;
    }
  return field;
}

}  // namespace sonde::stem
