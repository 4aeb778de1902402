// SPDX-License-Identifier: Apache-2.0
// Where the records of a survey ask for another permittivity: the gradient of a misfit: radar_gradient GRADIENT.npy
#include <cstdio>
#include <string>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/npy.h"
#include "sonde/instruments/maxwell/run/experiment_waves.h"
#include "sonde/instruments/maxwell/signal/sample_offset.h"
#include "sonde/instruments/maxwell/signal/wavelet.h"

namespace {

using sonde::Index;
namespace mx = sonde::maxwell;

constexpr Index depth = 40, length = 60, steps = 300;  // cells of 5 cm, steps of 0.1 ns
constexpr double dt = 1e-10, centre_frequency = 1e8;

/// Ground of eps_r 6 and 2 mS/m, [z][x]; with a block of eps_r 9 where `block`.
mx::Model ground(bool block) {
  mx::Model made{.eps_r = std::vector<double>(depth * length, 6.0), .sigma = std::vector<double>(depth * length, 2e-3)};
  for (Index z = 22; block && z < 26; ++z)
    for (Index x = 28; x < 34; ++x) made.eps_r[static_cast<std::size_t>(z * length + x)] = 9;
  return made;
}

/// Five antennas on a line; each sends once, all receive.
mx::Experiment survey() {
  mx::Experiment made;
  made.grid.mode = mx::Mode::tm2d;
  made.grid.cells = {depth, 1, length};
  made.grid.spacing = {0.05, 1, 0.05};
  made.grid.order = 4;
  for (const std::size_t axis : {0U, 2U}) made.grid.pml[axis] = {10, 10};
  made.model = ground(false);
  made.dominant_frequency = centre_frequency;
  made.dt = dt;
  made.steps = steps;
  made.precision = mx::Precision::f64;
  std::vector<mx::SurveyPoint> antennas;
  for (const double x : {10, 20, 30, 40, 50}) antennas.push_back({mx::Component::Ey, {3, 0, x}});
  const std::vector<double> ricker =
      mx::sampled(mx::Wavelet{.frequency = centre_frequency}, steps, dt, mx::sample_offset::electric_source);
  for (const mx::SurveyPoint& sends : antennas) made.shots.push_back({{sends}, antennas, ricker});
  return made;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace sonde;
  if (argc != 2) return std::fprintf(stderr, "usage: radar_gradient GRADIENT.npy\n"), 2;
  try {
    const mx::Experiment experiment = survey();
    const Device cpu = Device::cpu();
    mx::ExperimentWaves waves(experiment, {.of = {.sigma = false}, .highest_frequency = 2.76 * centre_frequency},
                              TierBudgets::around(cpu, Budget::automatic(cpu)));
    std::vector<mx::ShotSignals> shots;
    for (const mx::SurveyShot& shot : experiment.shots) shots.push_back({Index(shots.size()), shot.amplitudes});

    std::vector<mx::Gather> observed;
    waves.record(ground(true), shots, [&](Index, const mx::Gather& records) { observed.push_back(records); });

    // 0.5 |d - observed|^2, whose derivative by the records is d - observed.
    const auto misfit = [&](Index shot, const mx::Gather& computed) {
      mx::RecordMisfit made;
      made.residual = computed.samples;
      for (std::size_t i = 0; i < made.residual.size(); ++i) {
        made.residual[i] -= observed[static_cast<std::size_t>(shot)].samples[i];
        made.value += 0.5 * made.residual[i] * made.residual[i];
      }
      return made;
    };
    const mx::MisfitGradient found = waves.gradient(experiment.model, shots, misfit, mx::Illumination::skipped);

    Index at = 0;
    const std::vector<double>& gradient = found.gradient.eps_r;
    for (Index i = 10 * length; i < depth * length; ++i)  // below the antennas, whose own cells feel most
      if (gradient[static_cast<std::size_t>(i)] < gradient[static_cast<std::size_t>(at)]) at = i;
    write_npy(argv[1], Array::from(gradient, Shape{depth, length}));
    std::printf("misfit %.4g (V/m)^2; it falls fastest where eps_r rises at z = %.2f m, x = %.2f m\n", found.value,
                0.05 * static_cast<double>(at / length), 0.05 * static_cast<double>(at % length));
    return 0;
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return exit_status(error.kind());
  }
}
