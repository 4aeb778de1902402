// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/calibrate/ring_ellipse.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "sonde/engine/base/error.h"

namespace sonde::stem {
namespace {

constexpr double pi = std::numbers::pi;
constexpr Index sectors = 16;
constexpr std::size_t parameters = 8;                  // two of the matrix, two of the centre, four of texture
constexpr std::array<double, 4> blurs = {4, 2, 1, 0};  // px: the range from which Gauss-Newton finds the rings
constexpr double largest_stretch = 0.12;               // log a / b / 2 of the grid: a ratio of 1.27
constexpr double largest_step = 0.02, largest_move = 2;
constexpr int most_steps = 30;

/// Pixels are moved by exp of the symmetric matrix (along, across; across, -along) about the centre.
struct Shape {
  double along = 0, across = 0, row = 0, col = 0;
};

/// Its exponential, of determinant 1.
struct Matrix {
  double xx = 1, xy = 0, yy = 1;
};

Matrix matrix_of(const Shape& shape) {
  const double stretch = std::hypot(shape.along, shape.across);
  if (stretch == 0) return {};
  const double even = std::cosh(stretch), odd = std::sinh(stretch) / stretch;
  return {even + odd * shape.along, odd * shape.across, even - odd * shape.along};
}

struct Pixel {
  double x = 0, y = 0, value = 0;
};

/// Normal equations of one sector.
struct Equations {
  std::array<double, parameters * parameters> matrix{};
  std::array<double, parameters> right{};

  void operator+=(const Equations& other) {
    for (std::size_t i = 0; i < matrix.size(); ++i) matrix[i] += other.matrix[i];
    for (std::size_t i = 0; i < right.size(); ++i) right[i] += other.right[i];
  }
  void operator-=(const Equations& other) {
    for (std::size_t i = 0; i < matrix.size(); ++i) matrix[i] -= other.matrix[i];
    for (std::size_t i = 0; i < right.size(); ++i) right[i] -= other.right[i];
  }
};

/// Cholesky's decomposition; a parameter that the pixels say nothing about stays where it is.
std::array<double, parameters> solved(Equations equations) {
  auto& m = equations.matrix;
  auto& x = equations.right;
  const auto at = [&](std::size_t i, std::size_t j) -> double& { return m[i * parameters + j]; };
  for (std::size_t j = 0; j < parameters; ++j) {
    const double before = at(j, j);
    double pivot = before;
    for (std::size_t k = 0; k < j; ++k) pivot -= at(j, k) * at(j, k);
    const bool free = !(pivot > 1e-12 * before);
    at(j, j) = free ? 1 : std::sqrt(pivot);
    for (std::size_t i = j + 1; i < parameters; ++i) {
      double sum = at(i, j);
      for (std::size_t k = 0; k < j; ++k) sum -= at(i, k) * at(j, k);
      at(i, j) = free ? 0 : sum / at(j, j);
    }
    double sum = x[j];
    for (std::size_t k = 0; k < j; ++k) sum -= at(j, k) * x[k];
    x[j] = free ? 0 : sum / at(j, j);
  }
  for (std::size_t j = parameters; j-- > 0;) {
    for (std::size_t i = j + 1; i < parameters; ++i) x[j] -= at(i, j) * x[i];
    x[j] /= at(j, j);
  }
  return x;
}

/// Means of pixels by their radius, a bin for each pixel of it, joined by straight lines.
struct Profile {
  double inner = 0;
  std::vector<double> mean, variance;

