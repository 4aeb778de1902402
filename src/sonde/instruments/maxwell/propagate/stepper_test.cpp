// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/propagate/stepper.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <utility>

#include "sonde/instruments/maxwell/propagate/test_problem.h"

namespace sonde::maxwell {
namespace {

using stepping::Sense;
using testing::MixedCase;

struct SteppedCase {
  MixedCase problem{};
  Sense sense = Sense::forward;
};

/// What some steps leave.
struct Left {
  State state;
  std::vector<double> samples;
};

class StepperOf : public ::testing::TestWithParam<SteppedCase> {
 protected:
  static constexpr Index steps = 12;

  StepperOf() : problem_(testing::mixed_problem(GetParam().problem)), shot_(testing::mixed_shot(problem_)) {
    // Sources and receivers in every fourth plane are near the edges of tiles, wherever these are.
    const Grid& grid = problem_.grid;
    for (Index k = 1; k + 1 < grid.extent(Axis::z); k += 4) {
      const Point point{Component::Ey, {{grid.index(k, grid.extent(Axis::y) / 2, grid.extent(Axis::x) / 2)}}};
      shot_.sources.push_back(point);
      shot_.receivers.push_back(point);
    }
    for (const auto& row : testing::mixed_samples(problem_, shot_.sources, steps, 3))
      amplitudes_.insert(amplitudes_.end(), row.begin(), row.end());
  }

  /// By passes of so many steps, in strips of few rows or in one.
  [[nodiscard]] Left left(Index together, bool narrow, int threads) const {
    const int before = thread_count();
    set_thread_count(threads);
    stepping::Stepper<float> fields(problem_, GetParam().sense);
    if (narrow) fields.strip_bytes = 1;
    fields.set_state(testing::mixed_state(problem_, 4));
    for (Index k = 0; GetParam().sense == Sense::transposed && k < problem_.grid.extent(Axis::z); ++k)
      fields.carry(true, fields.whole_plane(k));
    const PlaneHooks none;
    const auto sources = fields.injections(shot_.sources);
    auto probes = fields.probes(shot_.receivers);
    Left made;
    for (Index n = 0; n < steps; n += together) {
      const std::size_t each = shot_.sources.size();
      const Index count = std::min(together, steps - n);
      fields.make(
          {.first_step = n,
           .steps = count,
           .sources = sources,
           .amplitudes = std::span(amplitudes_)
                             .subspan(static_cast<std::size_t>(n) * each, static_cast<std::size_t>(count) * each),
           .hooks = none,
           .probes = &probes});
      std::vector<double> samples(shot_.receivers.size());
      for (Index t = 0; t < count; ++t) {
        probes.take(t, samples);
        made.samples.insert(made.samples.end(), samples.begin(), samples.end());
      }
    }
    made.state = fields.state();
    set_thread_count(before);
    return made;
  }

  Problem problem_;
  Acquisition shot_;
  std::vector<double> amplitudes_;
};

TEST_P(StepperOf, LeavesTheSameBitsHoweverStepsGoThroughMemory) {
  const Left wanted = left(1, false, 1);
  for (const auto& [threads, together] : {std::pair(1, 1), {1, 4}, {2, 1}, {2, 2}, {2, 5}, {3, 3}, {1, 8}}) {
    SCOPED_TRACE(fmt::format("{} threads, {} steps", threads, together));
    const Left made = left(together, true, threads);
    EXPECT_EQ(made.samples, wanted.samples);
    EXPECT_EQ(made.state.fields, wanted.state.fields);
    EXPECT_EQ(made.state.psi, wanted.state.psi);
    EXPECT_EQ(made.state.polarisation, wanted.state.polarisation);
  }
}

constexpr Triple flat_cells{67, 1, 11}, deep_cells{62, 11, 7};

INSTANTIATE_TEST_SUITE_P(
    Cases, StepperOf,
    ::testing::Values(SteppedCase{{.cells = flat_cells}}, SteppedCase{{.order = 8, .cells = flat_cells}},
                      SteppedCase{{.cells = flat_cells}, Sense::transposed},
                      SteppedCase{{.mode = Mode::em3d, .poles = 1, .cells = deep_cells}},
                      SteppedCase{{.mode = Mode::em3d, .order = 4, .cells = deep_cells}},
                      SteppedCase{{.mode = Mode::em3d, .order = 8, .cells = deep_cells}},
                      SteppedCase{{.mode = Mode::em3d, .poles = 1, .cells = deep_cells}, Sense::transposed},
                      SteppedCase{{.mode = Mode::em3d, .order = 6, .cells = deep_cells}, Sense::transposed}),
    [](const auto& each) {
      return testing::text_of(each.param.problem) + (each.param.sense == Sense::transposed ? "Transposed" : "");
    });

}  // namespace
}  // namespace sonde::maxwell
