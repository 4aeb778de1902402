// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/run/low_resolution.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <numbers>
#include <string>

#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/ptycho/quality/image.h"
#include "sonde/instruments/ptycho/quality/phase_rmse.h"
#include "sonde/instruments/ptycho/run/job.h"
#include "sonde/instruments/ptycho/run/test_scan.h"
#include "sonde/instruments/ptycho/simulate/forward.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde::ptycho {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::SmallScan;

const std::string low = "[object]\ninit = \"low_resolution\"\n";
const std::string two_of_gd = "[[engine]]\nname = \"gd\"\niterations = 2\n[stop]\nrule = \"off\"\n";

TEST(LowResolution, KeepsTheMiddleOfTheDetector) {
  const Sampling fine = electron_sampling(64, 48, 200, 1.875), coarse = at_low_resolution(fine, 2);
  EXPECT_EQ(coarse.rows, 32);
  EXPECT_EQ(coarse.cols, 24);
  EXPECT_DOUBLE_EQ(coarse.pixel_row(), 2 * fine.pixel_row());
  EXPECT_EQ(at_low_resolution(fine, 3).rows, 24);  // 22 is 2 x 11
  EXPECT_EQ(at_low_resolution(electron_sampling(5, 5, 200, 1), 4).rows, 2);
}

TEST(LowResolution, PlacesAreTheSameOnBothGrids) {
  for (const auto& [window, coarse, object] :
       {std::array<Index, 3>{64, 32, 101}, {75, 40, 90}, {49, 25, 60}, {50, 25, 57}, {63, 32, 64}}) {
    const CoarseAxis axis(window, coarse, object);
    EXPECT_EQ(axis.coarse() * window, axis.fine() * coarse);
    EXPECT_GE(axis.fine(), object + 2 * axis.fine_step);
    // Windows at the very ends of the object, also between pixels, lie inside of the coarse one.
    for (const double fraction : {-0.5, 0.0, 0.499})
      for (const Index begin : {Index{0}, object - window}) {
        const double at = static_cast<double>(begin + window / 2) + fraction;
        const Placement there = place({axis.place(at), axis.place(at)}, {coarse, coarse});
        EXPECT_GE(there.row, 0) << window << " " << begin;
        EXPECT_LE(there.row + coarse, axis.coarse()) << window << " " << begin;
      }
  }
}

/// A phase of a few periods per window, which is the same function on both grids.
double smooth(double row, double col) {
  return 0.3 * std::sin(2 * std::numbers::pi * row / 26) * std::cos(2 * std::numbers::pi * col / 39);
}

/// Patterns of a smooth phase seen by a probe that the middle of the detector holds, to the last digit.
struct Exact {
  static constexpr Index n = 32, object = 52;
  ObjectType type;
  Sampling sampling = electron_sampling(n, n, 200, 2.8125);
  Array counts, truth;

  explicit Exact(ObjectType of = ObjectType::complex) : type(of) {
    truth = Array(Device::cpu(), Shape{1, object, object}, DType::c128);
    for (Index r = 0; r < object; ++r)
      for (Index c = 0; c < object; ++c)
        truth.view<complex128, 3>()(0, r, c) = std::polar(1.0, smooth(static_cast<double>(r), static_cast<double>(c)));
    counts = far_field_intensities(truth, probe(), {}, vacuum(probe()).placements);
  }

  [[nodiscard]] Array probe(double defocus = 120) const {
    ApertureOptics optics;
    optics.semiangle = 0.016;
    optics.aberrations.set("defocus", defocus);
    optics.edge = ApertureEdge::hard;
    Array made = aperture_probe(sampling, optics);
    scale_to_counts(made, 1e5);
    return made;
  }

  [[nodiscard]] State vacuum(const Array& probe) const {
    State state;
    state.type = type;
    state.object = Array(Device::cpu(), truth.shape(), DType::c128);
    std::fill_n(state.object.view<complex128, 3>().data, state.object.count(), complex128(1));
    if (type == ObjectType::potential) state.phase = Array::zeros(Device::cpu(), truth.shape(), DType::f64);
    state.probe = probe.clone();
    for (Index i = 0; i < 64; ++i)
      state.positions.push_back({static_cast<double>(n / 2) + 2.5 * static_cast<double>(i / 8),
                                 static_cast<double>(n / 2) + 2.5 * static_cast<double>(i % 8)});
    state.placements = place_all(state.positions, {n, n});
    return state;
  }

