// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/read/experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/instruments/maxwell/grid/stability.h"

namespace sonde::maxwell {
namespace {

/// More inner steps than that come from a wrong unit of dt or spacing, not from a model.
constexpr double most_inner_steps = 64;

Error bad(const std::string& what) { return {ErrorKind::bad_input, what}; }

/// Throws for the first element that does not fit, with its place in the arrays.
template <class Fits>
void require_each(const std::vector<double>& values, const std::string& what, const GridSpec& grid,
                  const char* expected, const Fits& fits) {
  const Index count = grid.cells[0] * grid.cells[1] * grid.cells[2];
  if (static_cast<Index>(values.size()) != count)
    throw bad(fmt::format("{}: {} elements, the model has {}", what, values.size(), count));
  const auto found = std::find_if_not(values.begin(), values.end(), fits);
  if (found == values.end()) return;
  const auto at = static_cast<Index>(found - values.begin());
  const Index ny = grid.cells[1], nx = grid.cells[2];
  throw bad(fmt::format("{} = {} at [{}, {}, {}] (z, y, x): expected {}", what, *found, at / (nx * ny), at / nx % ny,
                        at % nx, expected));
}

void require_sub_vacuum_allowed(const Experiment& experiment) {
  if (experiment.allow_sub_vacuum) return;
  try {
    require_each(experiment.model.eps_r, "eps_r", experiment.grid, "at least 1", [](double v) { return v >= 1; });
  } catch (Error& error) {
    throw std::move(error).hint("allow_sub_vacuum of the model permits it: the time step becomes smaller");
  }
}

void require_component(const SurveyPoint& point, const std::string& what, const Grid& grid) {
  if (grid.has(point.component)) return;
  std::vector<std::string> known;
  for (const Component c : grid.components()) known.emplace_back(name(c));
  throw bad(fmt::format("{}: a model in two dimensions has no {}; expected {}", what, name(point.component),
                        join_words(known, " or ")));
}

void require_place(const SurveyPoint& point, const std::string& what, const Grid& grid) {
  for (const Axis axis : all_axes) {
    if (!grid.has(axis)) continue;
    const double at = point.at[dimension(axis)];
    if (at >= 0 && at <= static_cast<double>(grid.cells(axis))) continue;
    throw bad(fmt::format("{}: {} = {} cells is outside of the model; expected 0 to {}", what, "zyx"[dimension(axis)],
                          at, grid.cells(axis)));
  }
}

void require_points(const std::vector<SurveyPoint>& points, const std::string& kind, std::size_t shot,
                    const Grid& grid) {
  if (points.empty()) throw bad(fmt::format("shot {} has no {}; expected at least one", shot, kind));
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::string what = fmt::format("{} [{}, {}]", kind, shot, i);
    require_component(points[i], what, grid);
    require_place(points[i], what, grid);
  }
}

void require_amplitudes(const SurveyShot& shot, std::size_t number, Index steps) {
  const auto nt = static_cast<std::size_t>(steps);
  if (shot.amplitudes.size() != shot.sources.size() * nt)
    throw bad(fmt::format("amplitudes of shot {}: {} samples; expected {} sources of {}", number,
                          shot.amplitudes.size(), shot.sources.size(), nt));
  for (std::size_t i = 0; i < shot.amplitudes.size(); ++i)
    if (!std::isfinite(shot.amplitudes[i]))
      throw bad(fmt::format("amplitude [{}, {}, {}] = {}: expected a finite number", number, i / nt, i % nt,
                            shot.amplitudes[i]));
}

void require_times(const Experiment& experiment) {
  if (!(experiment.dt > 0) || !std::isfinite(experiment.dt))
    throw bad(fmt::format("dt = {} s: expected above 0", experiment.dt));
  if (experiment.steps < 1) throw bad(fmt::format("nt = {}: expected at least 1", experiment.steps));
  const double largest = largest_time_step(experiment);
  if (experiment.dt / largest > most_inner_steps)
    throw bad(fmt::format("dt = {:.6g} s is {:.4g} times the largest stable step, {:.6g} s; expected at most {:g}",
                          experiment.dt, experiment.dt / largest, largest, most_inner_steps))
        .hint("are dt in s and spacing in m?");
}

double smallest(const std::vector<double>& values) {
  return values.empty() ? 1 : *std::min_element(values.begin(), values.end());
}

}  // namespace

const Words<MaterialLocation>& material_location_words() {
  static const Words<MaterialLocation> words{{"node", MaterialLocation::node}, {"cell", MaterialLocation::cell}};
  return words;
}
const Words<Precision>& precision_words() {
  static const Words<Precision> words{{"f32", Precision::f32}, {"f64", Precision::f64}};
  return words;
}
const Words<bool>& time_dispersion_words() {
  static const Words<bool> words{{"off", false}, {"corrected", true}};
  return words;
}
const Words<PmlPreset>& pml_preset_words() {
  static const Words<PmlPreset> words{
      {"default", PmlPreset::graded}, {"gprmax", PmlPreset::gprmax}, {"tide", PmlPreset::tide}};
  return words;
}
const Words<PmlSettings::Scale>& pml_scale_words() {
  static const Words<PmlSettings::Scale> words{
      {"slab", PmlSettings::Scale::slab}, {"x_low", PmlSettings::Scale::x_low}, {"vacuum", PmlSettings::Scale::vacuum}};
  return words;
}

std::vector<Axis> axes_of(Mode mode) {
  return mode == Mode::tm2d ? std::vector{Axis::z, Axis::x} : std::vector(all_axes.begin(), all_axes.end());
}

PmlSettings settings_of(PmlPreset preset) {
  return preset == PmlPreset::gprmax ? gprmax_pml() : preset == PmlPreset::tide ? tide_pml() : PmlSettings{};
}

double largest_time_step(const Experiment& experiment) {
  ComponentMedium slowest;  // means of elements are not below the smallest of them
  slowest.eps_r[0] = {smallest(experiment.model.eps_r)};
  slowest.mu_r[0] = {smallest(experiment.model.mu_r)};
  return largest_time_step(Grid(experiment.grid), slowest);
}

void require_medium(const Experiment& experiment) {
  const Grid grid(experiment.grid);
  require_model(experiment.model, grid);
  require_sub_vacuum_allowed(experiment);
  if (!experiment.poles.empty() && experiment.model.location == MaterialLocation::cell)
    throw bad("Debye poles of a model whose materials are located in cells; expected nodes");
  for (std::size_t p = 0; p < experiment.poles.size(); ++p) {
    const ModelPole& pole = experiment.poles[p];
    require_each(pole.deps, fmt::format("deps of pole {}", p), experiment.grid, "at least 0, finite",
                 [](double v) { return v >= 0 && std::isfinite(v); });
    require_each(pole.tau, fmt::format("tau of pole {}", p), experiment.grid, "above 0, finite",
                 [](double v) { return v > 0 && std::isfinite(v); });
  }
}

void require_valid(const Experiment& experiment) {
  require_medium(experiment);
  require_times(experiment);
  const Grid grid(experiment.grid);
  if (experiment.shots.empty()) throw bad("no shots; expected at least one");
  for (std::size_t s = 0; s < experiment.shots.size(); ++s) {
    const SurveyShot& shot = experiment.shots[s];
    require_points(shot.sources, "source", s, grid);
    require_points(shot.receivers, "receiver", s, grid);
    require_amplitudes(shot, s, experiment.steps);
  }
}

}  // namespace sonde::maxwell
