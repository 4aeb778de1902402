// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/reconstruct/reconstruction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>

#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/ptycho/engines/gd.h"
#include "sonde/instruments/ptycho/engines/pie.h"
#include "sonde/instruments/ptycho/model/phase_roughness.h"
#include "sonde/instruments/ptycho/reconstruct/holdout.h"
#include "sonde/instruments/ptycho/reconstruct/test_prepared.h"
#include "sonde/instruments/ptycho/reconstruct/test_scan.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"
#include "tests/support/interrupts.h"

namespace sonde::ptycho {
namespace {

using ::sonde::testing::error_of;
using ::testing::HasSubstr;
using testing::Prepared;
using testing::Scene;

std::vector<Index> frames(Index count) {
  std::vector<Index> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), Index{0});
  return all;
}

TEST(HoldOut, TakesAShareFromManyAndNoneFromFew) {
  EXPECT_TRUE(hold_out(frames(159), {}, 1).value.held.empty());
  EXPECT_EQ(hold_out(frames(160), {}, 1).value.held.size(), 16u);
  EXPECT_EQ(hold_out(frames(1000), {}, 1).value.held.size(), 30u);
  EXPECT_TRUE(hold_out(frames(1000), 0.0, 1).value.held.empty());
  const HeldOut split = hold_out(frames(1000), 0.1, 7).value;
  EXPECT_EQ(split.held.size(), 100u);
  std::vector<Index> together = split.active;
  together.insert(together.end(), split.held.begin(), split.held.end());
  std::sort(together.begin(), together.end());
  EXPECT_EQ(together, frames(1000));
  EXPECT_EQ(hold_out(frames(1000), 0.1, 7).value.held, split.held);
  EXPECT_NE(hold_out(frames(1000), 0.1, 8).value.held, split.held);
  EXPECT_THAT(error_of(ErrorKind::bad_input, [] { (void)hold_out(frames(20), 0.1, 1); }), HasSubstr("leaves too few"));
}

Schedule gd(Index iterations) {
  Schedule schedule;
  schedule.engines.push_back({"gd", iterations, std::make_shared<SetupOf<Gd, GdSettings>>()});
  schedule.stop.rule = StopRule::off;
  schedule.holdout = 0.0;
  return schedule;
}

TEST(Reconstruction, GoesThroughItsEnginesAndSaysWhatHappened) {
  Schedule schedule = gd(3);
  schedule.engines.push_back({"epie", 2, std::make_shared<SetupOf<Pie, PieSettings>>()});
  Prepared run({.modes = 2}, schedule);
  Reconstruction& reconstruction = *run.reconstruction;
  while (reconstruction.outcome().kind == Outcome::Kind::running) reconstruction.iterate();
  EXPECT_EQ(reconstruction.outcome().kind, Outcome::Kind::finished);
  ASSERT_EQ(reconstruction.history().size(), 5u);
  double power = 1;
  for (std::size_t i = 0; i < 5; ++i) {
    const IterationRecord& record = reconstruction.history()[i];
    EXPECT_EQ(record.number, static_cast<Index>(i) + 1);
    EXPECT_EQ(record.engine, i < 3 ? 0 : 1);
    power *= record.power_ratio;
    EXPECT_DOUBLE_EQ(record.power_total, power);
    EXPECT_GT(record.object_change, 0);
  }
  // The probe waits until iteration 2.
  EXPECT_EQ(reconstruction.history()[0].probe_change, 0);
  EXPECT_GT(reconstruction.history()[1].probe_change, 0);
  EXPECT_LT(reconstruction.history()[4].fit.r_intensity, reconstruction.history()[0].fit.r_intensity);
}

TEST(Reconstruction, RefusesMoreThreadsThanItHasScratchFor) {
  set_thread_count(2);
  Prepared run({}, gd(3));
  run.reconstruction->iterate();
  set_thread_count(3);
  EXPECT_THAT(error_of(ErrorKind::usage, [&] { run.reconstruction->iterate(); }),
              HasSubstr("3 threads; the reconstruction was prepared for up to 2"));
  set_thread_count(1);
  EXPECT_EQ(run.reconstruction->iterate().number, 2);
  set_thread_count(0);
}

