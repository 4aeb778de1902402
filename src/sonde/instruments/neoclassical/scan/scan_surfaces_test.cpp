// SPDX-License-Identifier: Apache-2.0
// Every fact holds for any number of ranks: run by itself this is a unit test, and ctest starts it with 1, 2 and 4
// (label mpi). Nothing ends a test early, because the other ranks would wait.
#include "sonde/instruments/neoclassical/scan/scan_surfaces.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>
#include <set>

#include "sonde/engine/base/error.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/neoclassical/operators/test_surfaces.h"
#include "tests/support/budget.h"
#include "tests/support/errors.h"

namespace sonde::neoclassical {
namespace {

using sonde::testing::error_of;
using sonde::testing::plenty;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Surface surface_of(Index which) {
  Surface surface = testing::analytic();
  surface.iota += 0.01 * static_cast<double>(which);
  return surface;
}

Plan plan_of(Index which) { return Plan::prepare(surface_of(which), {7, 5, 6}); }

/// Two surfaces with 15 and 4 points.
SurfacesScan two_surfaces() {
  return {.prepare = plan_of,
          .cases = {grid_of_cases(std::vector<double>{1e-3, 1e-2, 1}, std::vector<double>{0, 1e-4, 1e-3, 1e-2, 0.1}),
                    grid_of_cases(std::vector<double>{1e-2, 1}, std::vector<double>{0, 1e-3})}};
}

using Place = std::pair<Index, Index>;

TEST(ScanSurfaces, PointsAreThoseOfSingleSolvesWhoeverMadeThem) {
  const Ranks ranks = Ranks::world();
  SurfacesScan work = two_surfaces();
  std::multiset<Place> seen;
  work.finished = [&](Index surface, Index which, const Point& point) {
    seen.insert({surface, which});
    EXPECT_EQ(point.status, PointStatus::ok) << point.message;
    const Coefficients alone =
        plan_of(surface).solve(work.cases[static_cast<std::size_t>(surface)][static_cast<std::size_t>(which)]);
    EXPECT_EQ(std::memcmp(&alone.D11, &point.coefficients.D11, 7 * sizeof(double)), 0) << surface << ", " << which;
    EXPECT_EQ(point.coefficients.path, alone.path);
    EXPECT_EQ(point.coefficients.n_xi, alone.n_xi);
    EXPECT_GT(point.seconds, 0);
  };
  const std::vector<Index> solved = scan_surfaces(ranks, work, plenty());
  if (ranks.rank() != 0) {
    EXPECT_TRUE(solved.empty() && seen.empty()) << "rank 0 has the points";
    return;
  }
  ASSERT_EQ(solved.size(), static_cast<std::size_t>(ranks.size()));
  EXPECT_EQ(std::accumulate(solved.begin(), solved.end(), Index{0}), 19);
  std::multiset<Place> expected;
  for (Index i = 0; i < 15; ++i) expected.insert({0, i});
  for (Index i = 0; i < 4; ++i) expected.insert({1, i});
  EXPECT_EQ(seen, expected) << "each once";
}

TEST(ScanSurfaces, WhatIsToBeLeftOutIsNotSolved) {
  const Ranks ranks = Ranks::world();
  SurfacesScan work = two_surfaces();
  if (ranks.rank() == 0) work.skip = [](Index surface, Index which) { return surface == 0 || which % 2 == 0; };
  std::set<Place> seen;
  work.finished = [&](Index surface, Index which, const Point&) { seen.insert({surface, which}); };
  (void)scan_surfaces(ranks, work, plenty());
  if (ranks.rank() == 0) {
    EXPECT_THAT(seen, ElementsAre(Place{1, 1}, Place{1, 3}));
  }
}

TEST(ScanSurfaces, PointsWithoutAnAnswerSayWhy) {
  const Ranks ranks = Ranks::world();
  SurfacesScan work = two_surfaces();
  int without = 0;
  work.finished = [&](Index, Index, const Point& point) {
    EXPECT_EQ(point.status, PointStatus::not_converged);
    EXPECT_THAT(point.message, HasSubstr("8 Legendre modes leave an error of"));
    EXPECT_TRUE(std::isnan(point.coefficients.D11));
    EXPECT_GT(point.error, 1e-30);
    ++without;
  };
  ScanOptions options;
  options.adapt = LegendreSearch{.tolerance = 1e-30, .first = 4, .most = 8};
  (void)scan_surfaces(ranks, work, plenty(), options);
  EXPECT_EQ(without, ranks.rank() == 0 ? 19 : 0);
}

TEST(ScanSurfaces, AnErrorWhereverItHappensIsThrownOnRankZero) {
  const Ranks ranks = Ranks::world();
  SurfacesScan work = two_surfaces();
  // The second surface cannot be prepared, by whoever gets it.
  work.prepare = [](Index which) {
    if (which == 1) throw Error(ErrorKind::bad_input, "no such surface");
    return plan_of(which);
  };
  const auto all = [&] { EXPECT_TRUE(scan_surfaces(ranks, work, plenty()).empty()); };
  if (ranks.rank() == 0)
    EXPECT_THAT(error_of(ErrorKind::bad_input, all), HasSubstr("no such surface"));
  else
    all();
}

}  // namespace
}  // namespace sonde::neoclassical
