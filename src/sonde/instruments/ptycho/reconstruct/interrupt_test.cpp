// SPDX-License-Identifier: Apache-2.0
// Ctrl-C in the middle of an iteration. Work looks at the request once for every pattern that it goes through, however
// often it goes through all of them: then at most one more pattern per thread is worked on after the request.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <ostream>
#include <string>

#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/ptycho/reconstruct/reconstruction.h"
#include "sonde/instruments/ptycho/reconstruct/test_scan.h"
#include "tests/support/errors.h"
#include "tests/support/interrupts.h"

namespace sonde::ptycho {
namespace {

using ::sonde::testing::error_of;
using ::sonde::testing::InterruptAt;
using testing::SmallScan;

constexpr Index side = 6, patterns = side * side;

/// What an iteration is made of, and how often at least it goes through all patterns.
struct Interruption {
  std::string name;
  std::string engine;
  int passes;
  std::function<void(Schedule&)> add = [](Schedule&) {};

  friend std::ostream& operator<<(std::ostream& to, const Interruption& one) { return to << one.name; }
};

Interruption correcting(const char* name, PositionMethod method) {
  return {name, "gd", 2, [method](Schedule& schedule) {
            schedule.positions.method = method;
            schedule.positions.start = 1;
          }};
}

std::vector<Interruption> cases() {
  std::vector<Interruption> all;
  for (const EngineKind& kind : engine_kinds()) {
    const std::string engine(kind.name);
    // lsqml: illumination, waves, steps; ml: gradient, line; projections: sums for the probe, waves.
    const bool twice = engine == "ml" || kind.setup()->traits().keeps_waves;
    all.push_back({engine, engine, engine == "lsqml" ? 3 : twice ? 2 : 1});
  }
  all.push_back({"disjoint", "epie", 1, [](Schedule& schedule) {
                   std::shared_ptr<EngineSetup> setup = engine_kind("epie").setup();
                   Fields fields;
                   setup->describe(fields);
                   fields.assign_text("order", "disjoint", "test");
                   schedule.engines[0].setup = std::move(setup);
                 }});
  all.push_back({"kicked", "mpie", 1, [](Schedule& schedule) {
                   std::shared_ptr<EngineSetup> setup = engine_kind("mpie").setup();
                   Fields fields;
                   setup->describe(fields);
                   fields.assign_text("momentum_every", "10", "test");
                   schedule.engines[0].setup = std::move(setup);
                 }});
  all.push_back(correcting("gradient", PositionMethod::gradient));
  all.push_back(correcting("annealing", PositionMethod::annealing));
  all.push_back(correcting("grid", PositionMethod::grid));
  all.push_back(correcting("xcorr", PositionMethod::xcorr));
  all.push_back({"varying_probe", "gd", 2, [](Schedule& schedule) {
                   schedule.opr.modes = 1;
                   schedule.opr.start = 1;
                 }});
  all.push_back({"held_out", "gd", 1, [](Schedule& schedule) { schedule.holdout = 0.3; }});
  return all;
}

class Interrupted : public ::testing::TestWithParam<Interruption> {
 protected:
  ~Interrupted() override { set_thread_count(0); }

  [[nodiscard]] std::unique_ptr<Reconstruction> prepared() const {
    Schedule schedule;
    schedule.engines.push_back({GetParam().engine, 5, engine_kind(GetParam().engine).setup()});
    schedule.holdout = 0.0;
    schedule.stop.rule = StopRule::off;
    GetParam().add(schedule);
    State state;
    state.object = scan_.state.object.clone();
    state.probe = scan_.state.probe.clone();
    state.positions = scan_.state.positions;
    state.placements = scan_.state.placements;
    return Reconstruction::prepare(measurement_, std::move(state), {}, std::move(schedule));
  }

  SmallScan scan_{side};
  Measurement measurement_{scan_.counts, ZeroFrequency::corner, {}, AmplitudeStorage::f32};
};
INSTANTIATE_TEST_SUITE_P(Iterations, Interrupted, ::testing::ValuesIn(cases()),
                         [](const auto& one) { return one.param.name; });

TEST_P(Interrupted, LooksOncePerPattern) {
  set_thread_count(1);
  const auto run = prepared();
  run->iterate();  // in the second iteration everything is free
  const InterruptAt count;
  run->iterate();
  EXPECT_GE(count.looks(), GetParam().passes * patterns);
}

TEST_P(Interrupted, EndsAtTheNextLookWithTheBestState) {
  set_thread_count(1);
  int all = 0;
  {
    const auto run = prepared();
    run->iterate();
    const InterruptAt count;
    run->iterate();
    all = count.looks();
  }
  for (const int look : {1, static_cast<int>(patterns) / 3, all / 2, all}) {
    SCOPED_TRACE(look);
    const auto run = prepared();
    run->iterate();
    const Array object = run->state().object.clone(), probe = run->state().probe.clone();
    const std::vector<Point> positions = run->state().positions;
    const InterruptAt request(look);
    error_of(ErrorKind::interrupted, [&] { run->iterate(); });
    EXPECT_EQ(request.looks(), look);  // nobody went on to another pattern
    EXPECT_EQ(run->history().size(), 1u);
    EXPECT_EQ(std::memcmp(run->state().object.data(), object.data(), object.allocated_bytes()), 0);
    EXPECT_EQ(std::memcmp(run->state().probe.data(), probe.data(), probe.allocated_bytes()), 0);
    EXPECT_EQ(run->state().positions, positions);
  }
}

TEST_P(Interrupted, IsDoneAgainAsIfNothingHadHappened) {
  set_thread_count(1);
  int all = 0;
  const auto through = prepared();
  through->iterate();
  {
    const InterruptAt count;
    through->iterate();
    all = count.looks();
  }
  through->iterate();
  const bool keeps_waves = engine_kind(GetParam().engine).setup()->traits().keeps_waves;
  for (const int look : {2 * static_cast<int>(patterns) / 3, all}) {
    SCOPED_TRACE(look);
    const auto run = prepared();
    run->iterate();
    {
      const InterruptAt request(look);
      error_of(ErrorKind::interrupted, [&] { run->iterate(); });
    }
    run->iterate();
    run->iterate();
    if (keeps_waves) {
      // The waves that had moved stay moved, a step ahead of the others: while the fit still falls it is no worse.
      EXPECT_LT(run->history().back().fit.r_intensity, 1.02 * through->history().back().fit.r_intensity);
      continue;
    }
    const State &a = run->state(), &b = through->state();
    EXPECT_EQ(std::memcmp(a.object.data(), b.object.data(), a.object.allocated_bytes()), 0);
    EXPECT_EQ(std::memcmp(a.probe.data(), b.probe.data(), a.probe.allocated_bytes()), 0);
    EXPECT_EQ(a.positions, b.positions);
  }
}

TEST_P(Interrupted, OnSeveralThreadsEachEndsAtItsNextLook) {
  constexpr int threads = 4, look = patterns / 2;
  set_thread_count(threads);
  const auto run = prepared();
  run->iterate();
  const InterruptAt request(look);
  error_of(ErrorKind::interrupted, [&] { run->iterate(); });
  EXPECT_LE(request.looks(), look + threads - 1);
}

}  // namespace
}  // namespace sonde::ptycho
