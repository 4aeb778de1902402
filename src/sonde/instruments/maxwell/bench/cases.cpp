// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/bench/cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "sonde/instruments/maxwell/bench/gradient_case.h"
#include "sonde/instruments/maxwell/bench/shots_case.h"
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

/// A run from fields at rest, again and again.
template <class T>
struct ForwardWork {
  Problem problem;
  Propagator<T> fields;
  Acquisition shot;
  std::vector<double> amplitudes, record;
  typename Propagator<T>::Beside beside{};

  ForwardWork(Problem p, Index count, Device device = Device::cpu())
      : problem(std::move(p)),
        fields(problem, device),
        shot(one_source(problem)),
        amplitudes(static_cast<std::size_t>(count)),
        record(static_cast<std::size_t>(count)) {
    amplitudes.front() = problem.grid.cell_volume();
  }
  [[nodiscard]] Index steps() const { return std::ssize(record); }
  void clear() {
    fields.clear();
    if (fields.stream() != nullptr) fields.stream()->synchronise();
  }
  void run() { fields.run(shot, steps(), amplitudes, record, beside); }
};

template <class T>
Operation operation_of(std::string name, const std::shared_ptr<ForwardWork<T>>& work) {
  const Grid& grid = work->problem.grid;
  return {.name = std::move(name),
          .run = [=] { work->run(); },
          .bytes = least_bytes(grid, sizeof(T), work->steps()),
          .flops = operations(grid, work->steps()),
          .before = [=] { work->clear(); }};
}

/// What is run.
struct Field {
  Mode mode;
  Index cells, steps;
  Device device = Device::cpu();
};

template <class T>
Operation forward(const Field& of, int order, Index layer = vacuum_layer, Passes passes = Passes::of_several_steps) {
  const auto work = std::make_shared<ForwardWork<T>>(vacuum(of.mode, order, of.cells, layer), of.steps, of.device);
  const bool single = passes == Passes::of_one_step;
  if (single) work->beside.together = 1;
  return operation_of(fmt::format("order {} {}{}{}", order, sizeof(T) == 4 ? "f32" : "f64",
                                  layer > 0 ? "" : ", walls only", single ? ", step by step" : ""),
                      work);
}

std::string text_of(const Field& of) {
  return fmt::format("{} steps of {} cells of vacuum in {}D, layers of {} cells on every side", of.steps,
                     of.mode == Mode::tm2d ? of.cells * of.cells : of.cells * of.cells * of.cells,
                     of.mode == Mode::tm2d ? 2 : 3, vacuum_layer);
}

PreparedCase prepare_forward(const BenchPoint& point, Mode mode, Index steps) {
  const Field of{mode, whole_size(point.size, "cells along an axis"), steps, point.device};
  PreparedCase made;
  made.input = text_of(of);
  for (const int order : {2, 4, 8}) made.operations.push_back(forward<float>(of, order));
  made.operations.push_back(forward<double>(of, 2));
  made.operations.push_back(forward<float>(of, 2, 0));
  if (of.device.is_cpu()) made.operations.push_back(forward<float>(of, 2, vacuum_layer, Passes::of_one_step));
  return made;
}

PreparedCase prepare_beside_meep(const BenchPoint& point, Mode mode, Index steps) {
  const Field of{mode, whole_size(point.size, "cells along an axis"), steps};
  PreparedCase made;
  for (const Index layer : {vacuum_layer, Index{0}}) {
    made.operations.push_back(forward<double>(of, 2, layer));
    if (layer > 0) made.operations.push_back(forward<float>(of, 2, layer));
    made.peers.push_back(python_peer(
        layer > 0 ? "Meep" : "Meep, walls only", "meep_vacuum.py",
        {mode == Mode::tm2d ? "2" : "3", fmt::to_string(of.cells), fmt::to_string(steps), fmt::to_string(layer)}));
  }
  made.input =
      fmt::format("{} steps of {} cells of vacuum along an axis; Meep works in double precision", steps, of.cells);
  return made;
}

/// The same steps queued kernel by kernel, and as a graph.
PreparedCase prepare_graph(const BenchPoint& point) {
  constexpr Index steps = 100;
  const Field of{Mode::tm2d, whole_size(point.size, "cells along an axis"), steps, point.device};
  PreparedCase made;
  made.input = text_of(of);
  std::shared_ptr<ForwardWork<float>> plain;
  for (const Graph::Replay replay : {Graph::Replay::never, Graph::Replay::always}) {
    const auto work = std::make_shared<ForwardWork<float>>(vacuum(of.mode, 2, of.cells), steps, of.device);
    work->fields.replay(replay);
    Operation each = operation_of(plain ? "CUDA graph" : "kernel by kernel", work);
    if (!plain) {
      work->run();
      plain = work;
    }
    each.difference = [=, wanted = plain->record] { return record_difference(work->record, wanted); };
    made.operations.push_back(std::move(each));
  }
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
           .devices = {DeviceKind::cpu, DeviceKind::cuda},
           .prepare = [](const BenchPoint& point) { return prepare_forward(point, Mode::em3d, 20); },
           // 1.3 times the speed of steps that each go through memory.
           .targets = {{.name = "steps together",
                        .of = {"order 2 f32"},
                        .over = {"order 2 f32, step by step"},
                        .limit = 1 / 1.3}}},
          {.name = "maxwell-forward-2d",
           .summary = "Steps of the field in two dimensions, size in cells along an axis",
           .sizes = {"256", "1024"},
           .devices = {DeviceKind::cpu, DeviceKind::cuda},
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
          {.name = "maxwell-graph",
           .summary = "Steps in two dimensions queued kernel by kernel and as a graph, size in cells along an axis",
           .sizes = {"128", "512", "2048"},
           .devices = {DeviceKind::cuda},
           .prepare = prepare_graph,
           .same_work = true},
          shots_case(),
          gradient_case()};
}

}  // namespace sonde::maxwell
