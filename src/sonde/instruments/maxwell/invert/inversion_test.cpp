// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/invert/inversion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "sonde/engine/io/checkpoint.h"
#include "sonde/instruments/maxwell/invert/test_waves.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde::maxwell {
namespace {

using testing::ConvolvedWaves;
using testing::random_numbers;

constexpr std::size_t few_cells = ConvolvedWaves::cell_count;

Model few(double eps_r, double sigma) {
  return {.eps_r = std::vector<double>(few_cells, eps_r), .sigma = std::vector<double>(few_cells, sigma)};
}

Model true_model() {
  return {.eps_r = random_numbers(few_cells, 21, 3, 8), .sigma = random_numbers(few_cells, 22, 0.001, 0.03)};
}

std::vector<std::vector<double>> true_sources() {
  std::vector<std::vector<double>> made;
  for (unsigned s = 0; s < ConvolvedWaves::shot_count; ++s)
    made.push_back(random_numbers(ConvolvedWaves::step_count, 31 + s));
  return made;
}

/// An inversion of records made in the true model.
struct FewCells {
  explicit FewCells(double bend = 0, double noise = 0) : waves(bend) {
    for (Gather& gather : waves.measured(true_model(), true_sources())) {
      const auto errors = random_numbers(gather.samples.size(), 41 + static_cast<unsigned>(measured.shots.size()));
      for (std::size_t i = 0; i < errors.size(); ++i) gather.samples[i] += noise * std::sqrt(3.0) * errors[i];
      measured.shots.push_back({std::move(gather)});
    }
    measured.amplitudes = true_sources();
    measured.noise = noise;
  }
  [[nodiscard]] Parameters parameters() const {
    return {waves.grid(),
            {.sigma = true, .eps_r_bounds = {1, 10}, .sigma_bounds = {0, 0.1}, .sigma0 = 5e-3},
            few(5, 0.01),
            {}};
  }