/// The measures against their definitions, from the naive far fields of the start.
TEST(Reconstruction, MeasuresTheFitOfTheEstimateBeforeTheUpdate) {
  Scene expected{.modes = 2, .masked = true};
  expected.build();
  Schedule schedule = gd(1);
  GdSettings whole;
  whole.batch.size = 5;  // one batch: all frames are seen from the start
  schedule.engines[0].setup = std::make_shared<SetupOf<Gd, GdSettings>>(whole);
  Prepared run({.modes = 2, .masked = true}, schedule);
  const Metrics fit = run.reconstruction->iterate().fit;
  double error2 = 0, counts2 = 0, amplitude_error = 0, amplitudes = 0, amplitude_error2 = 0, counts = 0, deviance = 0,
         n = 0;
  for (Index j = 0; j < 5; ++j) {
    const auto first = expected.far_field(j, 0), second = expected.far_field(j, 1);
    for (std::size_t i = 0; i < first.size(); ++i) {
      if (expected.mask[i] == 0) continue;
      const double model = std::norm(first[i]) + std::norm(second[i]);
      const double measured = expected.frames.view<double, 3>().data[j * expected.pixels() + static_cast<Index>(i)];
      error2 += std::pow(measured - model, 2);
      counts2 += measured * measured;
      amplitude_error += std::abs(std::sqrt(measured) - std::sqrt(model));
      amplitudes += std::sqrt(measured);
      amplitude_error2 += std::pow(std::sqrt(measured) - std::sqrt(model), 2);
      counts += measured;
      deviance += model - measured + (measured > 0 ? measured * std::log(measured / model) : 0);
      n += 1;
    }
  }
  EXPECT_NEAR(fit.r_intensity, std::sqrt(error2 / counts2), 1e-12);
  EXPECT_NEAR(fit.r_amplitude, amplitude_error / amplitudes, 1e-12);
  EXPECT_NEAR(fit.nmse, amplitude_error2 / counts, 1e-12);
  EXPECT_NEAR(fit.deviance, 2 * deviance / n, 1e-10);
  EXPECT_NEAR(r_intensity_floor(run.reconstruction->counts()), std::sqrt(counts / counts2), 1e-12);
}

/// Every engine, stopped after three of six iterations and taken up again from the file, with positions that move and a
/// probe that varies.
TEST(Reconstruction, ResumesWithTheSameBits) {
  for (const EngineKind& kind : engine_kinds()) {
    SCOPED_TRACE(kind.name);
    const Scene scene{.modes = 2, .object_rows = 20, .object_cols = 22, .fractional = true};
    const auto schedule = [&] {
      Schedule plan = gd(2);
      plan.engines[0] = {"gd", 2, std::make_shared<SetupOf<Gd, GdSettings>>()};
      plan.engines.push_back({std::string(kind.name), 4, kind.setup()});
      plan.positions.method = PositionMethod::xcorr;
      plan.positions.start = 2;
      plan.opr.modes = 1;
      plan.opr.start = 2;
      return plan;
    };
    const auto fresh = [&] {
      return Scene{.modes = 2, .object_rows = scene.object_rows, .object_cols = scene.object_cols, .fractional = true};
    };
    Prepared through(fresh(), schedule());
    while (through.reconstruction->outcome().kind == Outcome::Kind::running) through.reconstruction->iterate();

    const ::sonde::testing::TemporaryFolder folder;
    const std::string path = folder.file("run.h5");
    {
      Prepared half(fresh(), schedule());
      for (int n = 0; n < 3; ++n) half.reconstruction->iterate();
      CheckpointWriter writer(path, checkpoint_kind(), 3, "");
      half.reconstruction->save(writer);
      writer.finish();
    }
    const auto resumed =
        Reconstruction::resume(through.measurement, {}, schedule(), CheckpointReader(path, checkpoint_kind()));
    EXPECT_EQ(resumed->history().size(), 3u);
    while (resumed->outcome().kind == Outcome::Kind::running) resumed->iterate();
    ASSERT_EQ(resumed->history().size(), 6u);
    for (std::size_t i = 0; i < 6; ++i)
      EXPECT_EQ(resumed->history()[i].fit.r_intensity, through.reconstruction->history()[i].fit.r_intensity) << i;
    State &a = resumed->state(), &b = through.reconstruction->state();
    EXPECT_EQ(std::memcmp(a.object.data(), b.object.data(), a.object.allocated_bytes()), 0);
    EXPECT_EQ(std::memcmp(a.probe.data(), b.probe.data(), a.probe.allocated_bytes()), 0);
    EXPECT_EQ(std::memcmp(a.opr_modes.data(), b.opr_modes.data(), a.opr_modes.allocated_bytes()), 0);
    EXPECT_EQ(std::memcmp(a.opr_weights.data(), b.opr_weights.data(), a.opr_weights.allocated_bytes()), 0);
    EXPECT_GT(resumed->history().back().opr_share, 0);
    EXPECT_EQ(a.positions, b.positions);
  }
}

