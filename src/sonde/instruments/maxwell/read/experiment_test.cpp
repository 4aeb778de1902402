// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/read/experiment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sonde/instruments/maxwell/grid/constants.h"
#include "sonde/instruments/maxwell/read/test_native.h"
#include "tests/support/errors.h"

namespace sonde::maxwell {
namespace {

using sonde::testing::error_of;
using testing::plenty_bytes;
using testing::small_draft;
using testing::small_experiment;

template <class Change>
std::string error_of_changed(const Change& change) {
  Experiment experiment = small_experiment();
  change(experiment);
  return error_of(ErrorKind::bad_input, [&] { require_valid(experiment); });
}
template <class Change>
std::string error_of_draft(const Change& change) {
  ExperimentDraft draft = small_draft();
  change(draft);
  return error_of(ErrorKind::bad_input, [&] { (void)experiment_of(draft, plenty_bytes); });
}

// Section 3.6 of Taflove and Hagness: the limit of two dimensions over the sum of the stencil's weights, 7/6.
TEST(Experiment, TimeStepIsTheCourantNumberTimesTheStabilityLimit) {
  const double v = c0 / std::sqrt(4.0);
  const double limit = 1 / (7.0 / 6 * v * std::sqrt(1 / 0.01 + 1 / 0.04));
  EXPECT_NEAR(small_experiment().dt / (0.9 * limit), 1, 1e-12);  // rounding
}

TEST(Experiment, IndicesAreTheElementsOfTheArrayOfTheComponent) {
  const Experiment experiment = testing::small_cube();
  const SurveyShot& shot = experiment.shots.at(0);
  EXPECT_EQ(shot.sources.at(0), (SurveyPoint{Component::Ex, {1, 1, 1.5}}));
  EXPECT_EQ(shot.sources.at(1), (SurveyPoint{Component::Hz, {2, 2.5, 2.5}}));
}

TEST(Experiment, FloatsArePositions) {
  const SurveyShot shot = testing::small_cube().shots.at(0);
  EXPECT_EQ(shot.receivers.at(0), (SurveyPoint{Component::Ey, {1, 1, 1.25}}));
}

TEST(Experiment, AListOfSourcesIsAShotForEachAndReceiversServeAll) {
  const Experiment experiment = small_experiment();
  ASSERT_EQ(experiment.shots.size(), 2U);
  EXPECT_EQ(experiment.shots[1].sources, (std::vector<SurveyPoint>{{Component::Ey, {1, 0, 5}}}));
  EXPECT_EQ(experiment.shots[1].receivers, experiment.shots[0].receivers);
  EXPECT_EQ(experiment.shots[0].receivers.size(), 2U);
}

// Electric currents are at half steps, magnetic ones at whole steps.
TEST(Experiment, TakesAWaveletAtTheTimesOfEachSource) {
  const Experiment experiment = testing::small_cube();
  const Wavelet wavelet = *small_draft().wavelet;
  const std::vector<double>& amplitudes = experiment.shots.at(0).amplitudes;
  EXPECT_DOUBLE_EQ(amplitudes.at(2), value(wavelet, 2.5 * experiment.dt));
  EXPECT_DOUBLE_EQ(amplitudes.at(6 + 2), value(wavelet, 2 * experiment.dt));
}

TEST(Experiment, AmplitudesOfOneShotServeAll) {
  ExperimentDraft draft = small_draft();
  draft.steps.reset();
  draft.amplitude = NumberArray{{3}, {1, 2, 3}};
  const Experiment made = experiment_of(draft, plenty_bytes);
  EXPECT_EQ(made.steps, 3);
  EXPECT_EQ(made.shots.at(1).amplitudes, (std::vector<double>{1, 2, 3}));
}

TEST(Experiment, AmplitudesMayDifferByShot) {
  ExperimentDraft draft = small_draft();
  draft.steps.reset();
  draft.amplitude = NumberArray{{2, 1, 3}, {1, 2, 3, 4, 5, 6}};
  EXPECT_EQ(experiment_of(draft, plenty_bytes).shots.at(1).amplitudes, (std::vector<double>{4, 5, 6}));
}

TEST(Experiment, RefusesModelsWithTheirPlace) {
  EXPECT_EQ(error_of_changed([](Experiment& e) { e.model.eps_r[13] = std::nan(""); }),
            "error: eps_r = nan at [1, 0, 5] (z, y, x): expected above 0, finite");
  EXPECT_EQ(error_of_changed([](Experiment& e) { e.model.sigma[9] = -0.5; }),
            "error: sigma = -0.5 at [1, 0, 1] (z, y, x): expected at least 0");
  EXPECT_EQ(error_of_changed([](Experiment& e) { e.model.sigma.pop_back(); }),
            "error: sigma: 39 elements, the model has 40");
  EXPECT_EQ(error_of_changed([](Experiment& e) { e.model.eps_r[1] = 0.5; }),
            "error: eps_r = 0.5 at [0, 0, 1] (z, y, x): expected at least 1\nhint: allow_sub_vacuum of the model "
            "permits it: the "
            "time step becomes smaller");
}

TEST(Experiment, PermitsLessThanVacuumWhereThatIsAllowed) {
  Experiment experiment = small_experiment();
  experiment.model.eps_r[1] = 0.5;
  experiment.allow_sub_vacuum = true;
  EXPECT_NO_THROW(require_valid(experiment));
}

TEST(Experiment, RefusesPolesWithTheirPlace) {
  const auto error_of_pole = [](const auto& change) {
    Experiment cube = testing::small_cube();
    change(cube);
    return error_of(ErrorKind::bad_input, [&] { require_valid(cube); });
  };
  EXPECT_EQ(error_of_pole([](Experiment& e) { e.poles[1].tau[31] = 0; }),
            "error: tau of pole 1 = 0 at [1, 0, 1] (z, y, x): expected above 0, finite");
  EXPECT_EQ(error_of_pole([](Experiment& e) { e.poles[0].deps[0] = -1; }),
            "error: deps of pole 0 = -1 at [0, 0, 0] (z, y, x): expected at least 0, finite");
  EXPECT_EQ(error_of_pole([](Experiment& e) { e.model.location = MaterialLocation::cell; }),
            "error: Debye poles of a model whose materials are located in cells; expected nodes");
}

TEST(Experiment, RefusesTimes) {
  EXPECT_EQ(error_of_changed([](Experiment& e) { e.dt = 0; }), "error: dt = 0 s: expected above 0");
  EXPECT_EQ(error_of_changed([](Experiment& e) { e.steps = 0; }), "error: nt = 0: expected at least 1");
  EXPECT_EQ(error_of_changed([](Experiment& e) { e.dt = 1e-6; }),
            "error: dt = 1e-06 s is 1955 times the largest stable step, 5.11455e-10 s; expected at most 64\nhint: are "
            "dt in s and spacing in m?");
}

TEST(Experiment, RefusesPointsWithTheirPlace) {
  EXPECT_EQ(error_of_changed([](Experiment& e) { e.shots[1].receivers[0].at[2] = 8.5; }),
            "error: receiver [1, 0]: x = 8.5 cells is outside of the model; expected 0 to 8");
  EXPECT_EQ(error_of_changed([](Experiment& e) { e.shots[0].sources[0].at[0] = std::nan(""); }),
            "error: source [0, 0]: z = nan cells is outside of the model; expected 0 to 5");
  EXPECT_EQ(error_of_changed([](Experiment& e) { e.shots[0].sources[0].component = Component::Ex; }),
            "error: source [0, 0]: a model in two dimensions has no Ex; expected Ey, Hx or Hz");
  EXPECT_EQ(error_of_changed([](Experiment& e) { e.shots[1].receivers.clear(); }),
            "error: shot 1 has no receiver; expected at least one");
  EXPECT_EQ(error_of_changed([](Experiment& e) { e.shots.clear(); }), "error: no shots; expected at least one");
}

TEST(Experiment, RefusesAmplitudesWithTheirPlace) {
  EXPECT_EQ(error_of_changed([](Experiment& e) { e.shots[1].amplitudes[4] = std::numeric_limits<double>::infinity(); }),
            "error: amplitude [1, 0, 4] = inf: expected a finite number");
  EXPECT_EQ(error_of_changed([](Experiment& e) { e.shots[1].amplitudes.pop_back(); }),
            "error: amplitudes of shot 1: 5 samples; expected 1 sources of 6");
}

TEST(ExperimentDraft, RefusesIndicesOutsideOfTheModel) {
  EXPECT_EQ(error_of_draft([](ExperimentDraft& d) { d.receivers->values[3] = 8; }),
            "error: receiver_location [0, 1, 1] = 8: expected an index along x of 0 to 7");
}

TEST(ExperimentDraft, RefusesListsThatDoNotFit) {
  EXPECT_EQ(error_of_draft([](ExperimentDraft& d) {
              d.receivers = NumberArray{{1, 1, 3}, {1, 1, 1}, true};
            }),
            "error: receiver_location: shape (1, 1, 3); expected [shot][point][2]");
  EXPECT_EQ(error_of_draft([](ExperimentDraft& d) { d.sources.reset(); }),
            "error: no source locations; expected source_location or sources");
  EXPECT_EQ(error_of_draft([](ExperimentDraft& d) {
              d.receivers = NumberArray{{3, 1, 2}, {1, 1, 1, 1, 1, 1}, true};
            }),
            "error: receivers of 3 shots, sources of 2; expected as many, or those of one shot");
  EXPECT_EQ(error_of_draft([](ExperimentDraft& d) {
              d.receiver_component = {"Ey", "Ey", "Ey"};
            }),
            "error: receiver_component: 3 words for 1 shots of 2 points; expected one, or one for each point");
  EXPECT_THAT(error_of_draft([](ExperimentDraft& d) { d.source_component = {"Ev"}; }), ::testing::HasSubstr("\"Ev\""));
}

TEST(ExperimentDraft, RefusesModelsThatDoNotFit) {
  EXPECT_EQ(error_of_draft([](ExperimentDraft& d) {
              d.sigma = NumberArray{{2, 2}, {0, 0, 0, 0}};
            }),
            "error: sigma: shape (2, 2); expected (5, 8), that of the model");
  EXPECT_EQ(error_of_draft([](ExperimentDraft& d) { d.eps_r.reset(); }),
            "error: no eps_r; expected a number or an array");
  EXPECT_EQ(error_of_draft([](ExperimentDraft& d) { d.shape.clear(); }),
            "error: no shape; expected it, or eps_r as an array\nhint: give shape = [NZ, NX]");
  EXPECT_EQ(error_of_draft([](ExperimentDraft& d) { d.shape = {4}; }),
            "error: a model of shape (4,); expected [z][x] or [z][y][x]");
  EXPECT_EQ(error_of_draft([](ExperimentDraft& d) {
              d.shape = {4, 0};
            }),
            "error: a model of shape (4, 0); expected at least one cell per axis");
  EXPECT_EQ(error_of_draft([](ExperimentDraft& d) { d.spacing.clear(); }),
            "error: no spacing; expected m, one value or one for each axis");
  EXPECT_EQ(error_of_draft([](ExperimentDraft& d) {
              d.spacing = {1, 1, 1};
            }),
            "error: spacing: 3 values; expected 1 or 2");
  EXPECT_EQ(error_of_draft([](ExperimentDraft& d) { d.origin = {1}; }), "error: origin: 1 values; expected 2");
  EXPECT_EQ(error_of_draft([](ExperimentDraft& d) { d.pml = {-1}; }), "error: pml = -1: expected 0 to 10000 cells");
  EXPECT_EQ(error_of_draft([](ExperimentDraft& d) {
              d.deps = NumberArray{{1, 5, 8}, std::vector<double>(40)};
            }),
            "error: debye: no tau");
  EXPECT_EQ(error_of_draft([](ExperimentDraft& d) {
              d.tau = d.deps = NumberArray{{40}, std::vector<double>(40)};
            }),
            "error: debye/deps: shape (40,); expected [pole] and (5, 8)");
}

TEST(ExperimentDraft, RefusesSignalsThatDoNotFit) {
  EXPECT_EQ(error_of_draft([](ExperimentDraft& d) { d.wavelet.reset(); }),
            "error: no source signal; expected amplitudes, or a wavelet with its frequency");
  EXPECT_EQ(error_of_draft([](ExperimentDraft& d) {
              d.amplitude = NumberArray{{7}, std::vector<double>(7)};
            }),
            "error: amplitude: shape (7,); expected (6,), (1, 6) or (2, 1, 6)");
  EXPECT_EQ(error_of_draft([](ExperimentDraft& d) { d.steps.reset(); }),
            "error: no nt; expected the number of time steps");
  EXPECT_EQ(error_of_draft([](ExperimentDraft& d) { d.courant = 1.5; }),
            "error: courant = 1.5: expected above 0, at most 1");
}

TEST(ExperimentDraft, RefusesWhatIsLargerThanMemory) {
  ExperimentDraft draft = small_draft();
  draft.steps = Index{1} << 40U;
  EXPECT_THAT(error_of(ErrorKind::budget, [&] { (void)experiment_of(draft, 1 << 20); }),
              ::testing::StartsWith("error: the experiment needs 16.0 TiB, 1.00 MiB are free"));
}

}  // namespace
}  // namespace sonde::maxwell