  ConvolvedWaves waves;
  Measurements measured;
  InversionSettings settings{.stages = {{.iterations = 60}}, .exit = {.change = 0, .gradient = 1e-8}};
};

double distance(const Model& a, const Model& b) {
  double squares = 0;
  for (std::size_t i = 0; i < a.eps_r.size(); ++i)
    squares += std::pow(a.eps_r[i] - b.eps_r[i], 2) + std::pow(200 * (a.sigma[i] - b.sigma[i]), 2);
  return std::sqrt(squares);
}

TEST(Inversion, FindsTheModelOfALinearProblem) {
  FewCells of;
  Inversion inversion(of.waves, of.measured, of.parameters(), of.settings);
  inversion.run();
  // 16 numbers and eigenvalues within a factor of ten: 1e-8 of the gradient is 1e-7 of the numbers.
  EXPECT_LT(distance(inversion.model(), true_model()), 1e-6);
  EXPECT_EQ(inversion.ends().front().reason, StopReason::small_gradient);
}

TEST(Inversion, FindsTheModelOfACurvedProblem) {
  FewCells of(0.03);
  Inversion inversion(of.waves, of.measured, of.parameters(), of.settings);
  inversion.run();
  EXPECT_LT(distance(inversion.model(), true_model()), 1e-5);
}

TEST(Inversion, FindsTheSameModelWithTheFilterAtTheSource) {
  // All is linear in the source; the short band of these random sources is all there is.
  FewCells of;
  of.settings.filter = FilterPlace::source;
  Inversion inversion(of.waves, of.measured, of.parameters(), of.settings);
  inversion.run();
  EXPECT_LT(distance(inversion.model(), true_model()), 1e-6);
}

TEST(Inversion, FindsTheModelByBatches) {
  FewCells of;
  of.settings.shots_per_batch = 2;
  Inversion inversion(of.waves, of.measured, of.parameters(), of.settings);
  inversion.run();
  EXPECT_LT(distance(inversion.model(), true_model()), 1e-3);
}

TEST(Inversion, BatchesRunTheirShotsOnly) {
  FewCells of;
  of.settings.shots_per_batch = 2;
  of.settings.stages = {{.iterations = 1}};
  of.waves.runs = 0;
  Inversion inversion(of.waves, of.measured, of.parameters(), of.settings);
  inversion.run();
  // The start of the stage sees all 6 shots, then every evaluation 2.
  EXPECT_EQ(of.waves.runs, 6 + 2 * (inversion.history().back().evaluations - 1));
}

TEST(Inversion, HistoryBeginsAtOneAndFalls) {
  FewCells of;
  Inversion inversion(of.waves, of.measured, of.parameters(), of.settings);
  inversion.run();
  const auto& rows = inversion.history();
  ASSERT_GT(rows.size(), 5U);
  EXPECT_EQ(rows[0].objective, 1);
  for (std::size_t i = 1; i < rows.size(); ++i) {
    EXPECT_LT(rows[i].objective, rows[i - 1].objective);
    EXPECT_EQ(rows[i].iteration, static_cast<Index>(i));
    EXPECT_GT(rows[i].evaluations, rows[i - 1].evaluations);
  }
}

TEST(Inversion, ObserverSeesTheModelAndTheGradientThere) {
  FewCells of(0.03);
  Inversion inversion(of.waves, of.measured, of.parameters(), of.settings);
  Index seen = 0;
  while (inversion.step([&](const Inversion::Progress& progress) {
    if (seen++ != 3) return;
    const Misfit misfit({}, of.waves.steps());
    std::vector<ShotSignals> shots;
    for (Index s = 0; s < of.waves.shots(); ++s)
      shots.push_back({s, of.measured.amplitudes[static_cast<std::size_t>(s)]});
    const MisfitGradient there = of.waves.gradient(
        progress.model, shots,
        [&](Index s, const Gather& gather) {
          return misfit(gather, of.measured.shots[static_cast<std::size_t>(s)].records, {});
        },
        Illumination::skipped);
    EXPECT_NEAR(progress.row.misfit, there.value, 1e-12 * there.value);  // a filter of all frequencies rounds
    for (std::size_t i = 0; i < few_cells; ++i)
      EXPECT_NEAR(progress.gradient.eps_r[i], there.gradient.eps_r[i],
                  1e-10 * std::abs(there.gradient.eps_r[i]) + 1e-9);
  })) {
  }
  EXPECT_EQ(seen, static_cast<Index>(inversion.history().size()));
}

TEST(Inversion, HeldCellsDoNotMove) {
  FewCells of;
  Mask mask(few_cells, 1.0);
  mask[2] = 0;
  Inversion inversion(of.waves, of.measured, {of.waves.grid(), {.eps_r_bounds = {1, 10}}, few(5, 0.01), mask},
                      of.settings);
  inversion.run();
  EXPECT_EQ(inversion.model().eps_r[2], 5);
  EXPECT_NE(inversion.model().eps_r[3], 5);
}

TEST(Inversion, RegularisationMakesTheModelSmoother) {
  const auto roughness = [](const Model& model) {
    double sum = 0;
    for (std::size_t i = 1; i < few_cells; ++i) sum += std::abs(model.eps_r[i] - model.eps_r[i - 1]);
    return sum;
  };
  for (const RegularisationSettings& by :
       {RegularisationSettings{.tv = 0.3}, RegularisationSettings{.tikhonov = 0.01}}) {
    FewCells of;
    of.settings.regularisation = by;
    Inversion inversion(of.waves, of.measured, of.parameters(), of.settings);
    inversion.run();
    EXPECT_LT(roughness(inversion.model()), 0.8 * roughness(true_model()));
    EXPECT_GT(inversion.history().back().regularisation, 0);
  }
}

TEST(Inversion, IlluminationChangesThePathNotTheModel) {
  FewCells of;
  of.settings.illumination_damping = 0.1;
  Inversion inversion(of.waves, of.measured, of.parameters(), of.settings);
  inversion.run();
  EXPECT_LT(distance(inversion.model(), true_model()), 1e-6);
}

TEST(Inversion, FindsTheModelByGaussNewtonInFewIterations) {
  FewCells of(0.03);
  of.settings.optimiser = OptimiserKind::gauss_newton;
  of.settings.products = 16;
  Inversion inversion(of.waves, of.measured, of.parameters(), of.settings);
  inversion.run();
  EXPECT_LT(distance(inversion.model(), true_model()), 1e-5);
  // Records are explained in the end, so that the matrix is the Hessian there: convergence is that of Newton.
  EXPECT_LE(inversion.history().back().iteration, 12);
}

TEST(Inversion, RegularisedGaussNewtonFindsWhatLbfgsFinds) {
  Model found[2];
  for (const OptimiserKind kind : {OptimiserKind::lbfgs, OptimiserKind::gauss_newton}) {
    FewCells of;
    of.settings.stages[0].iterations = 200;
    of.settings.exit.gradient = 1e-7;
    of.settings.regularisation = {.tv = 0.05, .tikhonov = 0.01, .tv_epsilon = 5};
    of.settings.optimiser = kind;
    Inversion inversion(of.waves, of.measured, of.parameters(), of.settings);
    inversion.run();
    found[kind == OptimiserKind::lbfgs ? 0 : 1] = inversion.model();
  }
  EXPECT_GT(distance(found[0], true_model()), 0.1);
  EXPECT_LT(distance(found[0], found[1]), 1e-4);
}

TEST(Inversion, WavesWithoutGaussNewtonAreAnError) {
  class Plain : public ConvolvedWaves {
    ModelChange gauss_newton(const Model& model, std::span<const ShotSignals> shots, const ModelChange& change,
                             const ShotWeighting& weighting) override {
      return WaveOperator::gauss_newton(model, shots, change, weighting);
    }
  } waves;
  FewCells of;
  of.settings.optimiser = OptimiserKind::gauss_newton;
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::not_supported,
                                       [&] { Inversion(waves, of.measured, of.parameters(), of.settings).run(); }),
              ::testing::HasSubstr("these waves have no product with the matrix of Gauss and Newton"));
}