/// Frames that are held out enter no update and no fit of positions; their own positions follow the affine part.
TEST(Reconstruction, HeldOutFramesJudgeAndDoNothingElse) {
  constexpr Index count = 40;
  struct Run {
    std::unique_ptr<Measurement> measurement;
    std::unique_ptr<Reconstruction> reconstruction;
  };
  // `reversed` frames have their pixels in the opposite order: other patterns with the same counts.
  const auto run = [&](const std::vector<Index>& reversed) {
    Scene scene{.object_rows = 20, .object_cols = 22};
    scene.build();
    std::mt19937 generator(3);
    std::uniform_real_distribution<double> uniform(0, 1);
    Array counted(Device::cpu(), Shape{count, scene.rows, scene.cols}, DType::f64);
    for (Index i = 0; i < counted.count(); ++i)
      counted.view<double, 3>().data[i] = std::floor(10 * uniform(generator) * uniform(generator));
    for (const Index j : reversed) {
      double* frame = counted.view<double, 3>().data + j * scene.pixels();
      std::reverse(frame, frame + scene.pixels());
    }
    scene.state.positions.clear();
    for (Index j = 0; j < count; ++j)
      scene.state.positions.push_back({4 + 10 * uniform(generator), 5 + 10 * uniform(generator)});
    scene.state.placements = place_all(scene.state.positions, scene.state.window());
    Schedule schedule = gd(5);
    schedule.holdout = 0.4;
    schedule.positions.method = PositionMethod::gradient;
    schedule.positions.start = 2;
    schedule.opr.modes = 1;
    schedule.opr.start = 2;
    Run made;
    made.measurement = std::make_unique<Measurement>(counted, ZeroFrequency::corner, std::vector<std::uint8_t>{},
                                                     AmplitudeStorage::f64);
    made.reconstruction = Reconstruction::prepare(*made.measurement, std::move(scene.state), {}, std::move(schedule));
    while (made.reconstruction->outcome().kind == Outcome::Kind::running) made.reconstruction->iterate();
    return made;
  };
  const Run plain = run({});
  const std::vector<Index> held = plain.reconstruction->held_out();
  ASSERT_EQ(held.size(), 16u);
  const Run spoilt = run(held);
  State &a = plain.reconstruction->state(), &b = spoilt.reconstruction->state();
  EXPECT_EQ(std::memcmp(a.object.data(), b.object.data(), a.object.allocated_bytes()), 0);
  EXPECT_EQ(std::memcmp(a.probe.data(), b.probe.data(), a.probe.allocated_bytes()), 0);
  EXPECT_EQ(a.positions, b.positions);
  EXPECT_EQ(plain.reconstruction->history().back().fit.r_intensity,
            spoilt.reconstruction->history().back().fit.r_intensity);
  EXPECT_NE(plain.reconstruction->history().back().r_free, spoilt.reconstruction->history().back().r_free);
  const Affine affine = plain.reconstruction->history().back().positions->affine;
  for (const Index j : held) {
    const auto frame = static_cast<std::size_t>(j);
    EXPECT_EQ(a.positions[frame], affine.apply(plain.reconstruction->initial_positions()[frame]));
    EXPECT_FALSE(a.positions[frame] == plain.reconstruction->initial_positions()[frame]);
  }
}

