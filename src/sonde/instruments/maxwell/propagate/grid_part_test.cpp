// SPDX-License-Identifier: Apache-2.0
// By itself a unit test with one part; ctest starts PartsOfAGrid with 1, 2 and 4 ranks (label mpi). Nothing ends a test
// early, because the other ranks would wait.
#include "sonde/instruments/maxwell/propagate/grid_part.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "sonde/instruments/maxwell/propagate/back_propagator.h"
#include "sonde/instruments/maxwell/propagate/propagator.h"
#include "sonde/instruments/maxwell/propagate/test_kept.h"
#include "sonde/instruments/maxwell/propagate/test_problem.h"
#include "tests/support/errors.h"

namespace sonde::maxwell {
namespace {

using testing::MixedCase;

constexpr Index part_steps = 25;

/// For 1, 2 and 4 ranks, along z, y, x.
Triple layout(int ranks, std::size_t which, bool flat) {
  if (ranks == 1) return {1, 1, 1};
  if (ranks == 2) return which == 0 ? Triple{2, 1, 1} : which == 1 || flat ? Triple{1, 1, 2} : Triple{1, 2, 1};
  return which == 0 ? Triple{2, 1, 2} : which == 1 || flat ? Triple{1, 1, 4} : Triple{2, 2, 1};
}

/// One part has one layout; of several ranks ctest says how many there are.
std::vector<std::size_t> layouts() {
  return std::getenv("SONDE_TEST_RANKS") == nullptr ? std::vector<std::size_t>{0} : std::vector<std::size_t>{0, 1, 2};
}

using Division = std::tuple<MixedCase, std::size_t>;

class PartsOfAGrid : public ::testing::TestWithParam<Division> {
 protected:
  [[nodiscard]] static Problem whole() {
    MixedCase which = std::get<0>(GetParam());
    which.cells = which.mode == Mode::tm2d ? Triple{26, 1, 34} : Triple{21, 17, 27};
    return testing::mixed_problem(which);
  }
  [[nodiscard]] static Problem part(const Problem& whole) {
    const Ranks ranks = Ranks::world();
    const Triple parts = layout(ranks.size(), std::get<1>(GetParam()), whole.grid.spec().mode == Mode::tm2d);
    return part_of(whole, std::make_shared<GridPart>(whole.grid, parts, ranks));
  }
  /// Where it is read at one node only, the sum over parts rounds nothing.
  static void keep_one_tap(std::vector<Point>& points) {
    for (Point& point : points) point.taps.resize(1);
  }
  static std::vector<double> flat(const reference::Samples& samples) {
    std::vector<double> made;
    for (const auto& now : samples) made.insert(made.end(), now.begin(), now.end());
    return made;
  }

  struct Forward {
    std::vector<double> record;
    State state;
  };
  static Forward forward(const Problem& problem, const Problem& whole) {
    Acquisition shot = testing::mixed_shot(whole);
    keep_one_tap(shot.receivers);
    Propagator<float> fields(problem);
    Forward made;
    made.record.resize(part_steps * shot.receivers.size());
    fields.run(shot, part_steps, flat(testing::mixed_samples(whole, shot.sources, part_steps, 3)), made.record);
    made.state = fields.state();
    return made;
  }

