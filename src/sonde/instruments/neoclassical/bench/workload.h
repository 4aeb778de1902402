// SPDX-License-Identifier: Apache-2.0
// Private to the room: what the cases work on.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sonde/instruments/neoclassical/geometry/surface.h"
#include "sonde/instruments/neoclassical/read/analytic.h"
#include "sonde/instruments/neoclassical/solve/plan.h"

namespace sonde::neoclassical {

/// The standard configuration of W7-X cut to six harmonics, as DKES files of it have them.
[[nodiscard]] AnalyticSurface bench_harmonics();
[[nodiscard]] Surface bench_surface();

/// "25x25x60". Throws Error(usage).
[[nodiscard]] GridSpec parse_grid(const std::string& text);

/// `count` values from `first` to `last`, evenly in the logarithm.
[[nodiscard]] std::vector<double> logspaced(double first, double last, Index count);

/// `count` cases spread over 16 collisionalities from 1e-5 to 1 x 8 fields, er_hat = 0 and 7 from 1e-6 to 1e-3, row by
/// row: 128 are the whole scan, 8 its first row, more begin again.
[[nodiscard]] std::vector<Case> published_cases(Index count);
/// Its axes: nu_hat and E_hat.
[[nodiscard]] std::vector<double> published_collisionalities();
[[nodiscard]] std::vector<double> published_fields();

/// `rows` of the 16 collisionalities from 3e-7 to 10 of a database, evenly spread, each with E_hat = 0 and 11 from 1e-6
/// to 0.1.
[[nodiscard]] std::vector<Case> database_rows(Index rows);

/// The largest of |a - b| / |b| over the four coefficients.
[[nodiscard]] double largest_difference(const Coefficients& a, const Coefficients& b);

}  // namespace sonde::neoclassical
