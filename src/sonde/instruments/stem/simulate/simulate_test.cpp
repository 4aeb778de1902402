// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/simulate/simulate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <set>
#include <utility>
#include <vector>

#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/io/codec/bitshuffle.h"
#include "sonde/engine/io/hdf5.h"
#include "sonde/engine/options/fields.h"
#include "sonde/instruments/stem/read/acquisition.h"
#include "sonde/instruments/stem/simulate/expectation.h"
#include "sonde/instruments/stem/simulate/frames.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde::stem {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

SimulateOptions small(const std::string& output) {
  SimulateOptions options;
  options.output = output;
  options.scan_shape = "6,5";
  options.detector_shape = "24,32";
  options.disk_radius = 3;
  options.halo_length = 5;
  options.frames_per_file = 12;
  options.seed = 9;
  return options;
}

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.insert(entry.path().filename());
  return {names.begin(), names.end()};
}

class SimulatedFiles : public ::testing::Test {
 protected:
  sonde::testing::TemporaryFolder folder_;
  SimulateOptions options_ = small(folder_.file("scan_master.h5"));
};

TEST_F(SimulatedFiles, AreAnAcquisitionAndItsTruth) {
  const Simulated result = simulate(options_);
  EXPECT_THAT(names_in(folder_.path()), ElementsAre("scan.h5", "scan_data_000001.h5", "scan_data_000002.h5",
                                                    "scan_data_000003.h5", "scan_master.h5", "scan_truth.h5"));
  EXPECT_EQ(result.frames, 30);
  EXPECT_EQ(result.files.front(), options_.output);
  EXPECT_EQ(result.files.back(), folder_.file("scan_truth.h5"));
  EXPECT_NEAR(result.counts_per_frame, 24 * 32, 60);  // ten standard errors, and what the halos lose
}

TEST_F(SimulatedFiles, HoldTheFramesOfTheModel) {
  simulate(options_);
  const Array frames = simulate_frames(model_of(options_), 9, 13, 1, DType::u16);
  const auto data = Hdf5File::open(folder_.file("scan_data_000002.h5")).dataset("/entry/data/data");
  std::vector<std::byte> chunk(data.chunk_bytes({1, 0, 0})), decoded(24 * 32 * 2);
  data.read_chunk({1, 0, 0}, chunk);
  BitshuffleScratch scratch;
  decode_bitshuffle(chunk, {.element_bytes = 2}, scratch, decoded);
  EXPECT_EQ(std::memcmp(decoded.data(), frames.data(), decoded.size()), 0);
}

TEST_F(SimulatedFiles, TheMaskMarksTheSentinelsAndNotTheHotPixels) {
  simulate(options_);
  const Array mask =
      Hdf5File::open(options_.output).dataset("/entry/instrument/detector/detectorSpecific/pixel_mask").read();
  const Array frame = simulate_frames(model_of(options_), 9, 0, 1, DType::u16);
  int marked = 0;
  for (Index row = 0; row < 24; ++row) {
    for (Index col = 0; col < 32; ++col) {
      const bool bad = mask_bit::is_bad((mask.view<std::uint32_t, 2>()(row, col)));
      marked += bad ? 1 : 0;
      EXPECT_EQ(bad, (frame.view<std::uint16_t, 3>()(0, row, col)) == 65535) << row << " " << col;
    }
  }
  EXPECT_EQ(marked, 4);
}

TEST_F(SimulatedFiles, TheTruthGivesBackTheModel) {
  options_.centre = "11.25,16.5";
  simulate(options_);
  SimulateOptions again = read_truth(folder_.file("scan_truth.h5"));
  EXPECT_EQ(Fields(again).echo(), Fields(options_).echo());
}

TEST_F(SimulatedFiles, TheTruthHoldsTheExpectedImages) {
  simulate(options_);
  const Model model = model_of(options_);
  std::vector<Index> disk;
  for (Index row = 0; row < 24; ++row)
    for (Index col = 0; col < 32; ++col)
      if (std::hypot(static_cast<double>(row) - 11.87, static_cast<double>(col) - 14.88) < 3)
        disk.push_back(row * 32 + col);
  const std::vector<Mask> masks = {make_mask(24, 32, disk)};
  const Expectation expected = expect(model, masks);
  const Hdf5File file = Hdf5File::open(folder_.file("scan_truth.h5"));
  const Array image = file.dataset("/images/bf").read();
  ASSERT_EQ(image.shape(), (Shape{6, 5}));
  EXPECT_EQ((image.view<double, 2>()(4, 3)), (expected.images.view<double, 2>()(0, 23)));
  EXPECT_EQ((file.dataset("/moment_col").read().view<double, 2>()(2, 1)), (expected.moment_col.view<double, 1>()(11)));
  const Array beam = file.dataset("/beam").read();
  EXPECT_EQ((beam.view<double, 3>()(4, 3, 1)), 14.88 + model.beam(23).shift_col);
}

TEST_F(SimulatedFiles, AreTheSameAgain) {
  simulate(options_);
  const auto first = sonde::testing::read_bytes(folder_.file("scan_data_000003.h5"));
  simulate(options_);
  EXPECT_EQ(sonde::testing::read_bytes(folder_.file("scan_data_000003.h5")), first);
}