/// A phase that rises by a per row and b per column has the gradient (a, b) everywhere.
TEST(PhaseRoughness, IsTheMeanLengthOfTheGradient) {
  Scene scene{.slices = 2};
  scene.build();
  const auto object = scene.state.object.view<complex128, 3>();
  for (Index s = 0; s < 2; ++s)
    for (Index row = 0; row < scene.object_rows; ++row)
      for (Index col = 0; col < scene.object_cols; ++col)
        object(s, row, col) =
            std::polar(2.0, (s == 0 ? 3.0 : -0.3) * static_cast<double>(row) + 0.4 * static_cast<double>(col));
  // In whole turns of the second kind too: 3 rad per row are not unwrapped.
  EXPECT_NEAR(phase_roughness(scene.state), (std::hypot(3.0, 0.4) + std::hypot(0.3, 0.4)) / 2, 1e-12);
}

TEST(Reconstruction, ANumberThatIsNoneStopsItAndNamesThePlace) {
  Prepared run({}, gd(10));
  run.reconstruction->iterate();
  const auto first_pixel = [&] { return run.reconstruction->state().probe.view<complex128, 3>()(0, 0, 0); };
  const complex128 kept = first_pixel();
  run.reconstruction->state().object.view<complex128, 3>()(0, 6, 7) = std::nan("");
  const std::string text = error_of(ErrorKind::not_converged, [&] { run.reconstruction->iterate(); });
  EXPECT_THAT(text, HasSubstr("not finite any more, first at [0, "));
  // The best estimate is back.
  EXPECT_EQ(first_pixel(), kept);
  EXPECT_TRUE(std::isfinite(run.reconstruction->state().object.view<complex128, 3>()(0, 6, 7).real()));
}

TEST(Reconstruction, WhenALaterEngineDivergesTheBestOfTheEngineBeforeIsKept) {
  Prepared calm({}, gd(6));
  while (calm.reconstruction->outcome().kind == Outcome::Kind::running) calm.reconstruction->iterate();
  Schedule schedule = gd(6);
  GdSettings wild;
  wild.step = 20;
  wild.g = 0.01;
  wild.batch.size = 2;
  schedule.engines.push_back({"gd", 60, std::make_shared<SetupOf<Gd, GdSettings>>(wild)});
  schedule.stop.rule = StopRule::relative;
  Prepared run({}, schedule);
  while (run.reconstruction->outcome().kind == Outcome::Kind::running) run.reconstruction->iterate();
  EXPECT_EQ(run.reconstruction->outcome().kind, Outcome::Kind::diverged);
  EXPECT_EQ(run.reconstruction->outcome().best, 6);
  const State &kept = run.reconstruction->state(), &expected = calm.reconstruction->state();
  EXPECT_EQ(std::memcmp(kept.object.data(), expected.object.data(), expected.object.allocated_bytes()), 0);
  EXPECT_EQ(std::memcmp(kept.probe.data(), expected.probe.data(), expected.probe.allocated_bytes()), 0);
}

TEST(Reconstruction, WhenAnEngineDivergesTheNextOneGoesOnFromItsBest) {
  Schedule schedule = gd(60);
  GdSettings wild, calm;
  wild.step = 20;
  wild.g = 0.01;
  wild.batch.size = 2;
  schedule.engines = {{"gd", 60, std::make_shared<SetupOf<Gd, GdSettings>>(wild)},
                      {"gd", 4, std::make_shared<SetupOf<Gd, GdSettings>>(calm)}};
  schedule.stop.rule = StopRule::relative;
  Prepared run({}, schedule);
  while (run.reconstruction->outcome().kind == Outcome::Kind::running) run.reconstruction->iterate();
  EXPECT_EQ(run.reconstruction->outcome().kind, Outcome::Kind::finished);
  const std::vector<IterationRecord>& history = run.reconstruction->history();
  const auto second = std::find_if(history.begin(), history.end(), [](const auto& each) { return each.engine == 1; });
  ASSERT_LT(second - history.begin(), 60) << "the first engine has to diverge";
  EXPECT_EQ(history.end() - second, 4);
  double lowest = 1e300;
  for (auto each = history.begin(); each != second; ++each) lowest = std::min(lowest, each->fit.r_intensity);
  // What it begins with has the lowest R_I: frame after frame it only falls from there.
  EXPECT_LE(second->fit.r_intensity, 1.02 * lowest);
}

