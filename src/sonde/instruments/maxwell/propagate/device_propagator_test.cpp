// SPDX-License-Identifier: Apache-2.0
// Forward and transposed runs on every device, against plain loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "sonde/engine/array/array.h"
#include "sonde/instruments/maxwell/propagate/back_propagator.h"
#include "sonde/instruments/maxwell/propagate/born_propagator.h"
#include "sonde/instruments/maxwell/propagate/test_problem.h"
#include "tests/support/devices.h"
#include "tests/support/errors.h"

namespace sonde::maxwell {
namespace {

using testing::MixedCase;

// Every order, both modes, and each of what a step may have besides.
const std::vector<MixedCase> device_cases{{},
                                          {.order = 4},
                                          {.order = 6},
                                          {.order = 8},
                                          {.order = 4, .loss = LossForm::exponential},
                                          {.poles = 2},
                                          {.mode = Mode::em3d},
                                          {.mode = Mode::em3d, .order = 4},
                                          {.mode = Mode::em3d, .order = 6, .poles = 1},
                                          {.mode = Mode::em3d, .order = 8}};

// Transposed and linearised steps are the same kernels, and those of poles and layers: fewer of them show it.
const std::vector<MixedCase> fewer_cases{{.order = 6, .loss = LossForm::exponential},
                                         {.poles = 2},
                                         {.mode = Mode::em3d, .order = 2},
                                         {.mode = Mode::em3d, .order = 8, .poles = 1}};

std::vector<double> in_a_list(const reference::Samples& samples) {
  std::vector<double> made;
  for (const auto& row : samples) made.insert(made.end(), row.begin(), row.end());
  return made;
}

/// Largest difference over the largest value.
double distance_of(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 1e-300, difference = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
    most = std::max(most, std::abs(b[i]));
    difference = std::max(difference, std::abs(a[i] - b[i]));
  }
  return difference / most;
}

double distance_of(const State& a, const State& b) {
  double worst = 0;
  for (std::size_t c = 0; c < 6; ++c) {
    worst = std::max(worst, distance_of(a.fields[c], b.fields[c]));
    for (std::size_t t = 0; t < 2; ++t) worst = std::max(worst, distance_of(a.psi[c][t], b.psi[c][t]));
  }
  for (std::size_t p = 0; p < a.polarisation.size(); ++p)
    for (std::size_t e = 0; e < 3; ++e)
      worst = std::max(worst, distance_of(a.polarisation[p][e], b.polarisation[p][e]));
  return worst;
}

/// A run of everything that can be different.
struct MixedRun {
  Index steps;
  Problem problem;
  Acquisition shot;
  reference::Samples sources;
  State start;

  explicit MixedRun(const MixedCase& which, Index count = 10)
      : steps(count),
        problem(testing::mixed_problem(which)),
        shot(testing::mixed_shot(problem)),
        sources(testing::mixed_samples(problem, shot.sources, steps, 3)),
        start(testing::mixed_state(problem, 4)) {}

