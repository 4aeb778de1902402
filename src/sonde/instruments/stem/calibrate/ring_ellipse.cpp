// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/calibrate/ring_ellipse.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/stem/calibrate/ring_lines.h"

namespace sonde::stem {
namespace {

constexpr double pi = std::numbers::pi;
constexpr Index sectors = 16;
constexpr std::size_t parameters = 12;  // two of the matrix, two of the centre, and texture of rings and background
constexpr double node_distance = 0.5;   // px
constexpr std::array<double, 4> blurs = {4, 2, 1, 0};  // px: the range from which Gauss-Newton finds the rings
constexpr double largest_stretch = 0.12;               // log a / b / 2 of the grid: a ratio of 1.27
constexpr double largest_step = 0.02, largest_move = 2;
constexpr int most_steps = 30;

/// Pixels are moved by exp of the symmetric matrix (along, across; across, -along) about the centre.
struct RingShape {
  double along = 0, across = 0, row = 0, col = 0;
};

/// Its exponential, of determinant 1.
struct Matrix {
  double xx = 1, xy = 0, yy = 1;
};

Matrix matrix_of(const RingShape& shape) {
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

/// Means of pixels by their radius at nodes, joined by straight lines: a pixel belongs to the two nodes that it is
/// between, so that the means change smoothly with its radius.
struct Profile {
  double inner = 0;
  std::vector<double> mean, variance, background;

  struct Between {
    std::size_t node = 0;  ///< the one below
    double part = 0;       ///< of the way to the next
  };
  [[nodiscard]] Between place(double radius) const {
    const double at = (radius - inner) / node_distance;
    const double node = std::clamp(std::floor(at), 0.0, static_cast<double>(mean.size()) - 2);
    return {static_cast<std::size_t>(node), at - node};
  }
  [[nodiscard]] static double joined(const std::vector<double>& values, Between at) {
    return values[at.node] + at.part * (values[at.node + 1] - values[at.node]);
  }
  /// By central differences at the nodes, joined likewise.
  [[nodiscard]] double slope(Between at) const {
    const auto of_node = [&](std::size_t node) {
      const std::size_t low = node == 0 ? 0 : node - 1, high = std::min(node + 1, mean.size() - 1);
      return (mean[high] - mean[low]) / (node_distance * static_cast<double>(high - low));
    };
    return of_node(at.node) + at.part * (of_node(at.node + 1) - of_node(at.node));
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
  double profile(const RingShape& shape, Profile& profile) const {
    const auto nodes = static_cast<std::size_t>(std::floor((range_.outer - range_.inner) / node_distance)) + 1;
    profile.inner = range_.inner;
    profile.mean.assign(nodes, 0);
    profile.variance.assign(nodes, 0);
    std::vector<double> count(nodes), squares(nodes);
    const Matrix matrix = matrix_of(shape);
    for (const Pixel& pixel : pixels_) {
      const double radius = radius_of(pixel, shape, matrix);
      if (radius < range_.inner || radius >= last_radius(profile)) continue;
      const Profile::Between at = profile.place(radius);
      for (const auto& [node, part] : {std::pair(at.node, 1 - at.part), std::pair(at.node + 1, at.part)}) {
        count[node] += part;
        profile.mean[node] += part * pixel.value;
        squares[node] += part * pixel.value * pixel.value;
      }
    }
    double total = 0;
    for (std::size_t i = 0; i < nodes; ++i) {
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
  [[nodiscard]] std::array<Equations, sectors> equations(const RingShape& shape) const {
    Profile radial;
    const double total = profile(shape, radial);
    radial.background = ring_background(radial.mean, node_distance);
    // A ring without any variance would have all the weight.
    const double least = 1e-3 * total / std::max<double>(1, static_cast<double>(pixels_.size()));
    std::array<Equations, sectors> made{};
    const Matrix matrix = matrix_of(shape);
    for (const Pixel& pixel : pixels_) {
      const double dx = pixel.x - shape.col, dy = pixel.y - shape.row, x = matrix.xx * dx + matrix.xy * dy,
                   y = matrix.xy * dx + matrix.yy * dy, radius = std::hypot(x, y);
      if (radius < range_.inner || radius >= last_radius(radial) || radius == 0) continue;
      const Profile::Between at = radial.place(radius);
      const double c = x / radius, s = y / radius, c2 = c * c - s * s, s2 = 2 * c * s, slope = radial.slope(at),
                   mean = Profile::joined(radial.mean, at), below = Profile::joined(radial.background, at),
                   ring = mean - below, weight = 1 / (Profile::joined(radial.variance, at) + least);
      const std::array<double, parameters> row = {slope * radius * c2,
                                                  slope * radius * s2,
                                                  -slope * (matrix.xx * c + matrix.xy * s),
                                                  -slope * (matrix.xy * c + matrix.yy * s),
                                                  ring * c,
                                                  ring * s,
                                                  ring * c2,
                                                  ring * s2,
                                                  below * c,
                                                  below * s,
                                                  below * c2,
                                                  below * s2};
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

 private:
  static double last_radius(const Profile& profile) {
    return profile.inner + node_distance * static_cast<double>(profile.mean.size() - 1);
  }
  static double radius_of(const Pixel& pixel, const RingShape& shape, const Matrix& matrix) {
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
RingShape sharpest(const Rings& rings, const RingShape& start) {
  RingShape best = start;
  Profile profile;
  double least = rings.profile(start, profile);
  for (int ring = 1; ring <= 6; ++ring)
    for (int turn = 0; turn < 12; ++turn) {
      const double stretch = largest_stretch * ring / 6, angle = 2 * pi * turn / 12;
      const RingShape shape{stretch * std::cos(angle), stretch * std::sin(angle), start.row, start.col};
      const double variance = rings.profile(shape, profile);
      if (variance < least) {
        least = variance;
        best = shape;
      }
    }
  return best;
}

/// A step of Gauss-Newton: the residual falls where the model rises by `slope * d radius`.
RingShape moved(const RingShape& shape, const std::array<double, parameters>& step, double part) {
  return {shape.along + part * step[0], shape.across + part * step[1], shape.row + part * step[3],
          shape.col + part * step[2]};
}

bool refine(const Rings& rings, RingShape& shape) {
  Profile profile;
  double variance = rings.profile(shape, profile);
  for (int i = 0; i < most_steps; ++i) {
    Equations all;
    for (const Equations& sector : rings.equations(shape)) all += sector;
    const std::array<double, parameters> step = solved(all);
    double part = std::min({1.0, largest_step / std::max(1e-300, std::hypot(step[0], step[1])),
                            largest_move / std::max(1e-300, std::hypot(step[2], step[3]))});
    const double size = std::hypot(step[0], step[1]) + 0.01 * std::hypot(step[2], step[3]);
    if (size < 1e-6) return true;
    // Pixels that enter and leave the range make the variance a little rough; below this it does not decide.
    for (int halving = 0; halving < 6; ++halving, part /= 2) {
      const RingShape next = moved(shape, step, part);
      const double reached = rings.profile(next, profile);
      if (reached > variance * (1 + 1e-3)) continue;
      shape = next;
      variance = reached;
      break;
    }
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
  const RingShape circles{0, 0, row, col};
  Profile profile;
  const double with_circles = rings.profile(circles, profile);
  double squares = 0;
  for (const double mean : profile.mean) squares = std::max(squares, mean * mean);
  // Rounding of the sums gives a constant pattern some variance.
  if (!(with_circles > 1e-12 * squares * static_cast<double>(profile.mean.size())))
    throw Error(ErrorKind::bad_input,
                fmt::format("the pattern is constant from {:g} to {:g} px about its centre", range.inner, range.outer));
  rings.blur(blurs.front());
  RingShape shape = sharpest(rings, circles);
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
