// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/results/field_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <numbers>

#include "sonde/engine/base/error.h"
#include "sonde/engine/figure/chart_svg.h"

namespace sonde::neoclassical {
namespace {

constexpr double two_pi = 2 * std::numbers::pi;

/// Four neighbours on a periodic axis, with the weights of the cubic through them (Catmull-Rom).
struct Cubic {
  std::array<Index, 4> at{};
  std::array<double, 4> weight{};

  Cubic(double position, Index count) {
    const double whole = std::floor(position), t = position - whole;
    for (Index k = 0; k < 4; ++k) {
      const Index index = (static_cast<Index>(whole) - 1 + k) % count;
      at[static_cast<std::size_t>(k)] = index < 0 ? index + count : index;
    }
    weight = {0.5 * t * (-1 + t * (2 - t)), 1 + 0.5 * t * t * (3 * t - 5), 0.5 * t * (1 + t * (4 - 3 * t)),
              0.5 * t * t * (t - 1)};
  }
};

double slope_at(const SurfaceField& field, double theta, double zeta) {
  const Cubic row(theta / two_pi * static_cast<double>(field.grid.n_theta), field.grid.n_theta),
      col(zeta * field.grid.periods / two_pi * static_cast<double>(field.grid.n_zeta), field.grid.n_zeta);
  double sum = 0;
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 4; ++j)
      sum +=
          row.weight[i] * col.weight[j] * field.slope[static_cast<std::size_t>(field.grid.index(row.at[i], col.at[j]))];
  return sum;
}

std::vector<double> ratio(const std::vector<double>& b_sup_theta, const std::vector<double>& b_sup_zeta) {
  std::vector<double> slope;
  for (std::size_t i = 0; i < b_sup_zeta.size(); ++i) slope.push_back(b_sup_theta[i] / b_sup_zeta[i]);
  return slope;
}

std::string title_of(const std::string& source, double s, const std::string& angles) {
  std::string title = "|B| of " + std::filesystem::path(source).filename().string();
  if (s > 0) title += fmt::format(" at s = {:.4g}", s);
  if (!angles.empty()) title += angles == "vmec" ? ", VMEC angles" : ", Boozer angles";
  return title;
}

HeightMap map_of(const SurfaceField& field) {
  constexpr Index rows = 96, cols = 120;
  const std::vector<double> b = on_grid(field.b, {rows, cols, field.grid.periods}).value;
  HeightMap map{.title = "|B| (T)"};
  // The last row and column are the first: the picture ends where the period does.
  for (Index i = 0; i <= rows; ++i) map.y.push_back(two_pi * static_cast<double>(i) / rows);
  for (Index j = 0; j <= cols; ++j) map.x.push_back(two_pi * static_cast<double>(j) / cols);
  for (Index i = 0; i <= rows; ++i)
    for (Index j = 0; j <= cols; ++j) map.z.push_back(b[static_cast<std::size_t>(i % rows * cols + j % cols)]);
  const auto [low, high] = std::minmax_element(map.z.begin(), map.z.end());
  if (*high - *low > 1e-9 * std::abs(*high)) map.contours = axis_marks(*low, *high, false, 12);
  return map;
}

/// A line that leaves the period at one side and enters it at the other.
sonde::Series line_of(const SurfaceField& field) {
  constexpr Index steps = 240;  // of each period
  const Index all = steps * field.grid.periods;
  const std::vector<double> theta = field_line(field, 0, two_pi, all);
  sonde::Series line{.name = "field line from (0, 0), once around the torus", .mark = Mark::lines, .colour = "#EE6677"};
  const auto put = [&](double x, double y) {
    line.x.push_back(x);
    line.y.push_back(y);
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (Index k = 0; k <= all; ++k) {
    const double at = theta[static_cast<std::size_t>(k)], turn = std::floor(at / two_pi);
    if (k > 0 && std::floor(theta[static_cast<std::size_t>(k - 1)] / two_pi) != turn) put(nan, nan);
    const double x = two_pi * static_cast<double>(k % steps) / steps;
    if (k > 0 && k % steps == 0) {  // the end of one period is the beginning of the next
      put(two_pi, at - two_pi * turn);
      put(nan, nan);
    }
    if (k < all) put(x, at - two_pi * turn);
  }
  return line;
}

Axis angle_axis(std::string title) {
  return {.title = std::move(title),
          .low = 0,
          .high = two_pi,
          .ticks = {{0, "0"}, {two_pi / 4, "π/2"}, {two_pi / 2, "π"}, {3 * two_pi / 4, "3π/2"}, {two_pi, "2π"}}};
}

}  // namespace

SurfaceField surface_field(const Surface& surface, const SampledSurface& sampled) {
  return {.title = title_of(surface.source, surface.s, surface.angles),
          .b = surface.b,
          .grid = sampled.grid,
          .slope = ratio(sampled.b_sup_theta, sampled.b_sup_zeta)};
}

SurfaceField surface_field(const ResultFile& file) {
  const std::vector<double>&m = file.numbers("modes_m"), &n = file.numbers("modes_n");
  SurfaceField field;
  for (std::size_t i = 0; i < std::min(m.size(), n.size()); ++i)
    field.b.modes.push_back({static_cast<int>(m[i]), static_cast<int>(n[i])});
  field.b.cosine = file.numbers("modes_b_cos");
  if (file.has("modes_b_sin")) field.b.sine = file.numbers("modes_b_sin");
  const std::size_t modes = field.b.cosine.size();
  if (m.size() != modes || n.size() != modes || (!field.b.sine.empty() && field.b.sine.size() != modes))
    throw Error(ErrorKind::bad_file, fmt::format("{}: modes_m, modes_n and modes_b_cos differ in length", file.path()));
  field.grid = {static_cast<Index>(file.numbers("theta").size()), static_cast<Index>(file.numbers("zeta").size()),
                static_cast<int>(file.number("nfp"))};
  const std::vector<double>&up_theta = file.numbers("b_sup_theta"), &up_zeta = file.numbers("b_sup_zeta");
  const auto points = static_cast<std::size_t>(field.grid.count());
  if (points == 0 || field.grid.periods < 1 || up_theta.size() != points || up_zeta.size() != points)
    throw Error(ErrorKind::bad_file, fmt::format("{}: b_sup_theta and b_sup_zeta are not of the grid", file.path()));
  field.slope = ratio(up_theta, up_zeta);
  const std::string& source = file.text("geometry_source");
  field.title =
      title_of(source.substr(0, source.find(',')), file.number("s"), file.has("angles") ? file.text("angles") : "");
  return field;
}

std::vector<double> field_line(const SurfaceField& field, double theta, double zeta_end, Index steps) {
  const double h = zeta_end / static_cast<double>(steps);
  std::vector<double> line = {theta};
  for (Index k = 0; k < steps; ++k) {
    const double zeta = h * static_cast<double>(k);
    const double k1 = slope_at(field, theta, zeta), k2 = slope_at(field, theta + h / 2 * k1, zeta + h / 2),
                 k3 = slope_at(field, theta + h / 2 * k2, zeta + h / 2), k4 = slope_at(field, theta + h * k3, zeta + h);
    theta += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    line.push_back(theta);
  }
  return line;
}

Chart field_chart(const SurfaceField& field) {
  const int periods = field.grid.periods;
  Facet facet{.x = angle_axis(periods == 1 ? "toroidal angle ζ"
                                           : fmt::format("{} ζ: one of {} field periods", periods, periods)),
              .y = angle_axis("poloidal angle θ"),
              .series = {line_of(field)},
              .map = map_of(field)};
  return {.title = field.title, .facets = {std::move(facet)}, .width = 760, .height = 600, .one_legend = true};
}

}  // namespace sonde::neoclassical