  /// H times 377, so that one number says how far two records of both kinds of receivers are apart.
  [[nodiscard]] std::vector<double> weighted(std::vector<double> record) const {
    for (std::size_t i = 0; i < record.size(); ++i)
      if (!is_electric(shot.receivers[i % shot.receivers.size()].component)) record[i] *= 377;
    return record;
  }
  template <class T>
  std::vector<double> record(Propagator<T>& fields, const typename Propagator<T>::Beside& beside = {}) const {
    std::vector<double> made(static_cast<std::size_t>(steps) * shot.receivers.size());
    fields.run(shot, steps, in_a_list(sources), made, beside);
    return weighted(std::move(made));
  }
};

class PropagatorOnEachDevice : public sonde::testing::EachDevice {};
class PropagatorOnEachGpu : public sonde::testing::EachDevice {};

TEST_P(PropagatorOnEachDevice, RecordsAndLeavesWhatTheReferenceDoes) {
  for (const MixedCase& each : device_cases) {
    SCOPED_TRACE(testing::text_of(each));
    const MixedRun run(each);
    State state = run.start;
    const auto wanted = run.weighted(in_a_list(reference::forward(run.problem, run.shot, run.sources, state)));
    Propagator<double> fields(run.problem, device());
    fields.set_state(run.start);
    // Rounding of ten steps of some ten operations each; of the state also of small psi beside large fields.
    EXPECT_LT(distance_of(run.record(fields), wanted), 1e-13);
    EXPECT_LT(distance_of(fields.state(), state), 1e-12);
  }
}

TEST_P(PropagatorOnEachDevice, RecordsInSinglePrecisionWhatTheCpuRecords) {
  for (const MixedCase& each : fewer_cases) {
    SCOPED_TRACE(testing::text_of(each));
    const MixedRun run(each);
    Propagator<float> fields(run.problem, device()), on_cpu(run.problem);
    fields.set_state(run.start);
    on_cpu.set_state(run.start);
    // Rounding of ten steps; factors are multiplied in another order.
    EXPECT_LT(distance_of(run.record(fields), run.record(on_cpu)), 1e-5);
  }
}

TEST_P(PropagatorOnEachDevice, StepsAcrossTheTilesOfKernels) {
  // More nodes than a tile has along x and y, and than one marches through along z.
  for (const MixedCase& each : {MixedCase{.order = 8, .cells = {17, 1, 270}},
                                MixedCase{.mode = Mode::em3d, .order = 8, .cells = {17, 9, 40}}}) {
    SCOPED_TRACE(testing::text_of(each));
    const MixedRun run(each, 5);
    Propagator<double> fields(run.problem, device()), on_cpu(run.problem);
    fields.set_state(run.start);
    on_cpu.set_state(run.start);
    EXPECT_LT(distance_of(run.record(fields), run.record(on_cpu)), 1e-13);  // rounding
    EXPECT_LT(distance_of(fields.state(), on_cpu.state()), 1e-12);
  }
}

TEST_P(PropagatorOnEachDevice, HasTheSameBitsStepByStepAndManyAtOnce) {
  const MixedRun run({.order = 4, .poles = 1}, 40);  // as many as graphs are measured with, and more
  Propagator<float> at_once(run.problem, device()), by_step(run.problem, device());
  const std::vector<double> record = run.record(at_once);
  Index before = 0, after = 0;
  EXPECT_EQ(run.record(by_step, {.before = [&](Index) { ++before; },
                                 .after = [&](Index, const Propagator<float>&) { ++after; }}),
            record);
  EXPECT_EQ(before, run.steps);
  EXPECT_EQ(after, run.steps);
  // Graphs that were made for a run serve the next one.
  at_once.clear();
  EXPECT_EQ(run.record(at_once), record);
}

TEST_P(PropagatorOnEachDevice, RunsOnFromAStateAndFromSavedBytes) {
  const MixedRun run({.mode = Mode::em3d, .order = 4, .poles = 1});
  Propagator<float> first(run.problem, device()), from_state(run.problem, device()), from_bytes(run.problem, device());
  first.set_state(run.start);
  (void)run.record(first);
  from_state.set_state(first.state());
  std::vector<std::byte> bytes(first.state_bytes());
  first.save(bytes);
  from_bytes.restore(bytes);
  const std::vector<double> record = run.record(first);
  EXPECT_EQ(run.record(from_state), record);
  EXPECT_EQ(run.record(from_bytes), record);
}

/// A shot beside itself.
Acquisition twice(const Acquisition& shot) {
  Acquisition made = shot;
  for (auto* points : {&made.sources, &made.receivers}) {
    const std::vector<Point> first = *points;
    for (Point point : first) {
      point.shot = 1;
      points->push_back(std::move(point));
    }
  }
  return made;
}
/// [row][point] of both.
std::vector<double> side_by_side(const std::vector<double>& a, const std::vector<double>& b, std::size_t points) {
  std::vector<double> made;
  const auto width = static_cast<Index>(points);
  for (Index row = 0; row < std::ssize(a); row += width)
    for (const auto* each : {&a, &b}) made.insert(made.end(), each->begin() + row, each->begin() + row + width);
  return made;
}

TEST_P(PropagatorOnEachGpu, StepsTwoShotsAtTheSameTimeWithTheBitsOfEach) {
  for (const MixedCase& each : fewer_cases) {
    SCOPED_TRACE(testing::text_of(each));
    const MixedRun run(each, 6);
    const std::size_t sources = run.shot.sources.size(), receivers = run.shot.receivers.size();
    const auto first = in_a_list(run.sources),
               second = in_a_list(testing::mixed_samples(run.problem, run.shot.sources, run.steps, 8));
    Propagator<float> one(run.problem, device()), two(run.problem, device(), Threads::all, 2);
    const auto alone = [&](Propagator<float>& fields, const std::vector<double>& amplitudes) {
      std::vector<double> record(static_cast<std::size_t>(run.steps) * receivers);
      fields.clear();
      fields.run(run.shot, run.steps, amplitudes, record);
      return record;
    };
    const std::vector<double> of_first = alone(one, first), of_second = alone(one, second);
    std::vector<double> both(2 * of_first.size());
    two.run(twice(run.shot), run.steps, side_by_side(first, second, sources), both);
    EXPECT_EQ(both, side_by_side(of_first, of_second, receivers));
    EXPECT_EQ(alone(two, second), of_second);  // with place for one more
  }
}

TEST_P(PropagatorOnEachDevice, SetsTheFieldOfAHardSource) {
  Problem problem = testing::mixed_problem({.mode = Mode::em3d, .order = 4});
  const Index node = problem.grid.index(4, 5, 6);
  problem.medium.sigma[2][static_cast<std::size_t>(node)] = std::numeric_limits<double>::infinity();
  const Acquisition shot{{{Component::Ez, {{node}}, true}}, {{Component::Ez, {{node}}}}};
  const std::vector<double> volts{1, -2, 3};
  std::vector<double> record(3);
  Propagator<double> fields(problem, device());
  fields.run(shot, 3, volts, record);
  EXPECT_EQ(record, volts);
}

TEST_P(PropagatorOnEachDevice, ShowsItsFieldsBetweenStepsAndTakesChangesOfThem) {
  const MixedRun run({.mode = Mode::em3d, .order = 4}, 6);
  const auto doubled = [&](Device on) {
    Propagator<double> fields(run.problem, on);
    fields.set_state(run.start);
    std::vector<double> seen;
    const auto record = run.record(fields, {.before = [&](Index n) {
                                     const View<double, 3> ez = fields.field(Component::Ez);
                                     seen.push_back(ez(4, 5, 6));
                                     if (n != 3) return;
                                     for (Index k = 0; k < ez.extent[0]; ++k)
                                       for (Index j = 0; j < ez.extent[1]; ++j)
                                         for (Index i = 0; i < ez.extent[2]; ++i) ez(k, j, i) = 2 * ez(k, j, i) + 1;
                                     fields.fields_changed();
                                     seen.push_back(fields.field(Component::Ez)(4, 5, 6));
                                     seen.push_back(fields.field(Component::Ez)(4, 0, 6));  // on a wall
                                   }});
    seen.insert(seen.end(), record.begin(), record.end());
    return seen;
  };
  EXPECT_LT(distance_of(doubled(device()), doubled(Device::cpu())), 1e-13);  // rounding of six steps
}

TEST_P(PropagatorOnEachDevice, HoldsNoMoreThanItSaid) {
  for (const Mode mode : {Mode::tm2d, Mode::em3d}) {
    const Problem problem = testing::mixed_problem({.mode = mode, .poles = 1});
    const std::size_t most = Propagator<float>::bytes_for(problem.grid, 1, device()).lasting;
    const Propagator<float> fields(problem, device());
    const std::size_t held = fields.bytes();
    EXPECT_EQ(fields.state_bytes(), Propagator<float>::bytes_for(problem.grid, 1, device()).state);
    EXPECT_LE(held, most);
    EXPECT_GT(held, most * 9 / 10);  // no two rows of this medium are equal
  }
}

TEST_P(PropagatorOnEachDevice, ShowsItsPlanesOnTheCpuOnly) {
  const Problem problem = testing::mixed_problem({});
  Propagator<float> fields(problem, device());
  if (device().is_cpu()) {
    std::atomic<Index> seen = 0;
    fields.run({}, 1, {}, {}, {.planes = {.before_electric = [&](const PlaneRows&) { ++seen; }}});
    EXPECT_EQ(seen, problem.grid.extent(Axis::z));
    return;
  }
  EXPECT_EQ(sonde::testing::error_of(ErrorKind::not_supported, [&] { (void)fields.row(Component::Ey, 0, 0); }),
            "error: a row of the fields: the fields are in the memory of a GPU\nhint: run on the CPU");
  EXPECT_EQ(sonde::testing::error_of(
                ErrorKind::not_supported,
                [&] { fields.run({}, 1, {}, {}, {.planes = {.before_electric = [](const PlaneRows&) {}}}); }),
            "error: work beside the planes of a step: the fields are in the memory of a GPU\nhint: run on the CPU");
}

INSTANTIATE_EACH_DEVICE(PropagatorOnEachDevice);
INSTANTIATE_EACH_GPU(PropagatorOnEachGpu);

/// The states of the reference, rounded, in the memory of a device.
template <class T>
class StatesOnDevice : public KeptFields<T> {
 public:
  StatesOnDevice(Device device, const Grid& grid, const std::vector<State>& states) : grid_(grid), stream_(device) {
    for (const State& state : states) {
      auto& fields = fields_.emplace_back();
      for (const Component c : grid.components()) {
        const auto which = static_cast<std::size_t>(c);
        const std::vector<T> values(state.fields[which].begin(), state.fields[which].end());
        fields[which] = Array::from(values, {grid.count()}).copy_to(device, stream_);
      }
    }
  }
  [[nodiscard]] NodeBox box() const override { return {{}, grid_.extents()}; }
  [[nodiscard]] bool begin_step(Index) override { return true; }
  [[nodiscard]] typename KeptFields<T>::Row row(Index n, Component c, Index k, Index j) const override {
    const auto at = [&](Index step) {
      return static_cast<const T*>(fields_[static_cast<std::size_t>(step)][static_cast<std::size_t>(c)].data()) +
             grid_.index(k, j, 0);
    };
    return {.before = at(n), .after = at(n + 1)};
  }
  [[nodiscard]] Stream* stream() const override { return stream_.device().is_cpu() ? nullptr : &stream_; }