/// Of engines that see all frames from one estimate R_I is exactly that of an estimate, the one before or after.
TEST(Reconstruction, OnDivergenceTheEstimateIsTheOneThatTheLowestRIntensityIsOf) {
  for (const ObjectType type : {ObjectType::complex, ObjectType::potential}) {
    SCOPED_TRACE(type == ObjectType::complex ? "complex" : "potential");
    Schedule schedule = gd(200);
    GdSettings settings;
    settings.step = 2.2;  // too long once the probe moves too
    settings.batch.size = 5;
    schedule.engines[0].setup = std::make_shared<SetupOf<Gd, GdSettings>>(settings);
    schedule.probe_start = 6;
    schedule.stop.rule = StopRule::relative;
    Prepared run({.type = type}, schedule);
    while (run.reconstruction->outcome().kind == Outcome::Kind::running) run.reconstruction->iterate();
    const Outcome& outcome = run.reconstruction->outcome();
    ASSERT_EQ(outcome.kind, Outcome::Kind::diverged);
    ASSERT_GT(outcome.best, 2) << "it has to fall before it rises";
    const double lowest = run.reconstruction->history()[static_cast<std::size_t>(outcome.best) - 1].fit.r_intensity;
    schedule.engines[0].iterations = 1;
    const auto judged =
        Reconstruction::prepare(run.measurement, run.reconstruction->state().clone(), {}, std::move(schedule));
    EXPECT_NEAR(judged->iterate().fit.r_intensity, lowest, 1e-12);
  }
}

/// The frames that were held out judge the estimate that was brought back, not the last one.
TEST(Reconstruction, OnDivergenceRFreeIsThatOfTheEstimateThatIsKept) {
  const testing::SmallScan scan(7);
  const Measurement measurement(scan.counts, ZeroFrequency::corner, {}, AmplitudeStorage::f32);
  Schedule schedule = gd(200);
  GdSettings settings;
  settings.step = 2.2;
  settings.batch.size = 49;
  schedule.engines[0].setup = std::make_shared<SetupOf<Gd, GdSettings>>(settings);
  schedule.probe_start = 6;
  schedule.holdout = 0.35;
  schedule.stop.rule = StopRule::relative;
  const auto run = Reconstruction::prepare(measurement, scan.state.clone(), {}, schedule);
  while (run->outcome().kind == Outcome::Kind::running) run->iterate();
  const Outcome& outcome = run->outcome();
  ASSERT_EQ(outcome.kind, Outcome::Kind::diverged);
  EXPECT_EQ(outcome.r_intensity, run->history()[static_cast<std::size_t>(outcome.best) - 1].fit.r_intensity);
  schedule.object_start = schedule.probe_start = 2;  // one iteration that changes nothing
  schedule.engines[0].iterations = 1;
  const auto judged = Reconstruction::prepare(measurement, run->state().clone(), {}, schedule);
  EXPECT_EQ(*outcome.r_free, *judged->iterate().r_free);
  EXPECT_NE(*outcome.r_free, *run->history().back().r_free);
}

TEST(Reconstruction, ProjectionsJudgeWhatTheyEndWith) {
  Schedule schedule = gd(1);
  schedule.engines = {{"dm", 3, engine_kind("dm").setup()}};
  Prepared run({}, schedule);
  for (int n = 0; n < 3; ++n) run.reconstruction->iterate();
  const double last = run.reconstruction->history().back().fit.r_intensity;
  Schedule whole = gd(1);
  GdSettings settings;
  settings.batch.size = 5;
  whole.engines[0].setup = std::make_shared<SetupOf<Gd, GdSettings>>(settings);
  const auto judged =
      Reconstruction::prepare(run.measurement, run.reconstruction->state().clone(), {}, std::move(whole));
  EXPECT_NEAR(judged->iterate().fit.r_intensity, last, 1e-12);
}