TEST(Inversion, GoesThroughItsStagesWithAnEmptyMemory) {
  FewCells of;
  of.settings.stages = {{.band = {0, 1.5e8}, .iterations = 3}, {.iterations = 60}};
  Inversion inversion(of.waves, of.measured, of.parameters(), of.settings);
  inversion.run();
  ASSERT_EQ(inversion.ends().size(), 2U);
  EXPECT_EQ(inversion.ends()[0].reason, StopReason::iterations);
  EXPECT_EQ(inversion.history()[4].stage, 1);
  EXPECT_EQ(inversion.history()[4].iteration, 0);
  EXPECT_EQ(inversion.history()[4].objective, 1);
  EXPECT_LT(distance(inversion.model(), true_model()), 1e-6);
}

TEST(Inversion, StopsAtTheNoise) {
  FewCells of(0, 0.5);
  Inversion inversion(of.waves, of.measured, of.parameters(), of.settings);
  inversion.run();
  EXPECT_EQ(inversion.ends().back().reason, StopReason::noise_level);
  EXPECT_GT(inversion.history()[0].chi2, 2);
  // Two standard deviations of the mean square of 720 samples are 0.11; a step may lead below.
  EXPECT_NEAR(inversion.history().back().chi2, 1, 0.2);
}

StopReason reason_with(const ExitCriteria& exit) {
  FewCells of(0.03);
  of.settings.exit = exit;
  Inversion inversion(of.waves, of.measured, of.parameters(), of.settings);
  inversion.run();
  EXPECT_TRUE(inversion.finished());
  return inversion.ends().back().reason;
}

TEST(Inversion, NamesTheCriterionThatHasEndedIt) {
  EXPECT_EQ(reason_with({.change = 0.5, .gradient = 0}), StopReason::small_change);
  EXPECT_EQ(reason_with({.change = 0, .gradient = 0.1}), StopReason::small_gradient);
  EXPECT_EQ(reason_with({.change = 0, .gradient = 0, .evaluations = 4}), StopReason::evaluations);
  EXPECT_EQ(reason_with({.change = 0, .gradient = 0, .seconds = 1e-9}), StopReason::wall_clock);
}

/// Waves whose gradient has the wrong sign.
class WrongWaves : public ConvolvedWaves {
 public:
  MisfitGradient gradient(const Model& model, std::span<const ShotSignals> shots, const ShotMisfit& misfit,
                          Illumination illumination) override {
    MisfitGradient found = ConvolvedWaves::gradient(model, shots, misfit, illumination);
    for (double& each : found.gradient.eps_r) each = -each;
    for (double& each : found.gradient.sigma) each = -each;
    return found;
  }
};

TEST(Inversion, FailsWhereTheGradientIsNoDescent) {
  FewCells of;
  WrongWaves waves;
  Inversion inversion(waves, of.measured, of.parameters(), of.settings);
  inversion.run();
  EXPECT_EQ(inversion.ends().front().reason, StopReason::no_descent);
  EXPECT_TRUE(inversion.failed());
}

struct ResumeCase {
  std::string name;
  InversionSettings settings;
};

class ResumedInversion : public ::testing::TestWithParam<ResumeCase> {};

