// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/run/crosshole.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "sonde/instruments/maxwell/run/native_run.h"

namespace sonde::maxwell {
namespace {

// Plane 0 is half a metre above and to the left of the upper end of the left borehole.
constexpr double margin = 0.5, depth = 6, width = 4;

/// "5, 5,  11, 5,  ...": z and x in cells of a borehole.
std::string line_of_points(int first, int last, int step, int x) {
  constexpr std::size_t most = 118;
  std::string text, line = " ";
  for (int z = first; z <= last; z += step) {
    const std::string point = fmt::format(" {}, {}{}", z, x, z + step > last ? "" : ", ");
    if (line.size() + point.size() > most) {
      text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
      line = " ";
    }
    line += point;
  }
  return "[\n" + text + line + "\n]";
}

struct Ground {
  double eps_r = 5, sigma = 3e-3;
};

/// At z, x in m from the upper end of the left borehole.
Ground ground_at(CrossholeGround kind, double z, double x) {
  Ground made;
  const auto distance = [&](const double(&centre)[2]) { return std::hypot(z - centre[0], x - centre[1]); };
  if (kind == CrossholeGround::smooth) {
    constexpr double centre[2] = {3, 2}, deviation = 0.7;
    made.eps_r += std::exp(-0.5 * std::pow(distance(centre) / deviation, 2));
    return made;
  }
  constexpr double radius = 0.5, rounding = 1e-9;
  if (distance(upper_disc) < radius - rounding) made.eps_r = 6.5;
  if (distance(lower_disc) < radius - rounding) made.eps_r = 4;
  if (std::abs(z - 3.1) < 0.4 + rounding && std::abs(x - 2.8) < 0.5 + rounding) made.sigma = 10e-3;
  return made;
}

/// Calls body(cell, z, x) with the place of each node in m from the upper end of the left borehole.
template <class Body>
void for_each_node(const Experiment& experiment, const Body& body) {
  const GridSpec& grid = experiment.grid;
  std::size_t cell = 0;
  for (Index k = 0; k < grid.cells[0]; ++k)
    for (Index i = 0; i < grid.cells[2]; ++i)
      body(cell++, static_cast<double>(k) * grid.spacing[0] - margin,
           static_cast<double>(i) * grid.spacing[2] - margin);
}

/// The same survey on cells `finer` times smaller.
Experiment refined(const Experiment& experiment, Index finer, int order) {
  Experiment made = experiment;
  const auto by = static_cast<double>(finer);
  for (const std::size_t a : {std::size_t{0}, std::size_t{2}}) {
    made.grid.cells[a] *= finer;
    made.grid.spacing[a] /= by;
    for (Index& layer : made.grid.pml[a]) layer *= finer;
    for (SurveyShot& shot : made.shots)
      for (auto* points : {&shot.sources, &shot.receivers})
        for (SurveyPoint& point : *points) point.at[a] *= by;
  }
  made.grid.order = order;
  return made;
}

}  // namespace

std::string crosshole_run_file() {
  return "# sonde: two boreholes 4 m apart, sources in one, receivers in the other. "
         "`sonde maxwell init --example crosshole`\n"
         "# writes this file beside records of ground that it does not know; `sonde maxwell fwi` finds that ground.\n"
         "[model]\n"
         "title = \"Crosshole\"\n"
         "eps_r = 5\n"
         "sigma = 0.003\n"
         "shape = [70, 50]\n"
         "spacing = 0.1\n"
         "origin = [-0.5, -0.5]\n\n"
         "[survey]\n"
         "sources = " +
         line_of_points(5, 65, 6, 5) + "\nreceivers = " + line_of_points(5, 65, 3, 45) +
         "\n\n[source]\n"
         "f0 = 80e6\n\n"
         "[time]\n"
         "dt = 2.5e-10\n"
         "nt = 400\n\n"
         "[data]\n"
         "file = \"crosshole_records.h5\"\n"
         "true_model = \"crosshole_true.h5\"\n\n"
         "[inversion]\n"
         "parameters = [\"eps_r\", \"sigma\"]\n"
         "eps_r_bounds = [2, 12]\n"
         "sigma_bounds = [0, 0.05]\n"
         "mask_radius = 0.4\n"
         "mask_taper = 0.4\n"
         "tv = 0.001\n\n"
         "[[inversion.stage]]\n"
         "fmax = 60e6\n"
         "iterations = 30\n\n"
         "[[inversion.stage]]\n"
         "fmax = 120e6\n"
         "iterations = 50\n";
}

Model crosshole_model(const Experiment& experiment, CrossholeGround ground) {
  Model made = experiment.model;
  made.eps_r.resize(static_cast<std::size_t>(experiment.grid.cells[0] * experiment.grid.cells[2]));
  made.sigma.resize(made.eps_r.size());
  for_each_node(experiment, [&](std::size_t cell, double z, double x) {
    const Ground here = ground_at(ground, z, x);
    made.eps_r[cell] = here.eps_r;
    made.sigma[cell] = here.sigma;
  });
  return made;
}

std::vector<double> between_boreholes(const Experiment& experiment) {
  std::vector<double> made(experiment.model.eps_r.size());
  for_each_node(experiment, [&](std::size_t cell, double z, double x) {
    made[cell] = z >= 0 && z <= depth && x >= 0 && x <= width ? 1 : 0;
  });
  return made;
}

ObservedData crosshole_records(const Experiment& experiment, CrossholeGround ground, Index finer, int order) {
  Experiment truth = refined(experiment, finer, order);
  truth.model = crosshole_model(truth, ground);
  ObservedData made = NativeRun(std::move(truth)).run();
  ObservedData survey = empty_data(experiment);
  survey.samples = std::move(made.samples);
  return survey;
}

}  // namespace sonde::maxwell
