// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/run/crosshole.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>

#include "tests/support/places.h"

namespace sonde::maxwell {
namespace {

Experiment crosshole() {
  RunFile file;
  file.parse(crosshole_run_file(), "crosshole.toml");
  return make_experiment(file, {}, std::size_t{1} << 28U);
}

std::size_t cell_at(const Experiment& experiment, double z, double x) {
  const auto index = [](double at) { return static_cast<Index>(std::lround((at + 0.5) / 0.1)); };
  return static_cast<std::size_t>(index(z) * experiment.grid.cells[2] + index(x));
}

TEST(Crosshole, IsTheShippedExample) {
  std::ifstream file(sonde::testing::source_folder() + "/examples/crosshole.toml");
  const std::string shipped{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(shipped, crosshole_run_file()) << "`sonde maxwell init --example crosshole -o examples/crosshole.toml`";
}

TEST(Crosshole, HasElevenSourcesAndTwentyOneReceivers) {
  const Experiment experiment = crosshole();
  ASSERT_EQ(experiment.shots.size(), 11U);
  EXPECT_EQ(experiment.shots[0].receivers.size(), 21U);
  EXPECT_EQ(experiment.shots[10].receivers[20].at, (std::array<double, 3>{65, 0, 45}));
}

TEST(Crosshole, HoldsTwoDiscsAndAPatch) {
  const Experiment experiment = crosshole();
  const Model model = crosshole_model(experiment, CrossholeGround::discs);
  EXPECT_EQ(model.eps_r[cell_at(experiment, upper_disc[0], upper_disc[1])], 6.5);
  EXPECT_EQ(model.eps_r[cell_at(experiment, lower_disc[0] + 0.4, lower_disc[1])], 4);
  EXPECT_EQ(model.eps_r[cell_at(experiment, lower_disc[0] + 0.5, lower_disc[1])], 5);
  EXPECT_EQ(model.sigma[cell_at(experiment, 3.1, 2.8)], 10e-3);
  const Model smooth = crosshole_model(experiment, CrossholeGround::smooth);
  EXPECT_NEAR(*std::ranges::max_element(smooth.eps_r), 6, 1e-12);
}

TEST(Crosshole, RecordsOfFinerCellsAreThoseOfTheSameSurvey) {
  const Experiment experiment = crosshole();
  const ObservedData same = crosshole_records(experiment, CrossholeGround::smooth, 1, experiment.grid.order),
                     finer = crosshole_records(experiment, CrossholeGround::smooth, 2, 8);
  require_recorded_by(experiment, finer, "the records");
  double squares = 0, differences = 0;
  for (std::size_t i = 0; i < same.samples.size(); ++i) {
    squares += same.samples[i] * same.samples[i];
    differences += std::pow(same.samples[i] - finer.samples[i], 2);
  }
  // Numerical dispersion of order 4 over 6 m at 8 cells per wavelength, and nothing else: no shift by half a cell or
  // step, which would be some 20 %.
  EXPECT_LT(std::sqrt(differences / squares), 0.05);
  EXPECT_GT(differences, 0);
}

}  // namespace
}  // namespace sonde::maxwell
