// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/bench/cases.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "sonde/instruments/maxwell/bench/gradient_case.h"
#include "sonde/instruments/maxwell/bench/vacuum.h"
#include "sonde/instruments/maxwell/propagate/propagator.h"

namespace sonde::maxwell {
namespace {

/// Reads and writes of the fields in a step that goes through memory once, factors and layers apart: E and H in and
/// out.
double least_bytes(const Grid& grid, std::size_t element, Index steps) {
  return 2.0 * static_cast<double>(grid.components().size() * element) * static_cast<double>(grid.count() * steps);
}

double operations(const Grid& grid, Index steps) {
  double each = 0;
  for (const Component c : grid.components()) {
    int terms = 0;
    for (const CurlTerm& term : curl_terms(c)) terms += grid.has(term.of) && grid.has(term.along) ? 1 : 0;
    each += terms * 2.0 * grid.order() + (is_electric(c) ? 3 : 2);
  }
  return each * static_cast<double>(grid.count() * steps);
}

template <class T>
Operation forward(Mode mode, int order, Index cells, Index steps) {
  struct Work {
    Problem problem;
    Propagator<T> fields;
    Acquisition shot;
    std::vector<double> amplitudes, record;
    Work(Problem p, Index count)
        : problem(std::move(p)),
          fields(problem),
          shot(one_source(problem)),
          amplitudes(static_cast<std::size_t>(count)),
          record(static_cast<std::size_t>(count)) {
      amplitudes.front() = problem.grid.cell_volume();
    }
  };
  const auto work = std::make_shared<Work>(vacuum(mode, order, cells), steps);
  const Grid& grid = work->problem.grid;
  return {.name = fmt::format("order {} {}", order, sizeof(T) == 4 ? "f32" : "f64"),
          .run = [=] { work->fields.run(work->shot, steps, work->amplitudes, work->record); },
          .bytes = least_bytes(grid, sizeof(T), steps),
          .flops = operations(grid, steps),
          .before = [=] { work->fields.clear(); }};
}

PreparedCase prepare_forward(const BenchPoint& point, Mode mode, Index steps) {
  const Index cells = whole_size(point.size, "cells along an axis");
  PreparedCase made;
  for (const int order : {2, 4, 8}) made.operations.push_back(forward<float>(mode, order, cells, steps));
  made.operations.push_back(forward<double>(mode, 2, cells, steps));
  made.input =
      fmt::format("{} steps of {} cells of vacuum in {}D, layers of {} cells on every side", steps,
                  mode == Mode::tm2d ? cells * cells : cells * cells * cells, mode == Mode::tm2d ? 2 : 3, vacuum_layer);
  return made;
}

}  // namespace

std::vector<BenchCase> bench_cases() {
  return {{.name = "maxwell-forward",
           .summary = "Steps of the field in three dimensions, size in cells along an axis",
           .sizes = {"100", "200"},
           .devices = {DeviceKind::cpu},
           .prepare = [](const BenchPoint& point) { return prepare_forward(point, Mode::em3d, 20); }},
          {.name = "maxwell-forward-2d",
           .summary = "Steps of the field in two dimensions, size in cells along an axis",
           .sizes = {"256", "1024"},
           .devices = {DeviceKind::cpu},
           .prepare = [](const BenchPoint& point) { return prepare_forward(point, Mode::tm2d, 100); }},
          gradient_case()};
}

}  // namespace sonde::maxwell
