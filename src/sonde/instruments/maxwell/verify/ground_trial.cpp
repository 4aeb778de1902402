// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/verify/ground_trial.h"

#include <cmath>

#include "sonde/instruments/maxwell/signal/sample_offset.h"
#include "sonde/instruments/maxwell/signal/wavelet.h"
#include "sonde/instruments/maxwell/verify/spectrum.h"

namespace sonde::maxwell {

Experiment uneven_ground() {
  Experiment made;
  made.grid = {.mode = Mode::tm2d,
               .cells = {60, 1, 60},
               .spacing = {0.04, 1, 0.04},
               .pml = {{{8, 8}, {0, 0}, {8, 8}}},
               .order = 4};
  for (int z = 0; z < 60; ++z)
    for (int x = 0; x < 60; ++x) {
      made.model.eps_r.push_back(4 + 0.5 * std::sin(z / 7.0) * std::cos(x / 9.0));
      made.model.sigma.push_back(2e-3 * (1 + std::sin(x / 8.0)));
    }
  made.dominant_frequency = ground_frequency;
  made.dt = 0.7 * largest_time_step(made);
  made.steps = 700;
  const std::vector<double> pulse = sampled(Wavelet{.frequency = ground_frequency, .delay = 1.3 / ground_frequency},
                                            made.steps, made.dt, sample_offset::electric_source);
  for (const double x : {30.0, 12.0, 45.5}) {
    SurveyShot& shot = made.shots.emplace_back();
    shot.sources = {{Component::Ey, {4, 0, x}}};
    for (const double receiver : {8.0, 22.0, 36.0, 50.0}) shot.receivers.push_back({Component::Ey, {56, 0, receiver}});
    shot.amplitudes = pulse;
  }
  return made;
}

std::vector<ShotSignals> signals_of(const Experiment& experiment) {
  std::vector<ShotSignals> made;
  for (const SurveyShot& shot : experiment.shots) made.push_back({static_cast<Index>(made.size()), shot.amplitudes});
  return made;
}

RecordMisfit energy_of_record(Index, const Gather& computed) {
  const double squares = dot(computed.samples, computed.samples);
  return {squares / 2, squares, computed.samples};
}

}  // namespace sonde::maxwell
