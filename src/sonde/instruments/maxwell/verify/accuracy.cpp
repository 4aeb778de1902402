// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/maxwell/grid/constants.h"
#include "sonde/instruments/maxwell/read/experiment_draft.h"
#include "sonde/instruments/maxwell/run/experiment_run.h"
#include "sonde/instruments/maxwell/run/grid_options.h"
#include "sonde/instruments/maxwell/verify/checks.h"
#include "sonde/instruments/maxwell/verify/hankel.h"
#include "sonde/instruments/maxwell/verify/spectrum.h"

namespace sonde::maxwell {
namespace {

// A line source in uniform ground; receivers along the axis x and along the diagonal, near ones and far ones.
constexpr double accuracy_eps_r = 4, accuracy_f0 = 500e6, accuracy_spacing = 0.01, near_m = 0.5, far_m = 1.3;
const double accuracy_velocity = c0 / std::sqrt(accuracy_eps_r);
const std::array<std::array<double, 3>, 2> accuracy_directions{{{0, 0, 1}, {std::sqrt(0.5), 0, std::sqrt(0.5)}}};

ExperimentDraft accuracy_draft(bool corrected) {
  constexpr double source = 25;  // cells from plane 0, along both axes
  ExperimentDraft draft;
  draft.shape = {140, 180};
  draft.spacing = {accuracy_spacing};
  draft.eps_r = NumberArray{{}, {accuracy_eps_r}};
  draft.precision = Precision::f64;
  draft.corrected = corrected;
  draft.sources = NumberArray{{1, 2}, {source, source}};
  std::vector<double> receivers;
  for (const auto& direction : accuracy_directions)
    for (const double r : {near_m, far_m})
      receivers.insert(receivers.end(),
                       {source + direction[0] * r / accuracy_spacing, source + direction[2] * r / accuracy_spacing});
  draft.receivers = NumberArray{{4, 2}, receivers};
  draft.wavelet = Wavelet{.frequency = accuracy_f0, .delay = 1.5 / accuracy_f0};
  draft.steps = 600;
  return draft;
}

Experiment on_grid(ExperimentDraft draft, const GridOption& option) {
  draft.order = option.grid.order;
  draft.computed_spacing = {option.grid.spacing[0]};
  draft.pml = {option.grid.pml[0][0]};
  draft.dt = option.dt;
  draft.steps = option.steps;
  return experiment_of(std::move(draft), std::numeric_limits<std::size_t>::max());
}

/// Of numerical over true phase velocity - 1 in a run: the largest magnitude, and the largest distance from what the
/// dispersion relation predicts.
struct VelocityErrors {
  double largest = 0, apart = 0;
};

VelocityErrors measured_errors(const Experiment& experiment, const GridOption& option, double highest_frequency) {
  Operator waves = make_operator(experiment);
  std::vector<std::string> unsaid;
  const std::vector<double> record = waves.forward(shot_on_grid(experiment.shots.front(), waves.grid(), unsaid));
  const auto trace = [&](std::size_t receiver) {
    const auto first = record.begin() + static_cast<Index>(receiver) * experiment.steps;
    return Signal{{first, first + experiment.steps}, experiment.dt, 1};
  };
  VelocityErrors made;
  for (std::size_t d = 0; d < 2; ++d) {
    const Signal near = trace(2 * d), far = trace(2 * d + 1);
    // Lower quarters of the band have few wavelengths between the receivers, and errors that are much smaller.
    for (int i = 4; i <= 16; ++i) {
      const double f = highest_frequency * i / 16, w = 2 * std::numbers::pi * f, k = w / accuracy_velocity;
      const Complex wanted = hankel_second_kind(k * far_m).h0 / hankel_second_kind(k * near_m).h0;
      const double later = std::arg(spectrum(far, w) / spectrum(near, w) / wanted);
      const double found = k / (k - later / (far_m - near_m)) - 1;
      const double predicted =
          phase_velocity_ratio(Grid(option.grid), experiment.corrected && option.grid.order > 2 ? 0 : option.inner_dt(),
                               accuracy_velocity, f, accuracy_directions[d]) -
          1;
      made.largest = std::max(made.largest, std::abs(found));
      made.apart = std::max(made.apart, std::abs(found - predicted));
    }
  }
  return made;
}

void add_accuracy_rows(double wanted, bool corrected, std::vector<VerifyRow>& rows) {
  const ExperimentDraft draft = accuracy_draft(corrected);
  const GridQuestion question = grid_question(experiment_of(draft, std::numeric_limits<std::size_t>::max()));
  const std::vector<GridOption> options = grid_options(question);
  const GridOption* chosen = cheapest(options, wanted, std::numeric_limits<std::size_t>::max());
  if (chosen == nullptr) throw Error(ErrorKind::internal, "no grid for a line source in uniform ground");
  const GridOption cheaper = alternatives(options, *chosen, wanted).front();
  const double f = question.band.highest_frequency;
  const VelocityErrors of_chosen = measured_errors(on_grid(draft, *chosen), *chosen, f),
                       of_cheaper = measured_errors(on_grid(draft, cheaper), cheaper, f);
  const std::string id = fmt::format("accuracy.{:g}_percent{}", 100 * wanted, corrected ? "_corrected" : ""),
                    of = fmt::format(" over {:g} %, of order {} with {:.3g} cells per wavelength", 100 * wanted,
                                     chosen->grid.order, chosen->cells_per_wavelength);
  rows.push_back({id, "largest measured error of the phase velocity" + of, of_chosen.largest / wanted, 1});
  rows.push_back({id + "_next_cheaper",
                  fmt::format("the same of the next cheaper grid, order {} with {:.3g} cells per wavelength",
                              cheaper.grid.order, cheaper.cells_per_wavelength),
                  of_cheaper.largest / wanted, 1, true});
  // What the weights of places between nodes and waves from the layers add to the phase.
  rows.push_back({id + "_predicted", "distance of measured and predicted errors" + of,
                  std::max(of_chosen.apart, of_cheaper.apart) / wanted, 0.2});
}

}  // namespace

std::vector<VerifyRow> check_accuracy(VerifySize size) {
  std::vector<VerifyRow> rows;
  add_accuracy_rows(0.01, false, rows);
  if (size == VerifySize::full) {
    add_accuracy_rows(0.003, false, rows);
    add_accuracy_rows(0.003, true, rows);
  }
  return rows;
}

}  // namespace sonde::maxwell