  [[nodiscard]] Measurement measured() const { return {counts, ZeroFrequency::corner, {}, AmplitudeStorage::f64}; }

  [[nodiscard]] LowResolutionStart start(const Array& probe, Index iterations, Index probe_start) const {
    Schedule schedule;
    schedule.holdout = 0.0;
    schedule.probe_start = probe_start;
    return start_at_low_resolution(measured(), vacuum(probe), at_low_resolution(sampling, 2), {}, schedule,
                                   {.factor = 2, .iterations = iterations});
  }

  [[nodiscard]] double rmse(const State& found) const {
    const Box view{12, 12, 24, 24};  // lit by several probes, a few pixels inside of the positions' box and around it
    Array one(Device::cpu(), Shape{object, object}, DType::c128), other = one.clone();
    const Array values = in_double_precision(found.object);
    std::copy_n(values.view<complex128, 3>().data, one.count(), one.view<complex128, 2>().data);
    std::copy_n(truth.view<complex128, 3>().data, other.count(), other.view<complex128, 2>().data);
    return phase_rmse(one, other, view).rmse;
  }
};

// Both grids see one function, and the patterns of the middle are those that a scan with half of the detector measures:
// with the true probe what is found and interpolated is the truth, but for what the specimen scatters out of the middle
// (a hundredth of R_I, 7 mrad of the phase, whose rms is 0.15 rad).
TEST(LowResolution, FindsWhatBothGridsCanTell) {
  for (const ObjectType type : {ObjectType::complex, ObjectType::potential}) {
    const Exact exact(type);
    const Array probe = exact.probe();
    const LowResolutionStart found = exact.start(probe, 40, 1000);
    EXPECT_LT(found.last.fit.r_intensity, 0.015);
    EXPECT_LT(exact.rmse(found.state), 0.1 * exact.rmse(exact.vacuum(probe)));
    EXPECT_EQ(std::memcmp(found.state.probe.data(), probe.data(), probe.allocated_bytes()), 0) << "it was held";
  }
}

TEST(LowResolution, AProbeThatIsFoundWithTheObjectGoesOnWithIt) {
  const Exact exact;
  const Array believed = exact.probe(105);
  const LowResolutionStart found = exact.start(believed, 20, 2);
  EXPECT_NEAR(power(found.state.probe), 1e5, 1e-6 * 1e5);
  const Measurement measurement = exact.measured();
  const auto first_error = [&](const Array& probe) {
    State state = exact.vacuum(probe);
    state.object = found.state.object.clone();
    Schedule schedule;
    schedule.engines.push_back({"gd", 1, engine_kind("gd").setup()});
    schedule.holdout = 0.0;
    return Reconstruction::prepare(measurement, std::move(state), {}, schedule)->iterate().fit.r_intensity;
  };
  // This smooth object says little about the probe: 0.0285 after 20 iterations, 0.0312 with the probe of before.
  EXPECT_LT(first_error(found.state.probe), 0.95 * first_error(believed));
}

/// The rms of the phase, aligned with the truth, over the field of view.
double phase_error(const Job& job, const State& state, const SmallScan& scan) {
  const ObjectExtent& extent = job.plan().extent;
  const Box view = field_of_view(state.positions);
  const Array& truth = scan.truth().object;
  const auto down = static_cast<Index>(-extent.offset.row), right = static_cast<Index>(-extent.offset.col);
  Array here(Device::cpu(), Shape{extent.rows, extent.cols}, DType::c128), there = here.clone();
  const Array found = in_double_precision(state.object);
  for (Index r = 0; r < extent.rows; ++r)
    for (Index c = 0; c < extent.cols; ++c) {
      here.view<complex128, 2>()(r, c) = found.view<complex128, 3>()(0, r, c);
      there.view<complex128, 2>()(r, c) = truth.view<complex128, 3>()(0, r + down, c + right);
    }
  return phase_rmse(here, there, view).rmse;
}

TEST(LowResolution, ARunBeginsNearerToTheTruth) {
  const SmallScan plain(1e6, two_of_gd), coarse(1e6, two_of_gd + low);
  Job from_ones(plain.run, plain.source, plan_job(plain.run, plain.source));
  Job from_coarse(coarse.run, coarse.source, plan_job(coarse.run, coarse.source));
  EXPECT_THAT(from_coarse.notes(),
              ::testing::Contains(HasSubstr("20 iterations of gd on the middle 16 x 16 of 32 x 32")));
  const auto error = [&](Job& job) { return phase_error(job, job.reconstruction().state(), plain); };
  const double ones = error(from_ones), start = error(from_coarse);
  EXPECT_LT(start, 0.6 * ones);
  const double r_ones = from_ones.reconstruction().iterate().fit.r_intensity;
  EXPECT_LT(from_coarse.reconstruction().iterate().fit.r_intensity, 0.6 * r_ones);
}