  struct Backward {
    std::vector<double> sources;
    ComponentChange medium;
    std::vector<DebyePole> poles;
  };
  static Backward backward(const Problem& problem, const Problem& whole) {
    Acquisition shot = testing::mixed_shot(whole);
    keep_one_tap(shot.sources);
    Propagator<float> fields(problem);
    testing::AllFields<float> kept(problem.grid);
    kept.add(fields.state());
    std::vector<double> record(part_steps * shot.receivers.size());
    fields.run(shot, part_steps, flat(testing::mixed_samples(whole, shot.sources, part_steps, 3)), record,
               {.after = [&](Index, const Propagator<float>& at) { kept.add(at.state()); }});
    BackPropagator<float> back(problem);
    Backward made;
    made.sources.resize(part_steps * shot.sources.size());
    back.run(shot, part_steps, flat(testing::mixed_samples(whole, shot.receivers, part_steps, 4)), &kept,
             {.magnetic = true, .poles = !problem.medium.poles.empty()}, made.sources);
    const SweepSums sums = back.sums();
    made.medium = gradient_of(sums, problem.medium, problem.grid, problem.dt, problem.loss);
    made.poles = pole_gradient_of(sums, problem.medium, problem.grid, problem.dt);
    return made;
  }
  /// On rank 0, which has them.
  static void expect_gathered(const GridPart& part, const std::vector<double>& found,
                              const std::vector<double>& wanted) {
    const std::vector<double> all = part.gathered(found);
    EXPECT_EQ(all, part.ranks().rank() == 0 ? wanted : std::vector<double>());
  }
};

TEST_P(PartsOfAGrid, RecordTheBitsOfTheWhole) {
  const Problem undivided = whole(), divided = part(undivided);
  const Forward wanted = forward(undivided, undivided), found = forward(divided, undivided);
  EXPECT_EQ(found.record, wanted.record);
  for (std::size_t c = 0; c < 6; ++c) {
    SCOPED_TRACE(name(all_components[c]));
    expect_gathered(*divided.part, found.state.fields[c], wanted.state.fields[c]);
  }
}

TEST_P(PartsOfAGrid, HaveTheGradientOfTheWhole) {
  const Problem undivided = whole(), divided = part(undivided);
  const Backward wanted = backward(undivided, undivided), found = backward(divided, undivided);
  EXPECT_EQ(found.sources, wanted.sources);
  for (std::size_t i = 0; i < 3; ++i) {
    expect_gathered(*divided.part, found.medium.eps_r[i], wanted.medium.eps_r[i]);
    expect_gathered(*divided.part, found.medium.sigma[i], wanted.medium.sigma[i]);
    expect_gathered(*divided.part, found.medium.mu_r[i], wanted.medium.mu_r[i]);
    for (std::size_t p = 0; p < wanted.poles.size(); ++p) {
      expect_gathered(*divided.part, found.poles[p].deps[i], wanted.poles[p].deps[i]);
      expect_gathered(*divided.part, found.poles[p].tau[i], wanted.poles[p].tau[i]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, PartsOfAGrid,
                         ::testing::Combine(::testing::Values(MixedCase{}, MixedCase{.order = 4}, MixedCase{.order = 8},
                                                              MixedCase{.mode = Mode::em3d},
                                                              MixedCase{.mode = Mode::em3d, .order = 4},
                                                              MixedCase{.mode = Mode::em3d, .order = 4, .poles = 1}),
                                            ::testing::ValuesIn(layouts())),
                         [](const auto& each) {
                           return testing::text_of(std::get<0>(each.param)) + "Layout" +
                                  std::to_string(std::get<1>(each.param));
                         });

std::string why_not(const GridSpec& spec, const Triple& parts) {
  return sonde::testing::error_of(ErrorKind::usage, [&] { (void)GridPart(Grid(spec), parts, Ranks::alone()); });
}

const GridSpec undivided_spec{.cells = {20, 1, 30}, .pml = {{{0, 0}, {0, 0}, {10, 0}}}, .order = 4};

TEST(APartOfAGrid, IsOneOfAsManyAsThereAreProcesses) {
  EXPECT_EQ(why_not(undivided_spec, {2, 1, 1}),
            std::string("error: 2 parts for 1 process: each takes one\nhint: ") +
                (*mpi_library() == '\0' ? "this program was built without MPI: configure it with -DSONDE_MPI=ON"
                                        : "start 2 with `mpirun -n 2`"));
}

TEST(APartOfAGrid, HasAsManyCellsAsItsStencil) {
  EXPECT_EQ(why_not(undivided_spec, {6, 1, 1}),
            "error: 6 parts along z of 20 cells, layers included; at order 4 each needs at least 4\n"
            "hint: divide it along another axis, or take fewer parts");
}

TEST(APartOfAGrid, IsNotAllLayers) {
  EXPECT_EQ(why_not(undivided_spec, {1, 1, 8}),
            "error: 8 parts along x: one has nothing but absorbing layers\nhint: take fewer parts along it");
}

TEST(APartOfAGrid, IsNotAlongAnAxisOfNoDerivative) {
  EXPECT_EQ(why_not(undivided_spec, {1, 2, 1}), "error: 2 parts along y, along which nothing varies");
}

}  // namespace
}  // namespace sonde::maxwell
