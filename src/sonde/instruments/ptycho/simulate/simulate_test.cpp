// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/simulate/simulate.h"

#include <cmath>
#include <cstring>
#include <filesystem>
#include <numeric>

#include "sonde/engine/device/parallel.h"
#include "sonde/engine/io/hdf5.h"
#include "sonde/engine/options/fields.h"
#include "sonde/engine/report/json.h"
#include "sonde/instruments/ptycho/optics/fourier.h"
#include "sonde/instruments/ptycho/optics/probe.h"
#include "sonde/instruments/ptycho/scan/probe_support.h"
#include "sonde/instruments/ptycho/simulate/forward.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde::ptycho {
namespace {

using sonde::testing::error_of;
using sonde::testing::TemporaryFolder;
using ::testing::HasSubstr;

SimulateOptions small() {
  SimulateOptions options;
  options.detector_px = 32;
  options.scan_shape = "4,5";
  options.scan_step_A = 0.8;
  options.jitter_A = 0.1;
  options.counts_per_frame = 5000;
  options.dead_pixels = 7;
  return options;
}

TEST(Truth, HasEveryWindowInsideTheObject) {
  SimulateOptions options = small();
  options.scan_rotation_deg = 25;
  options.drift_A = "1.5,-2";
  options.scan_scale = 1.05;
  const Truth truth = truth_of(options);
  ASSERT_EQ(truth.positions_px.size(), 20u);
  EXPECT_NO_THROW(require_inside(place_all(truth.positions_px, truth.window()), truth.window(), truth.object.shape()[1],
                                 truth.object.shape()[2]));
  EXPECT_NEAR(power(truth.probe), 5000, 1e-8);
}

TEST(Truth, SamplesTheDetectorFromSideToSide) {
  const Truth truth = truth_of(small());
  // 120 mrad across 32 pixels at 200 keV.
  EXPECT_NEAR(truth.sampling.pixel_row(), 0.02507934 / 0.12, 1e-7);
}

TEST(Truth, MayLieOnWholePixels) {
  SimulateOptions options = small();
  options.whole_pixels = true;
  const Truth truth = truth_of(options);
  for (const Point& point : truth.positions_px) {
    EXPECT_EQ(point.row, std::round(point.row));
    EXPECT_EQ(point.col, std::round(point.col));
  }
}

TEST(Truth, DefaultsOverlapAsTheyShould) {
  const SimulateOptions options;
  const Truth truth = truth_of(options);
  const double overlap = linear_overlap(options.scan_step_A, probe_diameter(truth.probe, truth.sampling));
  EXPECT_GT(overlap, 0.6);
  EXPECT_LT(overlap, 0.97);
}

TEST(Truth, TheOperatorsProbeHasTheWrongDefocusAndTheRightPower) {
  SimulateOptions options = small();
  options.defocus_error = 0.2;
  options.occupancies = "0.8,0.2";
  options.C12_A = 20;
  const Truth truth = truth_of(options);
  SimulateOptions wrong = options;
  wrong.defocus_A = 120;  // four fifths of 150
  wrong.occupancies = "1";
  const Truth other = truth_of(wrong);
  ASSERT_EQ(truth.start_probe.shape(), other.probe.shape());
  for (Index i = 0; i < other.probe.count(); ++i)
    // Rounding of values of order one.
    ASSERT_NEAR(std::abs(static_cast<const complex128*>(truth.start_probe.data())[i] -
                         static_cast<const complex128*>(other.probe.data())[i]),
                0, 1e-12);
}

TEST(Truth, LayersDiffer) {
  SimulateOptions options = small();
  options.layers = 2;
  const Truth truth = truth_of(options);
  EXPECT_EQ(truth.object.shape()[0], 2);
  EXPECT_EQ(truth.propagators.shape(), (Shape{1, 32, 32}));
  const auto phase = truth.phase.view<double, 3>();
  double difference = 0, first = 0;
  for (Index i = 0; i < phase[0].count(); ++i) {
    difference += std::pow(phase[0].data[i] - phase[1].data[i], 2);
    first += std::pow(phase[0].data[i], 2);
  }
  EXPECT_GT(difference, 0.3 * first);
}

TEST(Truth, LayersHaveTheirOwnDistancesAndATilt) {
  SimulateOptions options = small();
  options.layers = 3;
  options.layer_distance_A = "40,75";
  options.tilt_row_mrad = 12;
  const Truth truth = truth_of(options);
  EXPECT_EQ(truth.layer_distances, (std::vector<double>{40, 75}));
  const Array expected = slice_propagators(truth.sampling, truth.layer_distances, {.tilt_row = 0.012});
  EXPECT_EQ(std::memcmp(truth.propagators.data(), expected.data(), expected.allocated_bytes()), 0);
  options.layer_distance_A = "40,75,90";
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)truth_of(options); }), HasSubstr("3 layers have 2 distances"));
  options.layer_distance_A = "-3";
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)truth_of(options); }), HasSubstr("layers -3 A apart"));
}

