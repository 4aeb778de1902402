// SPDX-License-Identifier: Apache-2.0
// One reconstruction on several processes. Run by itself this is a unit test with one; ctest starts it with 1, 2 and 4
// (label mpi). Nothing ends a test early, because the other ranks would wait.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <string>
#include <type_traits>

#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/ptycho/reconstruct/reconstruction.h"
#include "sonde/instruments/ptycho/reconstruct/test_scan.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde::ptycho {
namespace {

using ::testing::HasSubstr;

template <class Real>
Measurement measured(const Array& counts) {
  return {
      counts, ZeroFrequency::corner, {}, std::is_same_v<Real, double> ? AmplitudeStorage::f64 : AmplitudeStorage::f32};
}

template <class Real>
Array in_precision(const Array& array) {
  Array to(Device::cpu(), array.shape(), dtype_of<std::complex<Real>>);
  const auto from = array.view<complex64, 3>();
  for (Index i = 0; i < from.count(); ++i) to.view<std::complex<Real>, 3>().data[i] = std::complex<Real>(from.data[i]);
  return to;
}

Schedule schedule_of(const std::string& engine) {
  Schedule schedule;
  schedule.engines.push_back({engine, 6, engine_kind(engine).setup()});
  schedule.stop.rule = StopRule::off;
  schedule.holdout = 0.2;
  schedule.skip = {5, 23};
  return schedule;
}

/// What a process keeps of a scan.
struct Part {
  Array counts;
  State state;
};
template <class Real>
Part part_of(const testing::SmallScan& scan, const Share& share) {
  const Index n = testing::SmallScan::n;
  Part part;
  part.counts = Array(Device::cpu(), Shape{static_cast<Index>(share.frames().size()), n, n}, DType::u16);
  Index own = 0;
  for (const Index frame : share.frames()) {
    const std::uint16_t* from = scan.counts.view<std::uint16_t, 3>().data + frame * n * n;
    std::copy(from, from + n * n, part.counts.view<std::uint16_t, 3>().data + own++ * n * n);
    const Point at = scan.state.positions[static_cast<std::size_t>(frame)];
    part.state.positions.push_back(
        {at.row - static_cast<double>(share.box().row), at.col - static_cast<double>(share.box().col)});
  }
  part.state.placements = place_all(part.state.positions, {n, n});
  part.state.object = share.part_of<std::complex<Real>>(scan.state.object);
  part.state.probe = scan.state.probe.clone();
  return part;
}

/// The largest difference beside the largest number.
template <class Real>
double difference(const Array& a, const Array& b) {
  double most = 0, size = 0;
  for (Index i = 0; i < b.count(); ++i) {
    const std::complex<Real> x = a.view<std::complex<Real>, 3>().data[i], y = b.view<std::complex<Real>, 3>().data[i];
    most = std::max(most, static_cast<double>(std::abs(x - y)));
    size = std::max(size, static_cast<double>(std::abs(y)));
  }
  return most / size;
}

/// Whether every pixel of the object is asked for, or each by its light.
enum class Edge { counts, counts_by_light };

/// 49 frames are no multiple of 2 or 4; six iterations with several batches each.
template <class Real>
void expect_that_of_one_process(const std::string& engine, double fraction, double bound, Edge edge = Edge::counts) {
  const Ranks ranks = Ranks::world();
  if (ranks.size() > 1) set_thread_count(1);  // the cores are for the processes
  SCOPED_TRACE(::testing::Message() << engine << " on " << ranks.size() << " ranks, fraction " << fraction);
  using Complex = std::complex<Real>;
  testing::SmallScan scan(7, 2, fraction);
  scan.state.object = in_precision<Real>(scan.state.object);
  scan.state.probe = in_precision<Real>(scan.state.probe);
  const Index side = scan.state.object.shape()[1];
  Schedule schedule = schedule_of(engine);
  schedule.engines[0].most_batch = 16;
  schedule.share = std::make_shared<Share>(ranks, scan.state.placements, Window{16, 16}, side, side);
  Part part = part_of<Real>(scan, *schedule.share);
  Measurement own = measured<Real>(part.counts);
  const Measurement all = measured<Real>(scan.counts);
  own.take_mean(all.mean_counts());
  const auto shared = Reconstruction::prepare(own, std::move(part.state), {}, schedule);
  schedule.share.reset();
  const auto alone = Reconstruction::prepare(all, std::move(scan.state), {}, schedule);
  EXPECT_EQ(shared->held_out(), alone->held_out());
  const Share share(ranks, place_all(alone->state().positions, {16, 16}), {16, 16}, side, side);
  while (shared->outcome().kind == Outcome::Kind::running) {
    const IterationRecord &a = shared->iterate(), &b = alone->iterate();
    EXPECT_NEAR(a.fit.r_intensity, b.fit.r_intensity, bound * b.fit.r_intensity);
    EXPECT_NEAR(*a.r_free, *b.r_free, bound * *b.r_free);
    EXPECT_NEAR(a.power_ratio, b.power_ratio, bound);
  }
  if (edge == Edge::counts) {
    EXPECT_LT(difference<Real>(shared->state().object, share.part_of<Complex>(alone->state().object)), bound);
  }
  EXPECT_LT(difference<Real>(shared->state().probe, alone->state().probe), bound);
  // The whole object, so also where two parts meet.
  const Array whole = share.assembled<Complex>(shared->state().object, 1);
  EXPECT_EQ(whole.empty(), ranks.rank() != 0);
  if (whole.empty()) return;
  // Light falls on a pixel of margin less than the object has.
  const Array& object = alone->state().object;
  EXPECT_LT(edge == Edge::counts ? difference<Real>(whole, object)
                                 : testing::SmallScan::lit_difference<Real>(whole, object, alone->state()),
            bound);
}

// Another order of sums: steps along a gradient keep its rounding of 1e-16 or 1e-7. Between pixels
// the probe's spectrum has to follow; on pixels once for all engines.
TEST(SharedReconstruction, IsThatOfOneProcess) {
  expect_that_of_one_process<float>("gd", 0, 1e-5);
  for (const char* engine : {"gd", "adam", "lsqml", "ml"}) {
    expect_that_of_one_process<double>(engine, 0.25, 1e-13);
    expect_that_of_one_process<float>(engine, 0.25, 1e-5);
  }
}

// Where little light falls, the object is a quotient of small sums: rounding grows a thousandfold in six iterations.
// In single precision that is 3e-4 there, so that a pixel counts by its light: 1.2e-5 is left, a hundred roundings of
// the sums over frames and iterations, and three times that is allowed.
TEST(SharedReconstruction, OfProjectionsIsThatOfOneProcess) {
  for (const char* engine : {"dm", "raar", "ap"}) expect_that_of_one_process<double>(engine, 0.25, 1e-11);
  for (const char* engine : {"dm", "raar"})
    expect_that_of_one_process<float>(engine, 0.25, 4e-5, Edge::counts_by_light);
}

/// Six iterations on all ranks, on all ranks from a checkpoint after three, and by one process from the same
/// checkpoint; and the other way round, on all ranks from a checkpoint of one process.
template <class Real>
void expect_checkpoints_of_any_number(const std::string& engine, double bound) {
  const Ranks ranks = Ranks::world();
  if (ranks.size() > 1) set_thread_count(1);
  SCOPED_TRACE(::testing::Message() << engine << " on " << ranks.size() << " ranks");
  using Complex = std::complex<Real>;
  testing::SmallScan scan(7, 2, 0.25);
  scan.state.object = in_precision<Real>(scan.state.object);
  scan.state.probe = in_precision<Real>(scan.state.probe);
  const Index side = scan.state.object.shape()[1];
  Schedule alone = schedule_of(engine);
  alone.engines[0].most_batch = 16;
  alone.transforms = FftEffort::quick;
  Schedule together = alone;
  together.share = std::make_shared<Share>(ranks, scan.state.placements, Window{16, 16}, side, side);
  const Share& share = *together.share;
  Part part = part_of<Real>(scan, share);
  Measurement own = measured<Real>(part.counts);
  const Measurement all = measured<Real>(scan.counts);
  own.take_mean(all.mean_counts());

  const ::sonde::testing::TemporaryFolder folder;
  const std::string path = share.of_first(folder.file("together.ckpt.h5"));
  const auto to_the_end = [](std::unique_ptr<Reconstruction> run) {
    while (run->outcome().kind == Outcome::Kind::running) run->iterate();
    return run;
  };
  auto whole = Reconstruction::prepare(own, std::move(part.state), {}, together);
  for (int n = 0; n < 3; ++n) whole->iterate();
  if (ranks.rank() == 0) {
    CheckpointWriter writer(path, checkpoint_kind(), 3, "");
    whole->save(writer);
    writer.finish();
  } else {
    whole->help_save();
  }
  whole = to_the_end(std::move(whole));
  ranks.barrier();
  const CheckpointReader written(path, checkpoint_kind());
  const auto resumed = to_the_end(Reconstruction::resume(own, {}, together, written));
  EXPECT_EQ(resumed->history().size(), 6u);
  EXPECT_EQ(difference<Real>(resumed->state().object, whole->state().object), 0);
  EXPECT_EQ(difference<Real>(resumed->state().probe, whole->state().probe), 0);
  EXPECT_EQ(resumed->state().positions, whole->state().positions);
  EXPECT_EQ(resumed->history().back().fit.r_intensity, whole->history().back().fit.r_intensity);

  const auto by_one = to_the_end(Reconstruction::resume(all, {}, alone, written));
  EXPECT_LT(difference<Real>(whole->state().object, share.part_of<Complex>(by_one->state().object)), bound);
  EXPECT_LT(difference<Real>(whole->state().probe, by_one->state().probe), bound);

  auto single = Reconstruction::prepare(all, std::move(scan.state), {}, alone);
  for (int n = 0; n < 3; ++n) single->iterate();
  const std::string mine = folder.file("alone.ckpt.h5");
  CheckpointWriter writer(mine, checkpoint_kind(), 3, "");
  single->save(writer);
  writer.finish();
  const auto shared = to_the_end(Reconstruction::resume(own, {}, together, CheckpointReader(mine, checkpoint_kind())));
  EXPECT_LT(difference<Real>(shared->state().object, whole->state().object), bound);
  ranks.barrier();  // the folder of rank 0 lives as long as somebody reads in it
}

// The bounds of IsThatOfOneProcess and OfProjectionsIsThatOfOneProcess, whose sums these are.
TEST(SharedReconstruction, AnyNumberOfProcessesGoesOnFromACheckpoint) {
  for (const char* engine : {"gd", "adam", "ml"}) expect_checkpoints_of_any_number<double>(engine, 1e-13);
  expect_checkpoints_of_any_number<float>("adam", 1e-5);
  expect_checkpoints_of_any_number<double>("dm", 1e-11);
}

TEST(SharedReconstruction, RefusesByNameWhatCannotBeShared) {
  const auto refused = [](const Schedule& schedule) {
    return ::sonde::testing::error_of(ErrorKind::not_supported, [&] { require_shareable(schedule); });
  };
  for (const char* engine : {"epie", "rpie", "mpie"})
    EXPECT_THAT(refused(schedule_of(engine)), HasSubstr("engine \"" + std::string(engine) + "\" cannot be shared"));
  Schedule schedule = schedule_of("gd");
  schedule.positions.method = PositionMethod::gradient;
  EXPECT_THAT(refused(schedule), HasSubstr("positions cannot be corrected"));
  schedule.positions.method = PositionMethod::none;
  schedule.opr.modes = 1;
  EXPECT_THAT(refused(schedule), HasSubstr("a probe that varies along the scan cannot be found by several"));
  schedule.opr.modes = 0;
  schedule.constraints.push_back(chosen_constraint("tv", Value::object(), "test"));
  EXPECT_THAT(refused(schedule), HasSubstr("constraint \"tv\" cannot be shared"));
}

}  // namespace
}  // namespace sonde::ptycho