TEST_P(ResumedInversion, HasTheBitsOfOneThatWasNotInterrupted) {
  const sonde::testing::TemporaryFolder folder;
  FewCells of(0.03);
  of.measured.amplitudes[0][3] += 0.5;
  Inversion whole(of.waves, of.measured, of.parameters(), GetParam().settings);
  whole.run();
  for (const int stop : {0, 1, 3, 6, 9}) {
    SCOPED_TRACE(stop);
    const std::string path = folder.file(std::to_string(stop) + ".h5");
    {
      Inversion first(of.waves, of.measured, of.parameters(), GetParam().settings);
      for (int i = 0; i < stop; ++i) (void)first.step();
      CheckpointWriter file(path, {.name = "test"}, stop, "");
      first.save(file);
      file.finish();
    }
    Inversion second(of.waves, of.measured, of.parameters(), GetParam().settings);
    second.restore(CheckpointReader(path, {.name = "test"}));
    second.run();
    EXPECT_EQ(second.model().eps_r, whole.model().eps_r);
    EXPECT_EQ(second.model().sigma, whole.model().sigma);
    EXPECT_EQ(second.amplitudes(), whole.amplitudes());
    ASSERT_EQ(second.history().size(), whole.history().size());
    for (std::size_t i = 0; i < whole.history().size(); ++i) {
      EXPECT_EQ(second.history()[i].objective, whole.history()[i].objective);
      EXPECT_EQ(second.history()[i].evaluations, whole.history()[i].evaluations);
    }
    ASSERT_EQ(second.ends().size(), whole.ends().size());
    EXPECT_EQ(second.ends().back().reason, whole.ends().back().reason);
  }
}

const std::vector<InversionStage> two_stages{{.band = {0, 2e8}, .iterations = 4}, {.iterations = 5}};

INSTANTIATE_TEST_SUITE_P(
    Ways, ResumedInversion,
    ::testing::Values(ResumeCase{"Plain", {.stages = two_stages}},
                      ResumeCase{"Batches", {.stages = two_stages, .shots_per_batch = 4}},
                      ResumeCase{
                          "Source",
                          {.stages = two_stages, .source_estimation = SourceEstimation::per_shot, .source_every = 2}},
                      ResumeCase{"GaussNewton", {.stages = two_stages, .optimiser = OptimiserKind::gauss_newton}},
                      ResumeCase{"Illumination", {.stages = two_stages, .illumination_damping = 0.2}}),
    [](const auto& each) { return each.param.name; });

TEST(Inversion, ACheckpointOfAnotherInversionIsAnError) {
  const sonde::testing::TemporaryFolder folder;
  FewCells of;
  of.settings.stages = two_stages;
  {
    Inversion first(of.waves, of.measured, of.parameters(), of.settings);
    for (int i = 0; i < 8; ++i) (void)first.step();
    CheckpointWriter file(folder.file("a.h5"), {.name = "test"}, 8, "");
    first.save(file);
    file.finish();
  }
  of.settings.stages.pop_back();
  Inversion other(of.waves, of.measured, of.parameters(), of.settings);
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_file,
                                       [&] { other.restore(CheckpointReader(folder.file("a.h5"), {.name = "test"})); }),
              ::testing::HasSubstr("the checkpoint is in stage 2 with 2 pairs; the inversion has 1 stages"));
}

/// What is said of a checkpoint of two stages with these counters, of one row and of these ends.
std::string error_of_counters(const std::vector<std::int64_t>& counters, const std::vector<std::int64_t>& ends = {}) {
  const sonde::testing::TemporaryFolder folder;
  FewCells of;
  of.settings.stages = two_stages;
  Inversion other(of.waves, of.measured, of.parameters(), of.settings);
  std::size_t sources = 0;
  for (const auto& each : of.measured.amplitudes) sources += each.size();
  const auto list = []<class T>(const std::vector<T>& values) {
    return Array::from(values, Shape{static_cast<Index>(values.size())});
  };
  CheckpointWriter file(folder.file("a.h5"), {.name = "test"}, 1, "");
  file.array("counters", list(counters));
  file.array("numbers", list(std::vector<double>(static_cast<std::size_t>(of.parameters().count()), 5)));
  file.array("amplitudes", list(std::vector<double>(sources, 1)));
  file.array("history_places", list(std::vector<std::int64_t>{1, 0, 1}));
  file.array("history", list(std::vector<double>(5, 1)));
  file.array("run/seconds", list(std::vector<double>{1}));
  if (!ends.empty()) file.array("ends", list(ends));
  file.finish();
  return sonde::testing::error_of(ErrorKind::bad_file,
                                  [&] { other.restore(CheckpointReader(folder.file("a.h5"), {.name = "test"})); });
}