  [[nodiscard]] double place(double radius) const { return radius - inner - 0.5; }
  [[nodiscard]] std::size_t below(double place) const {
    return static_cast<std::size_t>(std::clamp(std::floor(place), 0.0, static_cast<double>(mean.size()) - 2));
  }
  [[nodiscard]] double value(double radius) const {
    const std::size_t i = below(place(radius));
    return mean[i] + (place(radius) - static_cast<double>(i)) * (mean[i + 1] - mean[i]);
  }
  /// By central differences, joined likewise.
  [[nodiscard]] double slope(double radius) const {
    const std::size_t i = below(place(radius));
    const auto at = [&](std::size_t bin) {
      const std::size_t low = bin == 0 ? 0 : bin - 1, high = std::min(bin + 1, mean.size() - 1);
      return (mean[high] - mean[low]) / static_cast<double>(high - low);
    };
    const double part = place(radius) - static_cast<double>(i);
    return at(i) + part * (at(i + 1) - at(i));
  }
};

class Rings {
 public:
  Rings(View<const double, 2> pattern, std::span<const std::uint8_t> good, RingRange range)
      : rows_(pattern.extent[0]), cols_(pattern.extent[1]), range_(range) {
    for (Index row = 0; row < rows_; ++row)
      for (Index col = 0; col < cols_; ++col) {
        const auto here = static_cast<std::size_t>(row * cols_ + col);
        good_.push_back(good.empty() || good[here] != 0 ? 1 : 0);
        given_.push_back(good_.back() != 0 ? pattern(row, col) : 0);
      }
  }

  /// Takes the pixels of the pattern, blurred by a Gaussian over good ones.
  void blur(double sigma) {
    std::vector<double> values = given_, weights(good_.begin(), good_.end());
    if (sigma > 0) {
      smooth(values, sigma);
      smooth(weights, sigma);
    }
    pixels_.clear();
    for (Index row = 0; row < rows_; ++row)
      for (Index col = 0; col < cols_; ++col) {
        const auto here = static_cast<std::size_t>(row * cols_ + col);
        if (good_[here] == 0) continue;
        pixels_.push_back({static_cast<double>(col), static_cast<double>(row), values[here] / weights[here]});
      }
  }

  /// The mean of every radius, and the variance about it summed over all pixels in the range.
  double profile(const Shape& shape, Profile& profile) const {
    const auto bins = static_cast<std::size_t>(std::ceil(range_.outer - range_.inner));
    profile.inner = range_.inner;
    profile.mean.assign(bins, 0);
    profile.variance.assign(bins, 0);
    std::vector<double> count(bins), squares(bins);
    const Matrix matrix = matrix_of(shape);
    for (const Pixel& pixel : pixels_) {
      const double radius = radius_of(pixel, shape, matrix);
      if (radius < range_.inner || radius >= range_.outer) continue;
      const auto bin = static_cast<std::size_t>(radius - range_.inner);
      count[bin] += 1;
      profile.mean[bin] += pixel.value;
      squares[bin] += pixel.value * pixel.value;
    }
    double total = 0;
    for (std::size_t i = 0; i < bins; ++i) {
      if (count[i] == 0) {
        profile.mean[i] = i == 0 ? 0 : profile.mean[i - 1];
        continue;
      }
      profile.mean[i] /= count[i];
      profile.variance[i] = std::max(0.0, squares[i] / count[i] - profile.mean[i] * profile.mean[i]);
      total += profile.variance[i] * count[i];
    }
    return total;
  }

