// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/bragg/probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <numeric>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/setting.h"
#include "sonde/engine/math/fft.h"
#include "sonde/instruments/stem/correct/centre.h"

namespace sonde::stem {
namespace {

constexpr std::string_view kernel_names[] = {"flat", "gaussian", "sigmoid", "sigmoid_log", "ring", "poisson"};
// Of a uniform disk the mean square distance from its centre is half the square of its radius; of anything else of its
// area more. Two disks that touch have 0.67 of this.
constexpr double least_roundness = 0.9;
// Of the ratio of disk to background; beyond it the place of the most likely disk hardly changes.
constexpr double least_contrast = 5, most_contrast = 300;

double of_sorted(const std::vector<double>& sorted, double share) {
  return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
}

/// A disk by its pixels.
struct Blob {
  double row = 0, col = 0, radius = 0, roundness = 0;
};

/// Median of the good pixels of 3 x 3, so that a hot pixel is no disk and noise does not break one into pieces; 0
/// without any.
std::vector<double> medians_of(View<const double, 2> pattern, std::span<const std::uint8_t> good) {
  const Index rows = pattern.extent[0], cols = pattern.extent[1];
  std::vector<double> made(static_cast<std::size_t>(rows * cols)), near;
  for (Index row = 0; row < rows; ++row)
    for (Index col = 0; col < cols; ++col) {
      near.clear();
      for (Index r = std::max<Index>(0, row - 1); r < std::min(rows, row + 2); ++r)
        for (Index c = std::max<Index>(0, col - 1); c < std::min(cols, col + 2); ++c)
          if ((good.empty() || good[static_cast<std::size_t>(r * cols + c)] != 0) && std::isfinite(pattern(r, c)))
            near.push_back(pattern(r, c));
      if (near.empty()) continue;
      const auto middle = near.begin() + static_cast<std::ptrdiff_t>(near.size() / 2);
      std::nth_element(near.begin(), middle, near.end());
      made[static_cast<std::size_t>(row * cols + col)] = *middle;
    }
  return made;
}

/// The pixels above a level that are connected with `seed`.
Blob blob_above(const std::vector<double>& values, Index rows, Index cols, Index seed, double level) {
  std::vector<std::uint8_t> seen(values.size());
  std::vector<Index> members = {seed};
  seen[static_cast<std::size_t>(seed)] = 1;
  double sum_row = 0, sum_col = 0, squares = 0;
  for (std::size_t next = 0; next < members.size(); ++next) {
    const Index row = members[next] / cols, col = members[next] % cols;
    sum_row += static_cast<double>(row);
    sum_col += static_cast<double>(col);
    squares += static_cast<double>(row * row + col * col);
    const auto visit = [&](Index r, Index c) {
      if (r < 0 || r >= rows || c < 0 || c >= cols) return;
      const auto at = static_cast<std::size_t>(r * cols + c);
      if (seen[at] != 0 || !(values[at] > level)) return;
      seen[at] = 1;
      members.push_back(r * cols + c);
    };
    visit(row - 1, col);
    visit(row + 1, col);
    visit(row, col - 1);
    visit(row, col + 1);
  }
  const auto area = static_cast<double>(members.size());
  Blob blob{.row = sum_row / area, .col = sum_col / area, .radius = std::sqrt(area / std::numbers::pi)};
  const double spread = squares / area - blob.row * blob.row - blob.col * blob.col;
  blob.roundness = spread > 0 ? std::min(1.0, area / (2 * std::numbers::pi) / spread) : 0;
  return blob;
}

/// The brightest disk: what is connected with the brightest pixel at the lowest of some levels where it is round. At
/// lower ones disks that nearly touch, and a bright background, are one with it.
Blob brightest_disk(View<const double, 2> pattern, std::span<const std::uint8_t> good) {
  const Index rows = pattern.extent[0], cols = pattern.extent[1];
  const std::vector<double> values = medians_of(pattern, good);
  const auto seed = static_cast<Index>(std::max_element(values.begin(), values.end()) - values.begin());
  const double most = values[static_cast<std::size_t>(seed)];
  Blob roundest;
  for (const double share : {0.5, 0.6, 0.7, 0.8, 0.9}) {
    const Blob blob = blob_above(values, rows, cols, seed, share * most);
    // Not the whole illuminated detector, and not a pixel.
    if (2 * blob.radius > 0.7 * static_cast<double>(std::min(rows, cols)) || blob.radius < 1) continue;
    if (blob.roundness > roundest.roundness) roundest = blob;
    if (blob.roundness >= least_roundness) return blob;
  }
  return roundest;
}

/// Pixels of a disk with its edge, and levels inside and outside.
struct Surroundings {
  std::vector<std::uint8_t> used;
  double inside = 0, outside = 0;
};

template <class Body>
void for_each_pixel(View<const double, 2> pattern, const Blob& about, Body&& body) {
  for (Index row = 0; row < pattern.extent[0]; ++row)
    for (Index col = 0; col < pattern.extent[1]; ++col)
      body(row, col, std::hypot(static_cast<double>(row) - about.row, static_cast<double>(col) - about.col));
}

Surroundings surroundings_of(View<const double, 2> pattern, std::span<const std::uint8_t> good, const Blob& disk,
                             double reach) {
  Surroundings around;
  std::vector<double> inside, outside;
  around.used.assign(static_cast<std::size_t>(pattern.extent[0] * pattern.extent[1]), 0);
  for_each_pixel(pattern, disk, [&](Index row, Index col, double distance) {
    const auto here = static_cast<std::size_t>(row * pattern.extent[1] + col);
    if ((!good.empty() && good[here] == 0) || !std::isfinite(pattern(row, col))) return;
    if (distance < reach) around.used[here] = 1;
    if (distance < 0.7 * disk.radius) inside.push_back(pattern(row, col));
    if (distance > disk.radius + 1.5 && distance < 1.4 * disk.radius + 3) outside.push_back(pattern(row, col));
  });
  std::sort(inside.begin(), inside.end());
  std::sort(outside.begin(), outside.end());
  if (!inside.empty()) around.inside = of_sorted(inside, 0.5);
  // The lowest part: neighbours reach in.
  if (!outside.empty()) around.outside = of_sorted(outside, 0.1);
  return around;
}

double radius_above(View<const double, 2> pattern, const Surroundings& around, double share) {
  const double level = around.outside + share * (around.inside - around.outside);
  Index area = 0;
  for (Index row = 0; row < pattern.extent[0]; ++row)
    for (Index col = 0; col < pattern.extent[1]; ++col)
      if (around.used[static_cast<std::size_t>(row * pattern.extent[1] + col)] != 0 && pattern(row, col) > level)
        ++area;
  return std::sqrt(static_cast<double>(area) / std::numbers::pi);
}

/// The distance of two places of a periodic extent.
double wrapped(Index at, Index extent) { return static_cast<double>(at <= extent / 2 ? at : at - extent); }

double cos_squared(double of_quarter_turns) {
  const double c = std::cos(std::numbers::pi / 2 * of_quarter_turns);
  return c * c;
}

double trench_at(double r, double inner, double outer, double sigma, KernelShape shape) {
  const double middle = (inner + outer) / 2;
  switch (shape) {
    case KernelShape::gaussian:
      return std::exp(-r * r / (2 * sigma * sigma));
    case KernelShape::sigmoid:
      return cos_squared(std::clamp((r - inner) / (outer - inner), 0.0, 1.0));
    case KernelShape::sigmoid_log:
      return 1 / (1 + std::exp((r - middle) / ((outer - inner) / 4)));
    case KernelShape::ring:
      return r > inner && r < outer ? cos_squared((r - middle) / ((outer - inner) / 2)) : 0;
    case KernelShape::flat:
    case KernelShape::poisson:
      return 0;
  }
  return 0;
}

/// The measured image with its centre moved to pixel (0, 0), by the shift theorem.
std::vector<double> centred_image(const Probe& probe) {
  std::vector<std::complex<double>> spectrum(probe.image.begin(), probe.image.end());
  const auto plan = Fft2d<double>::prepare({.rows = probe.rows, .cols = probe.cols});
  plan.transform(spectrum.data(), FftDirection::forward);
  for (Index k = 0; k < probe.rows; ++k)
    for (Index l = 0; l < probe.cols; ++l) {
      const double turn = 2 * std::numbers::pi *
                          (wrapped(k, probe.rows) * probe.row / static_cast<double>(probe.rows) +
                           wrapped(l, probe.cols) * probe.col / static_cast<double>(probe.cols));
      spectrum[static_cast<std::size_t>(k * probe.cols + l)] *= std::polar(1.0, turn);
    }
  plan.transform(spectrum.data(), FftDirection::inverse);
  std::vector<double> moved(spectrum.size());
  std::transform(spectrum.begin(), spectrum.end(), moved.begin(), [&](const std::complex<double>& value) {
    return value.real() / static_cast<double>(probe.rows * probe.cols);
  });
  return moved;
}

}  // namespace

std::string_view name(KernelShape shape) { return kernel_names[static_cast<std::size_t>(shape)]; }

Probe soft_probe(double radius, double edge) {
  Probe probe;
  probe.radius = radius;
  probe.edge = edge;
  return probe;
}

Probe measure_probe(View<const double, 2> pattern, std::span<const std::uint8_t> good) {
  const Blob disk = brightest_disk(pattern, good);
  if (disk.radius < 1 || disk.roundness < 0.6)
    throw Error(ErrorKind::bad_input, "nothing in the pattern has the shape of a disk")
        .hint("give the radius of a disk with " + setting("probe", "RADIUS"));
  // A tenth of the radius and a pixel hold the edge, and little of neighbours that do not touch.
  const Surroundings around = surroundings_of(pattern, good, disk, 1.1 * disk.radius + 1);
  // Below the background areas do not depend on the threshold, and a tenth above it the edge ends inside.
  const double floor = around.outside + 0.1 * (around.inside - around.outside);
  const std::vector<double> medians = medians_of(pattern, good);
  std::vector<double> above(around.used.size());
  for (std::size_t i = 0; i < above.size(); ++i) {
    const auto row = static_cast<Index>(i) / pattern.extent[1], col = static_cast<Index>(i) % pattern.extent[1];
    // Half as much again as the disk has is a hot pixel, by which thresholds would be measured.
    const double value = pattern(row, col) > 1.5 * around.inside ? medians[i] : pattern(row, col);
    if (around.used[i] != 0) above[i] = std::max(0.0, value - floor);
  }
  const View<const double, 2> disk_only(above.data(), pattern.extent[0], pattern.extent[1]);
  const Centre plateau = find_centre(disk_only, around.used, CentreMethod::plateau);
  Probe probe;
  probe.confidence = disk.roundness;
  probe.row = plateau.row;
  probe.col = plateau.col;
  probe.radius = plateau.radius;
  const double contrast = around.outside > 0 ? around.inside / around.outside - 1 : most_contrast;
  probe.contrast = std::clamp(contrast, least_contrast, most_contrast);
  const double width =
      (radius_above(pattern, around, 0.25) - radius_above(pattern, around, 0.75)) / (2 * std::log(3.0));
  // A pixel is not sharper than itself, and a disk not softer than its radius.
  probe.edge = std::clamp(width, 0.25, std::max(0.25, probe.radius / 3));
  return probe;
}

Probe measure_vacuum_probe(View<const double, 2> pattern, std::span<const std::uint8_t> good) {
  Probe probe = measure_probe(pattern, good);
  const Blob about{.row = probe.row, .col = probe.col, .radius = probe.radius, .roundness = 1};
  // Background would make the kernel a plateau; four edge widths beyond the radius nothing is left of a soft disk.
  const double outer = probe.radius + 4 * probe.edge + 1;
  const Surroundings around = surroundings_of(pattern, good, about, outer + 1);
  probe.rows = pattern.extent[0];
  probe.cols = pattern.extent[1];
  probe.image.assign(static_cast<std::size_t>(probe.rows * probe.cols), 0);
  for_each_pixel(pattern, about, [&](Index row, Index col, double distance) {
    const auto here = static_cast<std::size_t>(row * probe.cols + col);
    if (around.used[here] == 0) return;
    const double kept = cos_squared(std::clamp(distance - outer, 0.0, 1.0));
    probe.image[here] = kept * std::max(0.0, pattern(row, col) - around.outside);
  });
  return probe;
}

double reach(const Probe& probe, const KernelSettings& settings) {
  const double disk = probe.radius + 5 * probe.edge;
  const double outer = settings.outer > 0 ? settings.outer : 2 * probe.radius;
  const double sigma = settings.sigma > 0 ? settings.sigma : 2 * probe.radius;
  switch (settings.shape) {
    case KernelShape::flat:
      return disk;
    case KernelShape::poisson:
      return probe.radius + probe.edge * (5 + std::log(probe.contrast));
    case KernelShape::gaussian:
      return std::max(disk, 3 * sigma);
    case KernelShape::sigmoid_log:
      return std::max(disk, 1.5 * outer);
    case KernelShape::sigmoid:
    case KernelShape::ring:
      return std::max(disk, outer);
  }
  return disk;
}

std::vector<double> make_kernel(const Probe& probe, Index rows, Index cols, const KernelSettings& settings) {
  const double inner = settings.inner > 0 ? settings.inner : probe.radius;
  const double outer = settings.outer > 0 ? settings.outer : 2 * probe.radius;
  const double sigma = settings.sigma > 0 ? settings.sigma : 2 * probe.radius;
  if (!(probe.radius > 0) || 2 * probe.radius >= static_cast<double>(std::min(rows, cols)))
    throw Error(ErrorKind::bad_input, fmt::format("a disk of radius {:.4g} px; expected more than 0 and less than half "
                                                  "of the detector of {} x {} pixels",
                                                  probe.radius, rows, cols))
        .hint("give another " + setting("probe"));
  if (!probe.image.empty() && (probe.rows != rows || probe.cols != cols))
    throw Error(ErrorKind::bad_input,
                fmt::format("a probe on {} x {} pixels for patterns of {} x {}", probe.rows, probe.cols, rows, cols))
        .hint("load both with the same " + setting("det_bin"));
  if (outer <= inner)
    throw Error(ErrorKind::bad_input, fmt::format("a trench from {:.4g} to {:.4g} px has no width", inner, outer))
        .hint("give a larger " + setting("kernel_outer") + " or a smaller " + setting("kernel_inner"));
  const auto distance = [&](Index row, Index col) { return std::hypot(wrapped(row, rows), wrapped(col, cols)); };
  std::vector<double> kernel(static_cast<std::size_t>(rows * cols));
  if (probe.image.empty()) {
    for (Index row = 0; row < rows; ++row)
      for (Index col = 0; col < cols; ++col)
        kernel[static_cast<std::size_t>(row * cols + col)] =
            1 / (1 + std::exp((distance(row, col) - probe.radius) / probe.edge));
  } else {
    kernel = centred_image(probe);
  }
  if (settings.shape == KernelShape::poisson) {
    const double most = *std::max_element(kernel.begin(), kernel.end());
    for (double& value : kernel) value = std::log1p(probe.contrast * std::max(0.0, value) / most);
  }
  const double sum = std::accumulate(kernel.begin(), kernel.end(), 0.0);
  for (double& value : kernel) value /= sum;
  if (settings.shape == KernelShape::flat || settings.shape == KernelShape::poisson) return kernel;
  std::vector<double> trench(kernel.size());
  for (Index row = 0; row < rows; ++row)
    for (Index col = 0; col < cols; ++col)
      trench[static_cast<std::size_t>(row * cols + col)] =
          trench_at(distance(row, col), inner, outer, sigma, settings.shape);
  const double trench_sum = std::accumulate(trench.begin(), trench.end(), 0.0);
  if (!(trench_sum > 0))
    throw Error(ErrorKind::bad_input, fmt::format("a trench from {:.4g} to {:.4g} px holds no pixel", inner, outer))
        .hint("give a larger " + setting("kernel_outer"));
  for (std::size_t i = 0; i < kernel.size(); ++i) kernel[i] -= trench[i] / trench_sum;
  return kernel;
}

}  // namespace sonde::stem