TEST(Inversion, ACheckpointThatContradictsItselfIsAnError) {
  const auto contradicts = ::testing::HasSubstr("stages, history and ends contradict each other");
  // stage, runs, iteration, batch, evaluations, finished, pairs, seen, rows, ends
  EXPECT_THAT(error_of_counters({2, 0, 0, 0, 8, 1, 0, 0, 0, 2}, {0, 0, 1, 0}), contradicts) << "done without a row";
  EXPECT_THAT(error_of_counters({2, 0, 0, 0, 8, 0, 0, 0, 1, 2}, {0, 0, 1, 0}), contradicts) << "after the last stage";
  EXPECT_THAT(error_of_counters({1, 0, 0, 0, 8, 0, 0, 0, 1, 0}), contradicts) << "a stage without an end";
  EXPECT_THAT(error_of_counters({1, 0, 0, 0, 8, 0, 0, 0, 1, 1}, {0, 0}), contradicts) << "a row of a stage to come";
  EXPECT_THAT(error_of_counters({1, 0, 0, 0, 8, 1, 0, 0, 1, 1}, {7, 0}), contradicts) << "the end of no stage";
}

std::string settings_error(const std::function<void(InversionSettings&)>& change) {
  InversionSettings settings{.stages = {InversionStage{}}};
  change(settings);
  return sonde::testing::error_of(ErrorKind::bad_input, [&] { require_valid(settings); });
}

TEST(InversionSettings, WithoutMeaningAreErrors) {
  using ::testing::HasSubstr;
  using Settings = InversionSettings;
  EXPECT_THAT(settings_error([](Settings& s) { s.stages.clear(); }),
              HasSubstr("inversion: no stage; expected at least one"));
  EXPECT_THAT(settings_error([](Settings& s) { s.stages[0].iterations = 0; }),
              HasSubstr("iterations = 0; expected at least 1"));
  EXPECT_THAT(settings_error([](Settings& s) { s.regularisation.tv = -1; }),
              HasSubstr("tv = -1; expected a finite number of at least 0"));
  EXPECT_THAT(settings_error([](Settings& s) { s.regularisation.tv_epsilon = 0; }),
              HasSubstr("tv_epsilon = 0; expected a finite number above 0"));
  EXPECT_THAT(settings_error([](Settings& s) { s.source_damping = 0; }),
              HasSubstr("source_damping = 0; expected a finite number above 0"));
  EXPECT_THAT(settings_error([](Settings& s) {
                s.optimiser = OptimiserKind::gauss_newton;
                s.misfit.kind = MisfitKind::envelope;
              }),
              HasSubstr("optimiser gauss_newton: the misfit is not l2 of plain traces"));
  EXPECT_THAT(settings_error([](Settings& s) { s.products = 0; }), HasSubstr("products = 0; expected at least 1"));
  EXPECT_THAT(settings_error([](Settings& s) { s.shots_per_batch = -1; }),
              HasSubstr("shots_per_batch = -1; expected at least 0"));
  EXPECT_THAT(settings_error([](Settings& s) { s.illumination_damping = 0; }),
              HasSubstr("illumination_damping = 0; expected a finite number above 0"));
}

std::string measurements_error(const std::function<void(Measurements&)>& change) {
  FewCells of;
  change(of.measured);
  return sonde::testing::error_of(ErrorKind::bad_input,
                                  [&] { Inversion(of.waves, of.measured, of.parameters(), of.settings).run(); });
}

TEST(Measurements, OfAnotherSurveyAreErrors) {
  using ::testing::HasSubstr;
  EXPECT_THAT(measurements_error([](Measurements& m) { m.shots.pop_back(); }),
              HasSubstr("measurements: records of 5 shots and sources of 6; the survey has 6 shots"));
  EXPECT_THAT(measurements_error([](Measurements& m) { m.shots[2].records = Gather(39, 3); }),
              HasSubstr("shot 2: records of 39 samples and sources of 40; the survey has 40 time steps"));
  EXPECT_THAT(measurements_error([](Measurements& m) { m.shots[1].weights = {1}; }),
              HasSubstr("shot 1: 1 weights for 120 samples"));
  EXPECT_THAT(measurements_error([](Measurements& m) { m.noise = -1; }),
              HasSubstr("noise = -1; expected a finite number of at least 0"));
  EXPECT_THAT(measurements_error([](Measurements& m) { m.shots[0].records.samples[0] = std::nan(""); }),
              HasSubstr("stage 1: the misfit of the model is nan; expected a finite number"));
}

}  // namespace
}  // namespace sonde::maxwell