  /// Gauss-Newton's equations of every sector.
  [[nodiscard]] std::array<Equations, sectors> equations(const Shape& shape) const {
    Profile radial;
    const double total = profile(shape, radial);
    // A ring without any variance would have all the weight.
    const double least = 1e-3 * total / std::max<double>(1, static_cast<double>(pixels_.size()));
    std::array<Equations, sectors> made{};
    const Matrix matrix = matrix_of(shape);
    for (const Pixel& pixel : pixels_) {
      const double dx = pixel.x - shape.col, dy = pixel.y - shape.row, x = matrix.xx * dx + matrix.xy * dy,
                   y = matrix.xy * dx + matrix.yy * dy, radius = std::hypot(x, y);
      // The line through two means needs both.
      if (radius < range_.inner + 0.5 || radius >= range_.outer - 0.5 || radius == 0) continue;
      const double c = x / radius, s = y / radius, c2 = c * c - s * s, s2 = 2 * c * s, slope = radial.slope(radius),
                   mean = radial.value(radius);
      const auto bin = std::min(static_cast<std::size_t>(radius - range_.inner), radial.variance.size() - 1);
      const double weight = 1 / (radial.variance[bin] + least);
      const std::array<double, parameters> row = {slope * radius * c2,
                                                  slope * radius * s2,
                                                  -slope * (matrix.xx * c + matrix.xy * s),
                                                  -slope * (matrix.xy * c + matrix.yy * s),
                                                  mean * c,
                                                  mean * s,
                                                  mean * c2,
                                                  mean * s2};
      const double off = pixel.value - mean;
      const auto sector = static_cast<std::size_t>(
          std::clamp<Index>(static_cast<Index>((std::atan2(y, x) + pi) / (2 * pi) * sectors), 0, sectors - 1));
      Equations& to = made[sector];
      for (std::size_t i = 0; i < parameters; ++i) {
        to.right[i] += weight * row[i] * off;
        for (std::size_t j = 0; j <= i; ++j) to.matrix[i * parameters + j] += weight * row[i] * row[j];
      }
    }
    return made;
  }

  [[nodiscard]] bool empty() const { return pixels_.empty(); }

 private:
  static double radius_of(const Pixel& pixel, const Shape& shape, const Matrix& matrix) {
    const double dx = pixel.x - shape.col, dy = pixel.y - shape.row;
    return std::hypot(matrix.xx * dx + matrix.xy * dy, matrix.xy * dx + matrix.yy * dy);
  }

  void smooth(std::vector<double>& values, double sigma) const {
    const auto reach = static_cast<Index>(std::ceil(3 * sigma));
    std::vector<double> kernel;
    for (Index i = -reach; i <= reach; ++i)
      kernel.push_back(std::exp(-0.5 * static_cast<double>(i * i) / (sigma * sigma)));
    const auto along = [&](Index lines, Index length, Index line_step, Index step) {
      std::vector<double> made(static_cast<std::size_t>(length));
      for (Index line = 0; line < lines; ++line) {
        for (Index i = 0; i < length; ++i) {
          double sum = 0;
          for (Index k = std::max(-reach, -i); k <= std::min(reach, length - 1 - i); ++k)
            sum += kernel[static_cast<std::size_t>(k + reach)] *
                   values[static_cast<std::size_t>(line * line_step + (i + k) * step)];
          made[static_cast<std::size_t>(i)] = sum;
        }
        for (Index i = 0; i < length; ++i)
          values[static_cast<std::size_t>(line * line_step + i * step)] = made[static_cast<std::size_t>(i)];
      }
    };
    along(rows_, cols_, cols_, 1);
    along(cols_, rows_, 1, cols_);
  }