TEST(Truth, SeveralPositionsNeedAStep) {
  SimulateOptions options = small();
  options.scan_step_A = 0;
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)truth_of(options); }),
              HasSubstr("positions are in one place"));
  options.scan_shape = "1,1";
  EXPECT_EQ(truth_of(options).positions_px.size(), 1u);
}

TEST(Truth, RefusesTextsThatAreNoNumbers) {
  SimulateOptions options = small();
  options.scan_shape = "4x5";
  EXPECT_THAT(error_of(ErrorKind::usage, [&] { (void)truth_of(options); }), HasSubstr("scan_shape \"4x5\""));
  options = small();
  options.occupancies = "0.7,,0.3";
  error_of(ErrorKind::usage, [&] { (void)truth_of(options); });
  options = small();
  options.scan_shape = "0,5";
  error_of(ErrorKind::bad_input, [&] { (void)truth_of(options); });
  options = small();
  options.dead_pixels = 600;
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)truth_of(options); }), HasSubstr("600 dead pixels"));
  options = small();
  options.semiangle_mrad = 90;
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)truth_of(options); }), HasSubstr("reaches to 60 mrad"));
}

TEST(DrawFrames, CountsFollowTheForwardModel) {
  SimulateOptions options = small();
  options.occupancies = "0.8,0.2";
  options.layers = 2;
  const Truth truth = truth_of(options);
  const Array frames = draw_frames(truth, 9, 0, 20, DType::u32);
  const Array expected = corner_to_centre(far_field_intensities(truth.object, truth.probe, truth.propagators,
                                                                place_all(truth.positions_px, truth.window())));
  double chi_square = 0;
  Index counted = 0;
  for (Index i = 0; i < expected.count(); ++i) {
    const double mean = static_cast<const double*>(expected.data())[i];
    const double count = static_cast<const std::uint32_t*>(frames.data())[i];
    if (truth.good[static_cast<std::size_t>(i % 1024)] == 0) {
      ASSERT_EQ(count, 0);
    } else if (mean > 1) {
      chi_square += (count - mean) * (count - mean) / mean;
      ++counted;
    }
  }
  ASSERT_GT(counted, 2000);
  // Variance of the reduced chi square of Poisson counts above one: at most 3 / n; four standard errors.
  EXPECT_NEAR(chi_square / static_cast<double>(counted), 1, 4 * std::sqrt(3.0 / static_cast<double>(counted)));
}

TEST(DrawFrames, AnyPatternIsTheSameAloneOnAnyNumberOfThreads) {
  const Truth truth = truth_of(small());
  const Array all = draw_frames(truth, 9, 0, 20, DType::u16);
  const int threads = thread_count();
  set_thread_count(1);
  const Array some = draw_frames(truth, 9, 13, 15, DType::u16);
  set_thread_count(threads);
  for (Index i = 0; i < some.count(); ++i)
    ASSERT_EQ(static_cast<const std::uint16_t*>(some.data())[i],
              static_cast<const std::uint16_t*>(all.data())[13 * 1024 + i]);
}

