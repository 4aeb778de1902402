// SPDX-License-Identifier: Apache-2.0
// Inversions of the crosshole example, whose ground is known. Records are computed on cells half as wide with stencils
// of another order, so that what is inverted is not what made them, but where a row says otherwise.
#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "sonde/engine/device/device.h"
#include "sonde/instruments/maxwell/results/inversion_result.h"
#include "sonde/instruments/maxwell/run/crosshole.h"
#include "sonde/instruments/maxwell/run/inversion_inputs.h"
#include "sonde/instruments/maxwell/verify/checks.h"

namespace sonde::maxwell {
namespace {

struct CrossholeTrial {
  CrossholeGround ground = CrossholeGround::discs;
  bool same_grid = false;
  double noise = 0;                                     ///< standard deviation over the largest sample
  double late = 0;                                      ///< s, by which the wavelet that is believed in is late
  Index shots_between = 1, stages = 2, iterations = 0;  ///< 0: those of the example
};

struct CrossholeFound {
  Experiment experiment;
  Model truth, model;
  std::vector<InversionRow> history;
  std::vector<double> wanted_source, source;
  double misfit_left = 0;  ///< of all frequencies, with the model and the sources of the end, over that of the start

  /// Between the boreholes.
  [[nodiscard]] double eps_r_error() const {
    return remaining_error(model.eps_r, experiment.model.eps_r, truth.eps_r, between_boreholes(experiment));
  }
  [[nodiscard]] double source_error() const {
    double squares = 0, differences = 0;
    for (std::size_t n = 0; n < source.size(); ++n) {
      squares += wanted_source[n] * wanted_source[n];
      differences += (source[n] - wanted_source[n]) * (source[n] - wanted_source[n]);
    }
    return std::sqrt(differences / squares);
  }
  /// Of the centre of a disc, over its contrast.
  [[nodiscard]] double disc_error(const double (&centre)[2]) const {
    const auto index = [&](double at, std::size_t axis) {
      return static_cast<Index>(std::lround((at - experiment.origin[axis]) / experiment.grid.spacing[axis]));
    };
    const auto cell = static_cast<std::size_t>(index(centre[0], 0) * experiment.grid.cells[2] + index(centre[1], 2));
    return std::abs(model.eps_r[cell] - truth.eps_r[cell]) / std::abs(experiment.model.eps_r[cell] - truth.eps_r[cell]);
  }
};

/// Every so many shots of the example.
void thin_out(Experiment& experiment, Index between) {
  std::vector<SurveyShot> kept;
  for (std::size_t s = 0; s < experiment.shots.size(); s += static_cast<std::size_t>(between))
    kept.push_back(std::move(experiment.shots[s]));
  experiment.shots = std::move(kept);
}

double add_noise(ObservedData& data, double share) {
  double largest = 0;
  for (const double each : data.samples) largest = std::max(largest, std::abs(each));
  std::mt19937_64 engine(7);
  std::normal_distribution<double> normal(0, share * largest);
  for (double& each : data.samples) each += normal(engine);
  return share * largest;
}

/// Squares of what a model leaves of the records.
double squares_left(ExperimentWaves& waves, const Model& model, const std::vector<std::vector<double>>& sources,
                    const ObservedData& observed) {
  std::vector<ShotSignals> shots;
  for (std::size_t s = 0; s < sources.size(); ++s) shots.push_back({static_cast<Index>(s), sources[s]});
  double squares = 0;
  waves.record(model, shots, [&](Index shot, const Gather& computed) {
    const Gather measured = gather_of(observed, shot);
    for (std::size_t i = 0; i < measured.samples.size(); ++i)
      squares += (measured.samples[i] - computed.samples[i]) * (measured.samples[i] - computed.samples[i]);
  });
  return squares;
}

CrossholeFound invert(const CrossholeTrial& trial) {
  RunFile file;
  file.parse(crosshole_run_file(), "the example");
  if (trial.ground == CrossholeGround::smooth) file.tables().assign_text("inversion.tv=0");
  if (trial.same_grid) file.tables().assign_text("inversion.tv=0");
  if (trial.late > 0) file.tables().assign_text("inversion.source_estimation=global");
  CrossholeFound made;
  made.experiment = make_experiment(file, {}, std::size_t{1} << 30U);
  thin_out(made.experiment, trial.shots_between);
  ObservedData observed = trial.same_grid
                              ? crosshole_records(made.experiment, trial.ground, 1, made.experiment.grid.order)
                              : crosshole_records(made.experiment, trial.ground, 2, 8);
  made.wanted_source = made.experiment.shots.front().amplitudes;
  const auto by = static_cast<std::size_t>(std::lround(trial.late / made.experiment.dt));
  for (SurveyShot& shot : made.experiment.shots)
    std::shift_right(shot.amplitudes.begin(), shot.amplitudes.end(), static_cast<std::ptrdiff_t>(by));

  Measurements measurements = make_measurements(file, made.experiment, observed, {});
  if (trial.noise > 0) {
    measurements.noise = add_noise(observed, trial.noise);
    for (std::size_t s = 0; s < measurements.shots.size(); ++s)
      measurements.shots[s].records = gather_of(observed, static_cast<Index>(s));
  }
  InversionSettings settings = file.inversion.settings();
  settings.stages.resize(static_cast<std::size_t>(trial.stages));
  if (trial.iterations > 0)
    for (InversionStage& stage : settings.stages) stage.iterations = trial.iterations;
  const ParameterSettings unknowns =
      file.inversion.parameters(made.experiment.grid.mode, made.experiment.dominant_frequency);
  ExperimentWaves waves(made.experiment, wave_settings(file, unknowns, made.experiment), TierBudgets::unlimited());
  Inversion inversion(waves, std::move(measurements),
                      Parameters(waves.grid(), unknowns, made.experiment.model, make_mask(file, made.experiment, {})),
                      std::move(settings));
  inversion.run();
  made.truth = crosshole_model(made.experiment, trial.ground);
  made.model = inversion.model();
  made.history = inversion.history();
  made.source = inversion.amplitudes().front();
  std::vector<std::vector<double>> given;
  for (const SurveyShot& shot : made.experiment.shots) given.push_back(shot.amplitudes);
  made.misfit_left = squares_left(waves, made.model, inversion.amplitudes(), observed) /
                     squares_left(waves, made.experiment.model, given, observed);
  return made;
}

std::vector<VerifyRow> quick_rows() {
  constexpr Index every_third = 3, few = 8;
  std::vector<VerifyRow> rows;
  const CrossholeTrial smooth{.ground = CrossholeGround::smooth,
                              .same_grid = true,
                              .shots_between = every_third,
                              .stages = 1,
                              .iterations = few};
  const CrossholeFound found = invert(smooth);
  rows.push_back({"inversion.quick_misfit", "misfit of 8 iterations over its start, 60 MHz, records of the same cells",
                  remaining_misfit(found.history, 0), 0.01});
  rows.push_back(
      {"inversion.quick_error", "error of eps_r over that of the start, smooth anomaly", found.eps_r_error(), 0.6});
  CrossholeTrial noisy = smooth;
  noisy.noise = 0.01;
  rows.push_back({"inversion.quick_noise", "chi^2 with 1 % noise, distance from 1",
                  std::abs(invert(noisy).history.back().chi2 - 1), 0.2});
  return rows;
}

}  // namespace

std::vector<VerifyRow> check_inversion(VerifySize size) {
  if (size == VerifySize::quick) return quick_rows();
  std::vector<VerifyRow> rows;
  const CrossholeFound discs = invert({}), same = invert({.same_grid = true}), noisy = invert({.noise = 0.01}),
                       late = invert({.late = 1e-9}), smooth = invert({.ground = CrossholeGround::smooth});
  rows.push_back({"inversion.misfit", "misfit of all frequencies over that of the start, records of the same cells",
                  same.misfit_left, 1e-3});
  rows.push_back({"inversion.misfit_60_MHz", "misfit of stage 1 over its start, records of the same cells",
                  remaining_misfit(same.history, 0), 1e-3});
  rows.push_back(
      {"inversion.eps_r", "error of eps_r between the boreholes over that of the start", discs.eps_r_error(), 0.6});
  rows.push_back({"inversion.discs", "error in the centres of the discs over their contrast",
                  std::max(discs.disc_error(upper_disc), discs.disc_error(lower_disc)), 0.25});
  rows.push_back(
      {"inversion.noise", "chi^2 with 1 % noise, distance from 1", std::abs(noisy.history.back().chi2 - 1), 0.2});
  // 1 ns is an error of 0.5 of this wavelet. What it has above 120 MHz, a tenth, no stage sees, and while the source is
  // found the model takes its part of the delay.
  rows.push_back({"inversion.wavelet", "error of a wavelet that was 1 ns late, relative", late.source_error(), 0.15});
  rows.push_back(
      {"inversion.wavelet_eps_r", "error of eps_r with that wavelet over that of the start", late.eps_r_error(), 0.7});
  rows.push_back(
      {"inversion.smooth", "error of eps_r over that of the start, smooth anomaly", smooth.eps_r_error(), 0.4});
  return rows;
}

}  // namespace sonde::maxwell