TEST(LowResolution, HasTheSameBitsOnAnyNumberOfThreads) {
  const int before = thread_count();
  const auto start = [&](int threads) {
    set_thread_count(threads);
    const SmallScan scan(1e4, two_of_gd + low + "[low_resolution]\niterations = 3\n");
    Job job(scan.run, scan.source, plan_job(scan.run, scan.source));
    return job.reconstruction().state().object.clone();
  };
  const Array one = start(1), two = start(2);
  set_thread_count(before);
  EXPECT_EQ(std::memcmp(one.data(), two.data(), one.allocated_bytes()), 0);
}

// What a half of the data begins with must not know the other half.
TEST(LowResolution, FramesThatAreLeftOutChangeNothing) {
  const std::string settings = two_of_gd + low + "[low_resolution]\niterations = 2\n";
  SmallScan scan(1e4, settings), changed(1e4, settings);
  // Transposed: all counts of the whole and of its middle stay.
  changed.source.read_patterns = [read = changed.source.read_patterns] {
    Array counts = read();
    const auto frame = counts.view<std::uint32_t, 3>()[7];
    for (Index r = 0; r < 32; ++r)
      for (Index c = 0; c < r; ++c) std::swap(frame(r, c), frame(c, r));
    return counts;
  };
  const auto start = [](const SmallScan& each) {
    const Job job(each.run, each.source, plan_job(each.run, each.source));
    Schedule schedule = job.schedule();
    schedule.skip = {7};
    return job.another(each.run, schedule)->state().object.clone();
  };
  const Array one = start(scan), two = start(changed);
  EXPECT_EQ(std::memcmp(one.data(), two.data(), one.allocated_bytes()), 0);
}

TEST(LowResolution, ARunThatGoesOnDoesNotBeginAgain) {
  const sonde::testing::TemporaryFolder folder;
  const SmallScan scan(1e4, two_of_gd + low + "[low_resolution]\niterations = 2\n");
  Job job(scan.run, scan.source, plan_job(scan.run, scan.source));
  (void)job.reconstruction().iterate();
  CheckpointWriter writer(folder.file("run.ckpt.h5"), checkpoint_kind(), 1, scan.run.text());
  job.reconstruction().save(writer);
  writer.finish();
  const CheckpointReader reader(folder.file("run.ckpt.h5"), checkpoint_kind());
  Job resumed(scan.run, scan.source, plan_job(scan.run, scan.source), &reader);
  EXPECT_THAT(resumed.notes(), ::testing::Not(::testing::Contains(HasSubstr("first object"))));
  (void)job.reconstruction().iterate();
  (void)resumed.reconstruction().iterate();
  const Array &one = job.reconstruction().state().object, &two = resumed.reconstruction().state().object;
  EXPECT_EQ(std::memcmp(one.data(), two.data(), one.allocated_bytes()), 0);
}

TEST(LowResolution, AProbeThatTheMiddleCannotHoldIsRefused) {
  const SmallScan scan(1e4, two_of_gd + low + "[low_resolution]\nfactor = 4\n");
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input,
                                       [&] { Job(scan.run, scan.source, plan_job(scan.run, scan.source)); }),
              AllOf(HasSubstr("the middle 8 x 8 of 32 x 32 detector pixels holds"),
                    HasSubstr("a smaller low_resolution.factor"), HasSubstr("starting at low resolution")));
}

TEST(LowResolution, IsInTheMemoryPlan) {
  const SmallScan plain(1e4, two_of_gd), coarse(1e4, two_of_gd + low);
  const JobPlan without = plan_job(plain.run, plain.source), with = plan_job(coarse.run, coarse.source);
  ASSERT_EQ(with.sizes.before.size(), 1u);
  EXPECT_EQ(with.sizes.before[0].rows, 16);
  EXPECT_EQ(with.memory.lines.back().what, "low resolution");
  EXPECT_EQ(with.memory.lines.back().bytes, plan_memory(with.sizes.before[0]).peak_bytes);
  EXPECT_GE(with.memory.peak_bytes, without.memory.peak_bytes);
}

}  // namespace
}  // namespace sonde::ptycho
