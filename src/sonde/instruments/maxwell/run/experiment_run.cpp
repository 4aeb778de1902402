// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/run/experiment_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/maxwell/signal/interpolation.h"
#include "sonde/instruments/maxwell/signal/wavelet.h"

namespace sonde::maxwell {
namespace {

/// Product of the taps along each axis, on the lattice of the component.
Point point_on_grid(const SurveyPoint& from, const Grid& grid, const std::string& what,
                    std::vector<std::string>& warnings) {
  std::array<Taps, 3> lines;
  Index dropped = 0;
  for (const Axis axis : all_axes) {
    Taps& line = lines[dimension(axis)];
    line.taps = {{0, 1}};
    if (!grid.has(axis)) continue;
    const double place =
        from.at[dimension(axis)] + static_cast<double>(grid.low(axis)) - (is_half(from.component, axis) ? 0.5 : 0);
    line = kaiser_sinc_taps(place, grid.extent(axis));
    dropped += line.dropped;
  }
  Point made{from.component, {}, false};
  for (const Tap& z : lines[0].taps)
    for (const Tap& y : lines[1].taps)
      for (const Tap& x : lines[2].taps)
        made.taps.push_back({grid.index(z.index, y.index, x.index), z.weight * y.weight * x.weight});
  if (dropped > 0)
    warnings.push_back(
        fmt::format("{} is so near the end of the grid that {} of its nodes are outside", what, dropped));
  return made;
}

void append(const std::vector<SurveyPoint>& points, const char* what, const Grid& grid, std::vector<Point>& to,
            std::vector<std::string>& warnings) {
  for (std::size_t i = 0; i < points.size(); ++i)
    to.push_back(point_on_grid(points[i], grid, fmt::format("{} {}", what, i), warnings));
}

}  // namespace

ComponentMedium medium_of(const Experiment& experiment, const Grid& grid) {
  ComponentMedium made = locate(experiment.model, grid);
  made.poles =
      locate_change({{}, {}, {}, experiment.poles}, experiment.model.location, PaddingGradient::exact, grid).poles;
  return made;
}

Operator make_operator(const Experiment& experiment, Threads threads, double least_eps_r, Device device, Index shots) {
  const Grid grid(experiment.grid);
  require_model(experiment.model, grid);
  return Operator({grid, medium_of(experiment, grid), {}, 0}, experiment.pml, experiment.dominant_frequency,
                  {.dt = experiment.dt,
                   .steps = experiment.steps,
                   .least_ratio = experiment.least_sub_steps,
                   .corrected = experiment.corrected,
                   .precision = experiment.precision,
                   .threads = threads,
                   .least_eps_r = least_eps_r,
                   .device = device,
                   .shots = shots});
}

Shot shot_on_grid(const SurveyShot& shot, const Grid& grid, std::vector<std::string>& warnings) {
  Shot made{{}, shot.amplitudes};
  append(shot.sources, "source", grid, made.points.sources, warnings);
  append(shot.receivers, "receiver", grid, made.points.receivers, warnings);
  return made;
}

std::vector<std::string> place_warnings(const Experiment& experiment, const Grid& grid) {
  std::vector<std::string> made;
  for (const SurveyShot& shot : experiment.shots) {
    std::vector<std::string> of_shot;
    (void)shot_on_grid({shot.sources, shot.receivers, {}}, grid, of_shot);
    for (std::string& each : of_shot)
      if (std::find(made.begin(), made.end(), each) == made.end()) made.push_back(std::move(each));
  }
  return made;
}

double highest_frequency(const Experiment& experiment) {
  double highest = 0;
  const auto steps = static_cast<std::size_t>(experiment.steps);
  for (const SurveyShot& shot : experiment.shots)
    for (std::size_t first = 0; steps > 0 && first + steps <= shot.amplitudes.size(); first += steps)
      highest = std::max(highest, highest_frequency(std::span(shot.amplitudes).subspan(first, steps), experiment.dt));
  return highest;
}

}  // namespace sonde::maxwell
