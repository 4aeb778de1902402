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

enum class Passes { of_several_steps, of_one_step };

template <class T>
Operation forward(Mode mode, int order, Index cells, Index steps, Index layer = vacuum_layer,
                  Passes passes = Passes::of_several_steps) {
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
  const auto work = std::make_shared<Work>(vacuum(mode, order, cells, layer), steps);
  const Grid& grid = work->problem.grid;
  const bool single = passes == Passes::of_one_step;
  return {
      .name = fmt::format("order {} {}{}{}", order, sizeof(T) == 4 ? "f32" : "f64", layer > 0 ? "" : ", walls only",
                          single ? ", step by step" : ""),
      .run = [=] { work->fields.run(work->shot, steps, work->amplitudes, work->record, {.together = single ? 1 : 0}); },
      .bytes = least_bytes(grid, sizeof(T), steps),
      .flops = operations(grid, steps),
      .before = [=] { work->fields.clear(); }};
}

PreparedCase prepare_forward(const BenchPoint& point, Mode mode, Index steps) {
  const Index cells = whole_size(point.size, "cells along an axis");
  PreparedCase made;
  for (const int order : {2, 4, 8}) made.operations.push_back(forward<float>(mode, order, cells, steps));
  made.operations.push_back(forward<double>(mode, 2, cells, steps));
  made.operations.push_back(forward<float>(mode, 2, cells, steps, 0));
  made.operations.push_back(forward<float>(mode, 2, cells, steps, vacuum_layer, Passes::of_one_step));
  made.input =
      fmt::format("{} steps of {} cells of vacuum in {}D, layers of {} cells on every side", steps,
                  mode == Mode::tm2d ? cells * cells : cells * cells * cells, mode == Mode::tm2d ? 2 : 3, vacuum_layer);
  return made;
}

PreparedCase prepare_beside_meep(const BenchPoint& point, Mode mode, Index steps) {
  const Index cells = whole_size(point.size, "cells along an axis");
  PreparedCase made;
  for (const Index layer : {vacuum_layer, Index{0}}) {
    made.operations.push_back(forward<double>(mode, 2, cells, steps, layer));
    if (layer > 0) made.operations.push_back(forward<float>(mode, 2, cells, steps, layer));
    made.peers.push_back(python_peer(
        layer > 0 ? "Meep" : "Meep, walls only", "meep_vacuum.py",
        {mode == Mode::tm2d ? "2" : "3", fmt::to_string(cells), fmt::to_string(steps), fmt::to_string(layer)}));
  }
  made.input =
      fmt::format("{} steps of {} cells of vacuum along an axis; Meep works in double precision", steps, cells);
  return made;
}

/// One core of ours against Meep's one process.
Target beside_meep(const char* type, double limit) {
  return {.name = "Meep",
          .of = {"Meep", 1},
          .over = {fmt::format("order 2 {}", type), 1},
          .limit = limit,
          .bound = Target::Bound::at_least};
}

}  // namespace

std::vector<BenchCase> bench_cases() {
  return {{.name = "maxwell-forward",
           .summary = "Steps of the field in three dimensions, size in cells along an axis",
           .sizes = {"100", "200"},
           .devices = {DeviceKind::cpu},
           .prepare = [](const BenchPoint& point) { return prepare_forward(point, Mode::em3d, 20); },
           // 1.3 times the speed of steps that each go through memory.
           .targets = {{.name = "steps together",
                        .of = {"order 2 f32"},
                        .over = {"order 2 f32, step by step"},
                        .limit = 1 / 1.3}}},
          {.name = "maxwell-forward-2d",
           .summary = "Steps of the field in two dimensions, size in cells along an axis",
           .sizes = {"256", "1024"},
           .devices = {DeviceKind::cpu},
           .prepare = [](const BenchPoint& point) { return prepare_forward(point, Mode::tm2d, 100); }},
          {.name = "maxwell-meep",
           .summary = "Steps in three dimensions beside those of Meep, size in cells along an axis",
           .sizes = {"192"},
           .devices = {DeviceKind::cpu},
           .prepare = [](const BenchPoint& point) { return prepare_beside_meep(point, Mode::em3d, 10); },
           .targets = {beside_meep("f64", 2)}},
          {.name = "maxwell-meep-2d",
           .summary = "Steps in two dimensions beside those of Meep, size in cells along an axis",
           .sizes = {"1024"},
           .devices = {DeviceKind::cpu},
           .prepare = [](const BenchPoint& point) { return prepare_beside_meep(point, Mode::tm2d, 50); },
           .targets = {beside_meep("f32", 3), beside_meep("f64", 1.5)}},
          gradient_case()};
}

}  // namespace sonde::maxwell