/// Once R_I has risen again, the lowest counts more than the last.
TEST(Reconstruction, WorkThatIsAskedToStopKeepsTheBetterOfLastAndBest) {
  for (const bool worse : {false, true}) {
    SCOPED_TRACE(worse);
    Prepared run({}, gd(10));
    for (int n = 0; n < 4; ++n) run.reconstruction->iterate();
    const State best = run.reconstruction->state().clone();
    if (worse) {
      run.reconstruction->iterate();  // judges what was copied
      State& state = run.reconstruction->state();
      for (Index i = 0; i < state.object.count(); ++i) state.object.view<complex128, 3>().data[i] *= 3;
      run.reconstruction->state_changed();
      run.reconstruction->iterate();
      ASSERT_GT(run.reconstruction->history()[5].fit.r_intensity, run.reconstruction->history()[4].fit.r_intensity);
    }
    const ::sonde::testing::InterruptAt request(1);
    error_of(ErrorKind::interrupted, [&] { run.reconstruction->iterate(); });
    const State& kept = run.reconstruction->state();
    EXPECT_EQ(std::memcmp(kept.object.data(), best.object.data(), best.object.allocated_bytes()), 0);
    EXPECT_EQ(std::memcmp(kept.probe.data(), best.probe.data(), best.probe.allocated_bytes()), 0);
  }
}

/// dm looks at every pattern before its first iteration, and what gd has reached is judged before gd again.
TEST(Reconstruction, ARequestToStopBetweenEnginesLosesNothing) {
  for (const char* next : {"dm", "gd"}) {
    SCOPED_TRACE(next);
    const auto schedule = [&] {
      Schedule made = gd(2);
      made.engines.push_back({next, 2, engine_kind(next).setup()});
      return made;
    };
    Prepared through({}, schedule());
    while (through.reconstruction->outcome().kind == Outcome::Kind::running) through.reconstruction->iterate();
    Prepared broken({}, schedule());
    for (int n = 0; n < 2; ++n) broken.reconstruction->iterate();
    for (const int look : {1, 3}) {
      const ::sonde::testing::InterruptAt request(look);
      error_of(ErrorKind::interrupted, [&] { broken.reconstruction->iterate(); });
      EXPECT_EQ(broken.reconstruction->history().size(), 2u);
      broken.reconstruction->state_changed();  // as somebody does who does not know what was interrupted
    }
    {
      const ::sonde::testing::TemporaryFolder folder;
      CheckpointWriter writer(folder.file("between.h5"), checkpoint_kind(), 2, "");
      broken.reconstruction->save(writer);
      writer.finish();
      const CheckpointReader from(folder.file("between.h5"), checkpoint_kind());
      broken.reconstruction = Reconstruction::resume(broken.measurement, {}, schedule(), from);
    }
    while (broken.reconstruction->outcome().kind == Outcome::Kind::running) broken.reconstruction->iterate();
    const State &a = broken.reconstruction->state(), &b = through.reconstruction->state();
    EXPECT_EQ(std::memcmp(a.object.data(), b.object.data(), b.object.allocated_bytes()), 0);
    EXPECT_EQ(std::memcmp(a.probe.data(), b.probe.data(), b.probe.allocated_bytes()), 0);
  }
}

TEST(Reconstruction, RefusesWhatDoesNotFit) {
  Scene scene;
  scene.build();
  const Measurement measurement(scene.frames, ZeroFrequency::corner, {}, AmplitudeStorage::f64);
  const auto refused = [&](auto change) {
    Scene other;
    other.build();
    change(other.state);
    return error_of(ErrorKind::bad_input,
                    [&] { (void)Reconstruction::prepare(measurement, std::move(other.state), {}, gd(1)); });
  };
  EXPECT_THAT(refused([](State& state) { state.positions.pop_back(); }), HasSubstr("4 positions for 5 patterns"));
  EXPECT_THAT(refused([](State& state) {
                state.probe = Array::zeros(Device::cpu(), Shape{1, 6, 7}, DType::c128);
              }),
              HasSubstr("the probe has 6 x 7 pixels, the patterns 6 x 8"));
  EXPECT_THAT(refused([](State& state) { state.placements[2].row = -1; }), HasSubstr("outside"));
}

}  // namespace
}  // namespace sonde::ptycho