TEST_F(SimulatedFiles, NothingStaysBehindAnInterrupt) {
  request_interrupt(2);
  (void)sonde::testing::error_of(ErrorKind::interrupted, [&] { simulate(options_); });
  clear_interrupt();
  EXPECT_THAT(names_in(folder_.path()), IsEmpty());
}

TEST_F(SimulatedFiles, NeedAMastersName) {
  options_.output = folder_.file("scan.h5");
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::usage, [&] { simulate(options_); }),
              HasSubstr("give a name that ends in _master.h5"));
}

TEST_F(SimulatedFiles, NeedAFolder) {
  options_.output = folder_.file("missing/scan_master.h5");
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::io, [&] { simulate(options_); }), HasSubstr("missing/scan"));
}

TEST(SimulationPlan, CountsFramesAndFiles) {
  const SimulationPlan plan = plan_simulation(small("scan_master.h5"), Budget(std::size_t{1} << 30, "test"));
  EXPECT_EQ(plan.frames, 30);
  EXPECT_EQ(plan.frame_bytes, 24u * 32 * 2);
  EXPECT_EQ(plan.data_files, 3);  // 12 + 12 + 6
  EXPECT_EQ(plan.batch.value, 30);
}

TEST(SimulationPlan, TakesFewerFramesAtATimeInLessMemory) {
  SimulateOptions options = small("scan_master.h5");
  options.scan_shape = "100,100";
  options.detector_shape = "256,256";
  options.truth = false;
  const Index roomy = plan_simulation(options, Budget(std::size_t{16} << 30, "test")).batch.value;
  EXPECT_EQ(roomy, 256);  // 32 MiB of 128 KiB
  // Scratch is that of every thread: room for it and for ten frames, as they are and packed.
  const std::size_t least = [&] {
    options.scan_shape = "1,1";
    const std::size_t one = plan_simulation(options, Budget(std::size_t{16} << 30, "test")).memory.peak_bytes;
    options.scan_shape = "100,100";
    return one;
  }();
  const SimulationPlan tight = plan_simulation(options, Budget(least + 9 * 2 * 140000, "test"));
  EXPECT_GE(tight.batch.value, 9);
  EXPECT_LE(tight.batch.value, 11);
  EXPECT_LE(tight.memory.peak_bytes, least + 9 * 2 * 140000);
}

TEST(SimulationPlan, TooLittleMemoryIsAnErrorBeforeAnyWork) {
  const sonde::testing::TemporaryFolder folder;
  SimulateOptions options = small(folder.file("scan_master.h5"));
  options.scan_shape = "1000,1000";  // the truth has 16 doubles per position
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::budget,
                                       [&] { simulate(options, Budget(std::size_t{100} << 20, "--memory")); }),
              HasSubstr("leave out the expected values with --no-truth"));
  EXPECT_THAT(names_in(folder.path()), IsEmpty());
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::budget, [&] { simulate(options, Budget(1000, "--memory")); }),
              HasSubstr("hint: raise --memory"));
}

TEST_F(SimulatedFiles, AreAsLargeAsTheSampleSays) {
  options_.detector_shape = "128,128";
  options_.frames_per_file = 1100;
  options_.scan_shape = "32,32";  // the sample is one frame of every row; the files' own structure takes a hundredth
  EXPECT_NEAR(sample_compression(options_) / simulate(options_).ratio, 1, 0.05);
}

TEST(SimulateOptions, ShapesAreTwoNumbers) {
  SimulateOptions options;
  options.scan_shape = "12x12";
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::usage, [&] { (void)model_of(options); }),
              HasSubstr("scan shape \"12x12\", expected two numbers with a comma between"));
}

TEST(SimulateOptions, ShapesWhoseProductsOverflowAreRefused) {
  for (const char* shape : {"4294967296,4294967296", "9223372036854775807,2", "3037000500,3037000500", "0,4", "-1,4"}) {
    SCOPED_TRACE(shape);
    SimulateOptions scan, detector;
    scan.scan_shape = detector.detector_shape = shape;
    EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input, [&] { (void)model_of(scan); }),
                HasSubstr(std::string("scan shape ") + shape + "; expected 1 to 1000000 in each direction"));
    EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input, [&] { (void)model_of(detector); }),
                HasSubstr(std::string("detector shape ") + shape + "; expected 1 to 65536 in each direction"));
  }
}

TEST(SimulateOptions, BadPixelsMustLeaveGoodOnes) {
  SimulateOptions options;
  options.detector_shape = "8,8";
  options.masked_pixels = 30;
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input, [&] { (void)model_of(options); }),
              HasSubstr("30 masked and 2 hot pixels on a detector of 8 x 8"));
}

TEST(SimulateOptions, BadPixelsAreDistinct) {
  SimulateOptions options;
  options.detector_shape = "16,16";
  options.masked_pixels = 60;
  const Model model = model_of(options);
  std::set<std::pair<Index, Index>> places;
  for (const Defect& defect : model.defects()) places.emplace(defect.row, defect.col);
  EXPECT_EQ(places.size(), 62u);
}

TEST(ReadTruth, OtherFilesAreRefused) {
  const sonde::testing::TemporaryFolder folder;
  SimulateOptions options = small(folder.file("scan_master.h5"));
  options.truth = false;
  simulate(options);
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_file, [&] { (void)read_truth(options.output); }),
              HasSubstr("not the truth of a simulated scan"));
}

}  // namespace
}  // namespace sonde::stem
