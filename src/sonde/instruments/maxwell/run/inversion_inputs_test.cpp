// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/run/inversion_inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sonde/engine/array/array.h"
#include "tests/support/errors.h"

namespace sonde::maxwell {
namespace {

using sonde::testing::error_of;
using ::testing::ElementsAre;

const std::string inverted_strip =
    "[model]\neps_r = 4\nshape = [5, 8]\nspacing = 0.1\n"
    "[survey]\nsources = [1, 2, 1, 5]\nreceivers = [3, 1, 3, 6]\n"
    "[source]\nf0 = 50e6\n[time]\nnt = 3\ndt = 1e-10\n[grid]\npml = 3\n";

/// A run file with its experiment, records 0, 1, 2, ..., and arrays by name.
struct Given {
  explicit Given(const std::string& more) {
    file.parse(inverted_strip + more, "run.toml");
    experiment = make_experiment(file, {}, std::size_t{1} << 26U);
    observed = empty_data(experiment);
    for (std::size_t i = 0; i < observed.samples.size(); ++i) observed.samples[i] = static_cast<double>(i);
  }
  [[nodiscard]] Measurements measurements() const { return make_measurements(file, experiment, observed, find()); }
  [[nodiscard]] Mask mask() const { return make_mask(file, experiment, find()); }
  [[nodiscard]] FindArray find() const {
    return [this](const std::string& name) { return name == "a.npy" ? array : nullptr; };
  }
  void give(const std::vector<double>& values, const Shape& shape) {
    array = std::make_shared<const Array>(Array::from(values, shape));
  }

  RunFile file;
  Experiment experiment;
  ObservedData observed;
  std::shared_ptr<const Array> array;
};

TEST(InversionInputs, TakeRecordsByShotAndReceiver) {
  const Measurements made = Given("").measurements();
  ASSERT_EQ(made.shots.size(), 2U);
  EXPECT_THAT(made.shots[1].records.samples, ElementsAre(2, 6, 10, 3, 7, 11));
  EXPECT_TRUE(made.shots[1].weights.empty());
  EXPECT_EQ(made.amplitudes[1].size(), 3U);
}

TEST(InversionInputs, WeighTracesAndMuteWhatComesBefore) {
  Given given("[data]\nweight = \"a.npy\"\nmute = 1.5e-10\n");
  given.give({1, 2, 3, 4}, Shape{2, 2});
  // Samples are at 1, 2 and 3e-10 s.
  EXPECT_THAT(given.measurements().shots[1].weights, ElementsAre(0, 3, 3, 0, 4, 4));
}

TEST(InversionInputs, HoldCellsNearTheSurvey) {
  const Given given("[inversion]\nmask_radius = 0.05\nmask_depth = 0.05\n");
  const Mask mask = given.mask();
  EXPECT_EQ(mask[2], 0);          // above the depth
  EXPECT_EQ(mask[1 * 8 + 5], 0);  // a source
  EXPECT_EQ(mask[3 * 8 + 6], 0);  // a receiver
  EXPECT_EQ(mask[3 * 8 + 4], 1);
  EXPECT_TRUE(Given("").mask().empty());
}

TEST(InversionInputs, RunWavesForTheLowestBound) {
  const Given given("[inversion]\nparameters = [\"sigma\"]\n[storage]\nmode = \"recompute\"\n");
  const WaveSettings of_sigma = wave_settings(given.file, {.eps_r = false, .sigma = true}, given.experiment);
  EXPECT_EQ(of_sigma.least_eps_r, 0);
  EXPECT_FALSE(of_sigma.of.eps_r);
  EXPECT_EQ(of_sigma.storage.mode, StorageMode::recompute);
  EXPECT_EQ(wave_settings(given.file, {.eps_r_bounds = {2, 9}}, given.experiment).least_eps_r, 2);
}

TEST(InversionInputs, RefuseArraysOfOtherShapesByTheirSetting) {
  Given weights("[data]\nweight = \"a.npy\"\n"), mask("[inversion]\nmask = \"a.npy\"\n");
  weights.give({1, 2, 3, 4}, Shape{4});
  EXPECT_EQ(
      error_of(ErrorKind::bad_input, [&] { (void)weights.measurements(); }),
      "error: data.weight: shape (4,); expected a number, (2, 2) for [shot][receiver] or (3, 2, 2) with the steps "
      "first");
  weights.give({1, 2, 3, -4}, Shape{2, 2});
  EXPECT_EQ(error_of(ErrorKind::bad_input, [&] { (void)weights.measurements(); }),
            "error: data.weight: element 3 is -4; expected a finite number of at least 0");
  mask.give({1, 1}, Shape{1, 2});
  EXPECT_EQ(error_of(ErrorKind::bad_input, [&] { (void)mask.mask(); }),
            "error: inversion.mask: shape (1, 2); the model has (5, 8)");
}

TEST(InversionInputs, RefuseRecordsOfAnotherSurvey) {
  Given given("");
  given.observed.steps = 4;
  EXPECT_EQ(error_of(ErrorKind::bad_input, [&] { (void)given.measurements(); }),
            "error: data.file: nt = 4; the experiment has 3");
}

}  // namespace
}  // namespace sonde::maxwell
