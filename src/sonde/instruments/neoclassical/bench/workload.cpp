// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/bench/workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/neoclassical/database/axes.h"
#include "sonde/instruments/neoclassical/scan/scan.h"

namespace sonde::neoclassical {
namespace {

constexpr double psi_p = -0.5237;

}  // namespace

AnalyticSurface bench_harmonics() {
  return {.name = "W7-X, six harmonics",
          .periods = 5,
          .iota = -0.4512 / 0.5237,
          .psi_p = psi_p,
          .b_theta = 0,
          .b_zeta = -14.0876,
          .b = {{{0, 0}, {0, 1}, {1, 1}, {1, 0}, {1, -1}, {2, 0}},
                {2.4311, 0.11149, -0.094228, -0.040776, 0.0054553, -0.0037086}}};
}

Surface bench_surface() { return make_surface(bench_harmonics()); }

GridSpec parse_grid(const std::string& text) {
  Index numbers[3] = {};
  const char *at = text.data(), *end = at + text.size();
  for (Index& number : numbers) {
    const auto [next, status] = std::from_chars(at, end, number);
    const bool last = &number == &numbers[2];
    if (status != std::errc() || number < 1 || (last ? next != end : next == end || *next != 'x'))
      throw Error(ErrorKind::usage, fmt::format("{}: \"{}\" is not a grid", setting("sizes"), text))
          .hint("angles and largest Legendre index, 25x25x60");
    at = last ? next : next + 1;
  }
  return {numbers[0], numbers[1], numbers[2]};
}

std::vector<double> logspaced(double first, double last, Index count) {
  std::vector<double> values;
  for (Index i = 0; i < count; ++i)
    values.push_back(first * std::pow(last / first, static_cast<double>(i) / static_cast<double>(count - 1)));
  return values;
}

std::vector<double> published_collisionalities() { return logspaced(1e-5, 1, 16); }

std::vector<double> published_fields() {
  std::vector<double> fields = logspaced(1e-6 / psi_p, 1e-3 / psi_p, 7);
  fields.insert(fields.begin(), 0.0);
  return fields;
}

std::vector<Case> published_cases(Index count) {
  const std::vector<Case> all = grid_of_cases(published_collisionalities(), published_fields());
  std::vector<Case> cases;
  for (Index i = 0; i < count; ++i) cases.push_back(all[static_cast<std::size_t>(i) % all.size()]);
  return cases;
}

std::vector<Case> database_rows(Index rows) {
  const Axes axes = default_axes();
  const Index all = axes.collisionalities(), count = std::min(rows, all);
  std::vector<double> nu;
  for (Index i = 0; i < count; ++i) nu.push_back(axes.nu_v[static_cast<std::size_t>((2 * i + 1) * all / (2 * count))]);
  return grid_of_cases(nu, axes.Er_tilde);
}

double largest_difference(const Coefficients& a, const Coefficients& b) {
  double largest = 0;
  for (const auto which : {&Coefficients::D11, &Coefficients::D31, &Coefficients::D13, &Coefficients::D33})
    largest = std::max(largest, std::abs(a.*which - b.*which) / std::abs(b.*which));
  return largest;
}

}  // namespace sonde::neoclassical