 private:
  const Grid& grid_;
  mutable Stream stream_;
  std::vector<std::array<Array, 6>> fields_;
};

class BackPropagatorOnEachDevice : public sonde::testing::EachDevice {
 protected:
  /// The worst of all parts of J^T r.
  template <class T>
  static double difference(const MixedCase& which) {
    const MixedRun run(which);
    const reference::Samples residual = testing::mixed_samples(run.problem, run.shot.receivers, run.steps, 5);
    const reference::Gradient wanted = reference::vjp(run.problem, run.shot, run.sources, run.start, residual);
    std::vector<State> states;
    State state = run.start;
    (void)reference::forward(run.problem, run.shot, run.sources, state,
                             [&](Index, const State& before, const State& after) {
                               if (states.empty()) states.push_back(before);
                               states.push_back(after);
                             });
    StatesOnDevice<T> kept(device(), run.problem.grid, states);
    BackPropagator<T> back(run.problem, device());
    std::vector<double> sources(static_cast<std::size_t>(run.steps) * run.shot.sources.size());
    back.run(run.shot, run.steps, in_a_list(residual), &kept, {.magnetic = true}, sources);
    const ComponentChange medium =
        gradient_of(back.sums(), run.problem.medium, run.problem.grid, run.problem.dt, run.problem.loss);
    double worst = distance_of(sources, in_a_list(wanted.sources));
    for (std::size_t c = 0; c < 3; ++c)
      for (const double each :
           {distance_of(medium.eps_r[c], wanted.medium.eps_r[c]), distance_of(medium.sigma[c], wanted.medium.sigma[c]),
            distance_of(medium.mu_r[c], wanted.medium.mu_r[c])})
        worst = std::max(worst, each);
    State start = back.start(), wanted_start = wanted.start;
    // psi has no meaning outside of the layers: the plain loops have a gradient of it there all the same.
    for (std::size_t c = 0; c < 6; ++c)
      for (std::size_t t = 0; t < 2; ++t)
        for (std::size_t node = 0; node < start.psi[c][t].size(); ++node)
          if (start.psi[c][t][node] == 0) wanted_start.psi[c][t][node] = 0;
    return std::max(worst, distance_of(start, wanted_start));
  }
};

TEST_P(BackPropagatorOnEachDevice, FindsWhatTheReferenceFinds) {
  for (const MixedCase& each : fewer_cases) {
    SCOPED_TRACE(testing::text_of(each));
    // Rounding of ten steps; below, in float32, of sums that cancel too.
    EXPECT_LT(difference<double>(each), 1e-11);
  }
  EXPECT_LT(difference<float>({.mode = Mode::em3d, .order = 4, .poles = 1}), 3e-4);
}

TEST_P(BackPropagatorOnEachDevice, AddsTheSumsOfSeveralRuns) {
  const MixedRun run({.mode = Mode::em3d, .order = 4});
  const auto residual = in_a_list(testing::mixed_samples(run.problem, run.shot.receivers, run.steps, 5));
  std::vector<State> states(static_cast<std::size_t>(run.steps) + 1, run.start);
  for (State& state : states)
    for (auto& values : state.fields)
      for (double& value : values) value *= 1.5;
  states.front() = run.start;
  StatesOnDevice<double> kept(device(), run.problem.grid, states);
  BackPropagator<double> back(run.problem, device());
  std::vector<double> sources(static_cast<std::size_t>(run.steps) * run.shot.sources.size());
  const auto sums = [&] {
    back.run(run.shot, run.steps, residual, &kept, {}, sources);
    return back.sums();
  };
  const SweepSums once = sums(), twice = sums();
  for (std::size_t i = 0; i < once.sum[0].size(); ++i) EXPECT_NEAR(twice.sum[0][i], 2 * once.sum[0][i], 1e-12);
  back.clear_sums();
  EXPECT_EQ(sums().sum[0], once.sum[0]);
}

double dot_of(const State& a, const State& b) {
  double sum = 0;
  const auto add = [&](const std::vector<double>& u, const std::vector<double>& v) {
    for (std::size_t i = 0; i < u.size(); ++i) sum += u[i] * v[i];
  };
  for (std::size_t c = 0; c < 6; ++c) {
    add(a.fields[c], b.fields[c]);
    for (std::size_t t = 0; t < 2; ++t) add(a.psi[c][t], b.psi[c][t]);
  }
  for (std::size_t p = 0; p < a.polarisation.size(); ++p)
    for (std::size_t e = 0; e < 3; ++e) add(a.polarisation[p][e], b.polarisation[p][e]);
  return sum;
}

/// Without sources the last fields are linear in the first: <A s, e> = <s, A^T e>, every number of both moved.
TEST_P(BackPropagatorOnEachDevice, BeginsWithTheDerivativeByTheLastFields) {
  for (const MixedCase& each : fewer_cases) {
    SCOPED_TRACE(testing::text_of(each));
    const MixedRun run(each);
    const auto mixed = [&](unsigned seed) {
      State made = testing::mixed_state(run.problem, seed);
      testing::Numbers numbers(seed + 1);
      for (auto& of_component : made.psi)
        for (auto& psi : of_component)
          for (double& value : psi) value = 10 * numbers();
      for (auto& pole : made.polarisation)
        for (auto& values : pole)
          for (double& value : values) value = 1e-11 * numbers();
      return made;
    };
    const State start = mixed(20), end = mixed(30);
    Propagator<double> fields(run.problem, device());
    fields.set_state(start);
    fields.run({}, 10, {}, {});
    BackPropagator<double> back(run.problem, device());
    back.run({}, 10, {}, nullptr, {.difference = false, .sum = false}, {}, {.end = &end});
    const double forward = dot_of(fields.state(), end), backward = dot_of(start, back.start());
    EXPECT_NEAR(forward, backward, 1e-12 * std::sqrt(dot_of(end, end) * dot_of(fields.state(), fields.state())));
  }
}

INSTANTIATE_EACH_DEVICE(BackPropagatorOnEachDevice);

class BornPropagatorOnEachDevice : public sonde::testing::EachDevice {};

TEST_P(BornPropagatorOnEachDevice, FindsWhatTheReferenceFinds) {
  for (const MixedCase& each : fewer_cases) {
    SCOPED_TRACE(testing::text_of(each));
    const MixedRun run(each);
    const reference::Direction along{.medium = testing::mixed_change(run.problem, 7),
                                     .sources = testing::mixed_samples(run.problem, run.shot.sources, run.steps, 8),
                                     .start = testing::mixed_state(run.problem, 9)};
    const auto wanted = in_a_list(reference::jvp(run.problem, run.shot, run.sources, run.start, along));
    BornPropagator<double> fields(run.problem, along.medium, device());
    fields.set_state(run.start, *along.start);
    std::vector<double> record(wanted.size()), change(wanted.size());
    fields.run(run.shot, run.steps, in_a_list(run.sources), in_a_list(along.sources), record, change);
    EXPECT_LT(distance_of(run.weighted(change), run.weighted(wanted)), 1e-12);  // rounding of ten steps
    State state = run.start;
    EXPECT_LT(distance_of(run.weighted(record),
                          run.weighted(in_a_list(reference::forward(run.problem, run.shot, run.sources, state)))),
              1e-13);
  }
}

TEST_P(BornPropagatorOnEachDevice, ChangesPolesOnTheCpuOnly) {
  const Problem problem = testing::mixed_problem({.poles = 1});
  const auto made = [&] {
    return BornPropagator<float>(problem, {.poles = testing::mixed_pole_change(problem, 7)}, device());
  };
  if (device().is_cpu()) {
    EXPECT_EQ(made().change_state().polarisation.size(), 1u);
    return;
  }
  EXPECT_EQ(sonde::testing::error_of(ErrorKind::not_supported, [&] { (void)made(); }),
            "error: changes of Debye poles are not computed on a GPU\nhint: run on the CPU");
}

TEST_P(BornPropagatorOnEachDevice, ShowsItsPlanesOnTheCpuOnly) {
  const Problem problem = testing::mixed_problem({});
  BornPropagator<float> fields(problem, testing::mixed_change(problem, 7), device());
  if (device().is_cpu()) {
    std::atomic<Index> seen = 0;
    fields.run({}, 1, {}, {}, {}, {}, {.change = {.before_electric = [&](const PlaneRows&) { ++seen; }}});
    EXPECT_EQ(seen, problem.grid.extent(Axis::z));
    return;
  }
  EXPECT_EQ(sonde::testing::error_of(
                ErrorKind::not_supported,
                [&] { fields.run({}, 1, {}, {}, {}, {}, {.change = {.before_electric = [](const PlaneRows&) {}}}); }),
            "error: work beside the planes of a linearised step: not on a GPU\nhint: run on the CPU");
}

INSTANTIATE_EACH_DEVICE(BornPropagatorOnEachDevice);

}  // namespace
}  // namespace sonde::maxwell