TEST(DrawFrames, NothingIsClipped) {
  SimulateOptions options = small();
  options.counts_per_frame = 1e8;
  const Truth truth = truth_of(options);
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)draw_frames(truth, 1, 0, 1, DType::u16); }),
              HasSubstr("16 bits cannot hold"));
  EXPECT_NO_THROW((void)draw_frames(truth, 1, 0, 1, DType::u32));
}

TEST(Simulate, WritesTheScanAndItsTruth) {
  const TemporaryFolder folder;
  SimulateOptions options = small();
  options.output = folder.file("scan.h5");
  const Simulated simulated = simulate(options);
  EXPECT_EQ(simulated.frames, 20);
  // 20 patterns of 5000 with seven dead pixels of 1024: Poisson error 0.3 %, the dead ones at most a few percent.
  EXPECT_NEAR(simulated.counts_per_frame, 5000, 250);

  const Truth truth = truth_of(options);
  const Hdf5File file = Hdf5File::open(options.output);
  const Array data = file.dataset("/data").read();
  ASSERT_EQ(data.shape(), (Shape{4, 5, 32, 32}));
  const Array frames = draw_frames(truth, 1, 0, 20, DType::u16);
  for (Index i = 0; i < frames.count(); ++i)
    ASSERT_EQ(static_cast<const std::uint16_t*>(data.data())[i], static_cast<const std::uint16_t*>(frames.data())[i]);

  const Array mask = file.dataset("/mask").read();
  EXPECT_EQ(std::accumulate(static_cast<const std::uint8_t*>(mask.data()),
                            static_cast<const std::uint8_t*>(mask.data()) + 1024, 0),
            1024 - 7);
  EXPECT_EQ(file.dataset("/truth/object_phase").info().shape, truth.phase.shape());
  EXPECT_EQ(file.dataset("/truth/probe").info().dtype, DType::c128);
  EXPECT_EQ(file.dataset("/probe").info().shape, (Shape{1, 32, 32}));
  EXPECT_EQ(file.attribute("/", "schema")->text(), "sonde.ptycho.scan/1");
  const Array positions = file.dataset("/truth/positions_px").read();
  EXPECT_EQ((positions.view<double, 2>()(7, 1)), truth.positions_px[7].col);
  EXPECT_EQ(file.dataset("/positions_A").info().shape, (Shape{20, 2}));
  EXPECT_EQ(file.attribute("/data", "energy_keV")->number(), 200);
  EXPECT_NEAR(*file.attribute("/data", "detector_mrad_per_px")->number(), 3.75, 1e-12);
}

TEST(Simulate, IsRepeatedFromTheParametersInTheFile) {
  const TemporaryFolder folder;
  SimulateOptions options = small();
  options.output = folder.file("scan.h5");
  (void)simulate(options);
  const std::string text = *Hdf5File::open(options.output).value("/truth/parameters")->text();
  auto again = options_from<SimulateOptions>(parse_json(text, "parameters"), "parameters");
  again.output = folder.file("again.h5");
  (void)simulate(again);
  const Array first = Hdf5File::open(options.output).dataset("/data").read();
  const Array second = Hdf5File::open(again.output).dataset("/data").read();
  for (Index i = 0; i < first.count(); ++i)
    ASSERT_EQ(static_cast<const std::uint16_t*>(first.data())[i], static_cast<const std::uint16_t*>(second.data())[i]);
}

TEST(Simulate, LeavesNothingBehindWhenItFails) {
  const TemporaryFolder folder;
  SimulateOptions options = small();
  options.output = folder.file("scan.h5");
  options.counts_per_frame = 1e8;
  error_of(ErrorKind::bad_input, [&] { (void)simulate(options); });
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Simulate, KeepsToItsBudget) {
  const TemporaryFolder folder;
  SimulateOptions options = small();
  options.output = folder.file("scan.h5");
  EXPECT_THAT(error_of(ErrorKind::budget, [&] { (void)simulate(options, Budget(100000, "a test")); }),
              HasSubstr("simulating"));
}

}  // namespace
}  // namespace sonde::ptycho