  Index rows_, cols_;
  RingRange range_;
  std::vector<double> given_;
  std::vector<std::uint8_t> good_;
  std::vector<Pixel> pixels_;
};

/// The matrix of a coarse grid with the sharpest rings.
Shape sharpest(const Rings& rings, const Shape& start) {
  Shape best = start;
  Profile profile;
  double least = rings.profile(start, profile);
  for (int ring = 1; ring <= 6; ++ring)
    for (int turn = 0; turn < 12; ++turn) {
      const double stretch = largest_stretch * ring / 6, angle = 2 * pi * turn / 12;
      const Shape shape{stretch * std::cos(angle), stretch * std::sin(angle), start.row, start.col};
      const double variance = rings.profile(shape, profile);
      if (variance < least) {
        least = variance;
        best = shape;
      }
    }
  return best;
}

/// A step of Gauss-Newton: the residual falls where the model rises by `slope * d radius`.
Shape moved(const Shape& shape, const std::array<double, parameters>& step, double part) {
  return {shape.along + part * step[0], shape.across + part * step[1], shape.row + part * step[3],
          shape.col + part * step[2]};
}

bool refine(const Rings& rings, Shape& shape) {
  Profile profile;
  double variance = rings.profile(shape, profile);
  for (int i = 0; i < most_steps; ++i) {
    Equations all;
    for (const Equations& sector : rings.equations(shape)) all += sector;
    const std::array<double, parameters> step = solved(all);
    double part = std::min({1.0, largest_step / std::max(1e-300, std::hypot(step[0], step[1])),
                            largest_move / std::max(1e-300, std::hypot(step[2], step[3]))});
    const double size = std::hypot(step[0], step[1]) + 0.01 * std::hypot(step[2], step[3]);
    if (size < 1e-7) return true;
    // Bins make the variance a little rough; below this it does not decide.
    for (int halving = 0; halving < 6; ++halving, part /= 2) {
      const Shape next = moved(shape, step, part);
      const double reached = rings.profile(next, profile);
      if (reached > variance * (1 + 1e-3)) continue;
      shape = next;
      variance = reached;
      break;
    }
    if (size < 1e-5) return true;
  }
  return false;
}

/// Standard deviations of the four parameters, from leaving out each sector.
std::array<double, 4> jackknife(const std::array<Equations, sectors>& equations) {
  Equations all;
  for (const Equations& sector : equations) all += sector;
  std::array<double, 4> sum{}, squares{};
  for (const Equations& sector : equations) {
    Equations rest = all;
    rest -= sector;
    const std::array<double, parameters> step = solved(rest);
    for (std::size_t i = 0; i < 4; ++i) {
      sum[i] += step[i];
      squares[i] += step[i] * step[i];
    }
  }
  std::array<double, 4> errors{};
  constexpr double count = sectors;
  for (std::size_t i = 0; i < 4; ++i)
    errors[i] = std::sqrt((count - 1) / count * std::max(0.0, squares[i] - sum[i] * sum[i] / count));
  return errors;
}

}  // namespace

RingEllipse fit_ring_ellipse(View<const double, 2> pattern, std::span<const std::uint8_t> good, double row, double col,
                             const RingRange& range) {
  if (!(range.outer - range.inner >= 4))
    throw Error(ErrorKind::bad_input, fmt::format("rings from {:g} to {:g} px; expected 4 px or more between them",
                                                  range.inner, range.outer));
  Rings rings(pattern, good, range);
  rings.blur(0);
  const Shape circles{0, 0, row, col};
  Profile profile;
  const double with_circles = rings.profile(circles, profile);
  if (!(with_circles > 0))
    throw Error(ErrorKind::bad_input,
                fmt::format("the pattern is constant from {:g} to {:g} px about its centre", range.inner, range.outer));
  rings.blur(blurs.front());
  Shape shape = sharpest(rings, circles);
  bool converged = false;
  for (const double sigma : blurs) {
    rings.blur(sigma);
    converged = refine(rings, shape);
  }
  const std::array<double, 4> errors = jackknife(rings.equations(shape));
  const double stretch = std::hypot(shape.along, shape.across);
  RingEllipse found{
      .row = shape.row, .col = shape.col, .row_error = errors[3], .col_error = errors[2], .converged = converged};
  // The matrix shortens along the major axis, across its own.
  const double major = std::atan2(shape.across, shape.along) / 2 + pi / 2;
  found.ellipse = {std::exp(stretch), std::exp(-stretch), major - pi * std::round(major / pi)};
  // Along the stretch, and across it, where twice the angle turns.
  const double c = stretch > 0 ? shape.along / stretch : 1, s = stretch > 0 ? shape.across / stretch : 0;
  found.ratio_error = 2 * found.ratio() * std::hypot(c * errors[0], s * errors[1]);
  const double across = std::hypot(s * errors[0], c * errors[1]);
  found.theta_error = stretch > across ? std::atan(across / stretch) / 2 : pi / 4;
  found.variance_left = rings.profile(shape, profile) / with_circles;
  return found;
}

}  // namespace sonde::stem
