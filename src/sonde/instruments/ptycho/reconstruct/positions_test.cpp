// SPDX-License-Identifier: Apache-2.0
// Positions that are wrong by a pixel are found again (specification 11, V7).
#include <cmath>
#include <random>

#include "sonde/instruments/ptycho/engines/gd.h"
#include "sonde/instruments/ptycho/reconstruct/reconstruction.h"
#include "sonde/instruments/ptycho/reconstruct/test_v5.h"

namespace sonde::ptycho {
namespace {

using testing::V5;

/// Root mean square of what is left of the positions' error without the mean and what an affine map explains: both are
/// not seen by the data.
double left_over(std::span<const Point> found, std::span<const Point> truth) {
  const Affine map = fit_affine(found, truth);
  double sum = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Point at = map.apply(found[i]);
    sum += std::pow(at.row - truth[i].row, 2) + std::pow(at.col - truth[i].col, 2);
  }
  return std::sqrt(sum / static_cast<double>(found.size()));
}

struct Case {
  PositionMethod method;
  const char* name;
  double mark;    // pixels
  double better;  // R_I before over R_I after
  Index every, iterations;
};

TEST(PositionsOnV5, AreFoundAgain) {
  SONDE_NEED_DATA(data);
  const V5 set(data, "1e6");
  const Measurement measurement(set.frames, ZeroFrequency::centre, {}, AmplitudeStorage::f32);
  const std::vector<Point> truth = set.places();
  const auto run = [&](PositionMethod method, Index every, Index iterations) {
    State state = set.start<float>(measurement.mean_counts());
    std::mt19937 generator(5);
    std::normal_distribution<double> normal(0, std::sqrt(0.5));  // one pixel rms in the plane
    for (Point& at : state.positions) at = {at.row + normal(generator), at.col + normal(generator)};
    state.placements = place_all(state.positions, state.window());
    Schedule schedule;
    GdSettings gd;
    schedule.engines.push_back({"gd", iterations, std::make_shared<SetupOf<Gd, GdSettings>>(gd)});
    schedule.stop.rule = StopRule::off;
    schedule.holdout = 0.0;
    schedule.positions.method = method;
    schedule.positions.every = every;
    const auto reconstruction = Reconstruction::prepare(measurement, std::move(state), {}, std::move(schedule));
    while (reconstruction->outcome().kind == Outcome::Kind::running) reconstruction->iterate();
    return std::pair(left_over(reconstruction->state().positions, truth),
                     reconstruction->history().back().fit.r_intensity);
  };
  const auto [wrong, r_before] = run(PositionMethod::none, 1, 120);
  EXPECT_GT(wrong, 0.8);
  for (const Case& c : {Case{PositionMethod::gradient, "gradient", 0.1, 2, 1, 220},
                        Case{PositionMethod::annealing, "annealing", 0.3, 1.8, 2, 120},
                        Case{PositionMethod::grid, "grid", 0.3, 1.8, 20, 120},
                        Case{PositionMethod::xcorr, "xcorr", 0.3, 1.8, 1, 120}}) {
    SCOPED_TRACE(c.name);
    const auto [error, r_after] = run(c.method, c.every, c.iterations);
    EXPECT_LT(error, c.mark);
    EXPECT_LT(c.better * r_after, r_before);
  }
}

}  // namespace
}  // namespace sonde::ptycho
