// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "sonde/instruments/maxwell/invert/inversion.h"
#include "sonde/instruments/maxwell/invert/test_waves.h"
#include "sonde/instruments/maxwell/signal/wavelet.h"
#include "tests/support/errors.h"

namespace sonde::maxwell {
namespace {

using testing::ReferenceWaves;

/// A survey that has ended where it began, so that only the uncertainty is computed: a node every four cells.
struct EndedSurvey {
  static constexpr double noise = 10;
  ReferenceWaves waves;
  Measurements measured{.shots = {}, .amplitudes = {}, .noise = noise};
  Parameters parameters{waves.grid(), {.eps_r_bounds = {2, 9}, .every = {4, 1, 4}}, start(), held()};

  EndedSurvey() {
    measured.amplitudes.assign(static_cast<std::size_t>(waves.shots()),
                               sampled(Wavelet{.frequency = 3e8}, waves.steps(), waves.dt(), 0.5));
    for (Gather& each : waves.measured(start(), measured.amplitudes)) measured.shots.push_back({std::move(each)});
  }
  [[nodiscard]] static Model start() { return ReferenceWaves::homogeneous(4, 3e-3); }
  /// One row of cells is known.
  [[nodiscard]] static Mask held() {
    Mask made(ReferenceWaves::side * ReferenceWaves::side, 1.0);
    std::fill_n(made.begin(), ReferenceWaves::side, 0.0);
    return made;
  }
  [[nodiscard]] InversionSettings settings(Index rank, double prior) const {
    return {.stages = {{.iterations = 1}}, .uncertainty = {.rank = rank, .prior = prior}};
  }
  [[nodiscard]] Uncertainty uncertainty(Index rank, double prior) {
    Inversion inversion(waves, measured, parameters, settings(rank, prior));
    inversion.run();
    return inversion.uncertainty();
  }

  /// The diagonal of the inverse itself, with derivatives of the records from differences.
  [[nodiscard]] std::vector<double> dense(double prior) {
    const std::vector<double> numbers = parameters.start();
    const auto records = [&](std::size_t j, double by) {
      std::vector<double> moved = numbers, made;
      moved[j] += by;
      for (const Gather& each : waves.measured(parameters.model(parameters.fields(moved)), measured.amplitudes))
        made.insert(made.end(), each.samples.begin(), each.samples.end());
      return made;
    };
    const auto count = static_cast<Index>(numbers.size());
    constexpr double step = 1e-4;
    Eigen::MatrixXd jacobian, spread(ReferenceWaves::side * ReferenceWaves::side, count);
    for (Index j = 0; j < count; ++j) {
      const auto place = static_cast<std::size_t>(j);
      const std::vector<double> high = records(place, step), low = records(place, -step);
      jacobian.conservativeResize(static_cast<Index>(high.size()), count);
      for (std::size_t i = 0; i < high.size(); ++i)
        jacobian(static_cast<Index>(i), j) = (high[i] - low[i]) / (2 * step);
      std::vector<double> unit(numbers.size());
      unit[place] = 1;
      const std::vector<double> fields = parameters.field_change(unit);
      spread.col(j) = Eigen::Map<const Eigen::VectorXd>(fields.data(), spread.rows());
    }
    const Eigen::MatrixXd precision =
        jacobian.transpose() * jacobian / (noise * noise) + Eigen::MatrixXd::Identity(count, count) / (prior * prior);
    const Eigen::MatrixXd variance = spread * precision.inverse() * spread.transpose();
    std::vector<double> made;
    for (Index i = 0; i < variance.rows(); ++i) made.push_back(std::sqrt(std::max(0.0, variance(i, i))));
    return made;
  }
};

TEST(Uncertainty, IsTheDiagonalOfTheDenseInverse) {
  EndedSurvey survey;
  const std::vector<double> wanted = survey.dense(0.5);
  const Uncertainty found = survey.uncertainty(16, 0.5);
  ASSERT_EQ(found.information.size(), 16U);
  EXPECT_GT(found.information.front(), 100);  // the records decide some directions, and
  EXPECT_LT(found.information.back(), 10);    // leave others to the prior
  for (std::size_t i = 0; i < wanted.size(); ++i)
    EXPECT_NEAR(found.deviation.eps_r[i], wanted[i], 1e-5 * 0.5) << i;  // differences of steps of 1e-4
}

TEST(Uncertainty, IsNotTooSmallWithFewerDirections) {
  EndedSurvey survey;
  const std::vector<double> wanted = survey.dense(0.5);
  const Uncertainty found = survey.uncertainty(6, 0.5);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_GE(found.deviation.eps_r[i], wanted[i] - 1e-5) << i;
    EXPECT_LE(found.deviation.eps_r[i], 0.5 + 1e-12) << i;
  }
}

TEST(Uncertainty, IsNothingWhereCellsAreHeld) {
  EndedSurvey survey;
  const Uncertainty found = survey.uncertainty(5, 0.5);
  EXPECT_EQ(found.deviation.eps_r[3], 0);
  EXPECT_GT(found.deviation.eps_r[ReferenceWaves::side + 3], 0);
}

TEST(Uncertainty, NeedsTheNoiseAndPlainTraces) {
  EndedSurvey survey;
  survey.measured.noise = 0;
  EXPECT_EQ(sonde::testing::error_of(ErrorKind::bad_input, [&] { (void)survey.uncertainty(5, 1); }),
            "error: uncertainty: the noise of the records is not known\n"
            "hint: set data.noise to the standard deviation of a sample");
  InversionSettings settings = survey.settings(5, 1);
  settings.misfit.kind = MisfitKind::envelope;
  EXPECT_EQ(sonde::testing::error_of(ErrorKind::bad_input, [&] { require_valid(settings); }),
            "error: uncertainty: the misfit is not l2 of plain traces\n"
            "hint: take the misfit l2 without normalised traces, or uncertainty = 0");
}

}  // namespace
}  // namespace sonde::maxwell
