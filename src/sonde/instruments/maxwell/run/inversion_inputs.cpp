// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/run/inversion_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/maxwell/run/experiment_run.h"

namespace sonde::maxwell {
namespace {

/// One number for all samples, or one for each [shot][receiver] or [step][shot][receiver].
class OfSamples {
 public:
  OfSamples(const std::string& text, const char* setting, const ObservedData& data, bool may_vary,
            const FindArray& find)
      : shots_(data.shots.size()), receivers_(static_cast<std::size_t>(data.receivers())) {
    values_ = given_numbers(text, setting, find);
    const auto shots = static_cast<Index>(shots_);
    const Shape& shape = values_.shape;
    const bool each = shape == Shape{shots, data.receivers()};
    varies_ = may_vary && shape == Shape{data.steps, shots, data.receivers()};
    if (values_.values.size() != 1 && !each && !varies_)
      throw Error(ErrorKind::bad_input, fmt::format("{}: shape {}; expected a number, ({}, {}) for [shot][receiver]{}",
                                                    setting, shape.text(), shots, data.receivers(),
                                                    may_vary ? fmt::format(" or ({}, {}, {}) with the steps first",
                                                                           data.steps, shots, data.receivers())
                                                             : ""));
    for (std::size_t i = 0; i < values_.values.size(); ++i)
      if (!(values_.values[i] >= 0) || !std::isfinite(values_.values[i]))
        throw Error(ErrorKind::bad_input, fmt::format("{}: element {} is {}; expected a finite number of at least 0",
                                                      setting, i, values_.values[i]));
  }
  [[nodiscard]] double at(std::size_t step, std::size_t shot, std::size_t receiver) const {
    if (values_.values.size() == 1) return values_.values[0];
    return values_.values[((varies_ ? step * shots_ : 0) + shot) * receivers_ + receiver];
  }

 private:
  NumberArray values_;
  std::size_t shots_, receivers_;
  bool varies_ = false;
};

void multiply(Mask& mask, const Mask& other) {
  if (mask.empty()) {
    mask = other;
    return;
  }
  for (std::size_t i = 0; i < mask.size(); ++i) mask[i] *= other[i];
}

/// The shape of arrays of the model: without y in two dimensions.
Shape array_shape(const Experiment& experiment) {
  const Triple& cells = experiment.grid.cells;
  return experiment.grid.mode == Mode::tm2d ? Shape{cells[0], cells[2]} : Shape{cells[0], cells[1], cells[2]};
}

Mask read_mask(const std::string& text, const Experiment& experiment, const FindArray& find) {
  NumberArray given = given_numbers(text, "inversion.mask", find);
  if (given.shape != array_shape(experiment))
    throw Error(ErrorKind::bad_input, fmt::format("inversion.mask: shape {}; the model has {}", given.shape.text(),
                                                  array_shape(experiment).text()));
  return std::move(given.values);
}

}  // namespace

Gather gather_of(const ObservedData& data, Index shot) {
  Gather made(data.steps, data.receivers());
  const auto steps = static_cast<std::size_t>(data.steps), receivers = static_cast<std::size_t>(data.receivers());
  for (std::size_t n = 0; n < steps; ++n)
    for (std::size_t r = 0; r < receivers; ++r)
      made.samples[r * steps + n] =
          data.samples[(n * data.shots.size() + static_cast<std::size_t>(shot)) * receivers + r];
  return made;
}

Measurements make_measurements(const RunFile& run_file, const Experiment& experiment, const ObservedData& observed,
                               const FindArray& find) {
  const DataTable& table = run_file.data;
  require_recorded_by(experiment, observed, table.file.empty() ? "data.file" : table.file);
  Measurements made{.shots = {}, .amplitudes = {}, .noise = table.noise.value_or(0)};
  std::optional<OfSamples> weight, mute;
  if (!table.weight.empty()) weight.emplace(table.weight, "data.weight", observed, true, find);
  if (!table.mute.empty()) mute.emplace(table.mute, "data.mute", observed, false, find);
  const auto steps = static_cast<std::size_t>(observed.steps);
  for (std::size_t s = 0; s < observed.shots.size(); ++s) {
    made.amplitudes.push_back(experiment.shots[s].amplitudes);
    Observation& shot = made.shots.emplace_back(Observation{gather_of(observed, static_cast<Index>(s))});
    if (!weight && !mute) continue;
    shot.weights.assign(shot.records.samples.size(), 1);
    for (std::size_t r = 0; r < observed.shots[s].receivers.size(); ++r)
      for (std::size_t n = 0; n < steps; ++n) {
        double& each = shot.weights[r * steps + n];
        const double time =
            observed.start(observed.shots[s].receivers[r].component) + observed.dt * static_cast<double>(n);
        if (weight) each = weight->at(n, s, r);
        if (mute && time < mute->at(n, s, r)) each = 0;
      }
  }
  return made;
}

Mask make_mask(const RunFile& run_file, const Experiment& experiment, const FindArray& find) {
  const InversionTable& table = run_file.inversion.inversion;
  const CellGrid grid{experiment.grid.cells, experiment.grid.spacing};
  Mask made;
  if (!table.mask.empty()) made = read_mask(table.mask, experiment, find);
  if (table.mask_radius > 0 || table.mask_taper > 0) {
    std::vector<std::array<double, 3>> places;
    for (const SurveyShot& shot : experiment.shots)
      for (const auto* points : {&shot.sources, &shot.receivers})
        for (const SurveyPoint& point : *points)
          if (std::ranges::find(places, point.at) == places.end()) places.push_back(point.at);
    multiply(made, hold_near(grid, places, table.mask_radius, table.mask_taper));
  }
  if (table.mask_depth > 0) multiply(made, hold_above(grid, table.mask_depth, table.mask_taper));
  if (!made.empty()) require_mask(made, grid);
  return made;
}

WaveSettings wave_settings(const RunFile& run_file, const ParameterSettings& unknowns, const Experiment& experiment) {
  const InversionSettings how = run_file.inversion.settings();
  return {.of = {.eps_r = unknowns.eps_r, .sigma = unknowns.sigma},
          .least_eps_r = unknowns.eps_r ? unknowns.eps_r_bounds[0] : 0,
          .gauss_newton = how.optimiser == OptimiserKind::gauss_newton || how.uncertainty.rank > 0,
          .highest_frequency = highest_frequency(experiment),
          .storage = run_file.storage.settings()};
}

}  // namespace sonde::maxwell
