// SPDX-License-Identifier: Apache-2.0
// Every way to an image against one plain loop.
#include "sonde/instruments/stem/image/imager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "sonde/instruments/stem/image/expression.h"
#include "sonde/instruments/stem/image/sample_set.h"
#include "sonde/instruments/stem/image/test_scan.h"
#include "tests/support/devices.h"
#include "tests/support/errors.h"

namespace sonde::stem {
namespace {

using ::testing::HasSubstr;
using testing::host_elements;
using testing::random_mask;
using testing::random_scan;
using testing::TestScan;
class ImagerOnEach : public sonde::testing::EachDevice {};

/// A scan with bad pixels (which hold zeros, as loading leaves them), resident in both layouts, with its totals.
template <class T>
struct Resident {
  TestScan<T> scan;
  std::vector<std::uint8_t> good;
  Array planes, frames, total;

  Resident(Stream& stream, Index positions, Index rows, Index cols, unsigned seed)
      : scan(random_scan<T>(positions, rows, cols, seed)), good(static_cast<std::size_t>(rows * cols), 1) {
    std::mt19937 random(seed);
    for (int i = 0; i < 5; ++i) good[random() % good.size()] = 0;
    std::vector<Index> pixels;
    for (Index pixel = 0; pixel < rows * cols; ++pixel) {
      if (good[static_cast<std::size_t>(pixel)] != 0)
        pixels.push_back(pixel);
      else
        for (Index position = 0; position < positions; ++position)
          scan.counts[static_cast<std::size_t>(position * rows * cols + pixel)] = 0;
    }
    planes = scan.planes(stream);
    frames = scan.frames(stream);
    total = Array::from(scan.image(make_mask(rows, cols, pixels)), {positions}).copy_to(stream.device(), stream);
  }
  [[nodiscard]] ImagerSources sources(bool pixel_major) const {
    return {scan.rows, scan.cols, pixel_major ? &planes : nullptr, pixel_major ? nullptr : &frames, &total, good};
  }
};

DetectorGeometry geometry(const std::vector<std::uint8_t>& good, Index rows, Index cols) {
  return {rows, cols, {}, {}, {}, good};
}

template <class T>
void expect_thousand_moves(Device device, bool pixel_major, bool with_prefix) {
  Stream stream(device);
  const Resident<T> resident(stream, 37, 20, 23, 11);
  VirtualImager imager(resident.sources(pixel_major));
  if (with_prefix) imager.build_prefix(stream, 9.6, 11.2);
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> jump(-1.5, 1.5), place(0, 20), radius(0, 12);
  double row = 10, col = 11, r_in = 0, r_out = 4;
  std::map<ImagePath, int> seen;
  for (int move = 0; move < 1000; ++move) {
    row += jump(random);
    col += jump(random);
    if (move % 20 == 0) {  // somewhere else, another size
      row = move % 40 == 0 ? place(random) : 9.6;
      col = move % 40 == 0 ? place(random) : 11.2;
      r_in = radius(random);
      r_out = r_in + radius(random);
    }
    std::vector<Index> pixels;
    for (Index pixel = 0; pixel < 20 * 23; ++pixel) {
      const double d = distance(static_cast<double>(pixel / 23) - row, static_cast<double>(pixel % 23) - col);
      if (d >= r_in && d < r_out) pixels.push_back(pixel);
    }
    const Mask mask = make_mask(20, 23, pixels);
    const VirtualImage image = imager.compute(stream, mask);
    ++seen[image.path];
    ASSERT_EQ(host_elements<std::uint64_t>(*image.image), resident.scan.image(mask))
        << "move " << move << ", " << name(image.path) << ": " << image.because;
  }
  EXPECT_GT(seen[ImagePath::incremental], 100);
  EXPECT_GT(
      seen[pixel_major ? ImagePath::sparse : ImagePath::dense] + seen[ImagePath::complement] + seen[ImagePath::prefix],
      10);
  if (with_prefix) {
    EXPECT_GT(seen[ImagePath::prefix], 5);
  }
}

TEST_P(ImagerOnEach, ThousandMovesStayExactOnPlanesOfBytes) {
  expect_thousand_moves<std::uint8_t>(device(), true, false);
}
TEST_P(ImagerOnEach, ThousandMovesStayExactOnPlanesOfU16WithPrefix) {
  expect_thousand_moves<std::uint16_t>(device(), true, true);
}
TEST_P(ImagerOnEach, ThousandMovesStayExactOnFramesOfU32) {
  expect_thousand_moves<std::uint32_t>(device(), false, false);
}

TEST_P(ImagerOnEach, SegmentsAddUpToTheTotal) {
  Stream stream(device());
  const Resident<std::uint16_t> resident(stream, 50, 16, 18, 12);
  VirtualImager imager(resident.sources(true));
  std::vector<std::uint64_t> sum(50, 0);
  for (int k = 0; k < 5; ++k) {
    const std::string text = "segment(7.2,8.9,0,99," + std::to_string(k) + ",5)";
    const VirtualImage piece = imager.compute(stream, detector_mask(text, geometry(resident.good, 16, 18)));
    const auto counts = host_elements<std::uint64_t>(*piece.image);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += counts[i];
  }
  EXPECT_EQ(sum, host_elements<std::uint64_t>(resident.total));
}

TEST_P(ImagerOnEach, LargeMasksComeFromTheTotal) {
  Stream stream(device());
  const Resident<std::uint8_t> resident(stream, 40, 16, 18, 13);
  VirtualImager imager(resident.sources(true));
  const Mask mask = detector_mask("all - rect(2,2,5,5)", geometry(resident.good, 16, 18));
  const VirtualImage image = imager.compute(stream, mask);
  EXPECT_EQ(image.path, ImagePath::complement);
  EXPECT_LE(image.pixels_read, 9);
  EXPECT_EQ(host_elements<std::uint64_t>(*image.image), resident.scan.image(mask));
}

TEST(VirtualImager, WithoutTotalsLargeMasksAreReadInFull) {
  Stream stream;
  const Resident<std::uint8_t> resident(stream, 40, 16, 18, 13);
  ImagerSources sources = resident.sources(true);
  sources.total = nullptr;
  VirtualImager imager(sources);
  const VirtualImage image = imager.compute(stream, random_mask(16, 18, 1.0, 1));
  EXPECT_EQ(image.path, ImagePath::sparse);
  EXPECT_EQ(image.pixels_read, image.area);
}

TEST(VirtualImager, MovingADiskReadsItsEdgeOnly) {
  Stream stream;
  const Resident<std::uint8_t> resident(stream, 300, 48, 48, 14);
  VirtualImager imager(resident.sources(true));
  (void)imager.compute(stream, detector_mask("circle(20,20,10)", geometry({}, 48, 48)));
  const VirtualImage image = imager.compute(stream, detector_mask("circle(20,21,10)", geometry({}, 48, 48)));
  EXPECT_EQ(image.path, ImagePath::incremental);
  EXPECT_NEAR(static_cast<double>(image.pixels_read), 40, 6);  // about 4 r
}

TEST(VirtualImager, TheSameMaskAgainReadsNothing) {
  Stream stream;
  const Resident<std::uint8_t> resident(stream, 30, 16, 18, 15);
  VirtualImager imager(resident.sources(true));
  const Mask mask = random_mask(16, 18, 0.3, 2);
  const VirtualImage first = imager.compute(stream, mask);
  const VirtualImage second = imager.compute(stream, mask);
  EXPECT_EQ(second.pixels_read, 0);
  EXPECT_EQ(second.image, first.image);
}

TEST(VirtualImager, ResetForgetsEarlierImages) {
  Stream stream;
  const Resident<std::uint8_t> resident(stream, 300, 48, 48, 16);
  VirtualImager imager(resident.sources(true));
  const Mask mask = detector_mask("circle(20,20,10)", geometry({}, 48, 48));
  (void)imager.compute(stream, mask);
  imager.reset();
  EXPECT_EQ(imager.compute(stream, mask).path, ImagePath::sparse);
}

TEST(VirtualImager, ImagesInUseAreNeverWrittenOver) {
  Stream stream;
  const Resident<std::uint16_t> resident(stream, 30, 16, 18, 17);
  VirtualImager imager(resident.sources(true));
  std::vector<Mask> masks;
  std::vector<VirtualImage> images;
  for (unsigned i = 0; i < 3 * VirtualImager::history_length; ++i) {
    masks.push_back(random_mask(16, 18, 0.2, 100 + i));
    images.push_back(imager.compute(stream, masks.back()));
  }
  for (std::size_t i = 0; i < masks.size(); ++i)
    EXPECT_EQ(host_elements<std::uint64_t>(*images[i].image), resident.scan.image(masks[i]));
}

TEST_P(ImagerOnEach, WeightedMasksGiveTheSameFromBothLayouts) {
  Stream stream(device());
  const Resident<std::uint16_t> resident(stream, 30, 16, 18, 18);
  const Mask mask = detector_mask("circle(8.1,8.3,5)", geometry(resident.good, 16, 18),
                                  {.inclusive = false, .antialias = true, .load = {}});
  ASSERT_FALSE(mask.boolean());
  VirtualImager planes(resident.sources(true)), frames(resident.sources(false));
  // Weights are multiples of 1/64: sums are exact in double precision in any order.
  EXPECT_EQ(host_elements<double>(*planes.compute(stream, mask).image),
            host_elements<double>(*frames.compute(stream, mask).image));
}

TEST_P(ImagerOnEach, WholeAnnuliComeFromTwoPrefixPlanes) {
  Stream stream(device());
  const Resident<std::uint8_t> resident(stream, 300, 32, 30, 19);
  VirtualImager imager(resident.sources(true));
  imager.build_prefix(stream, 15.4, 14.7);
  const Mask mask = detector_mask("annulus(15.4,14.7,4,9)", geometry(resident.good, 32, 30));
  const VirtualImage image = imager.compute(stream, mask);
  EXPECT_EQ(image.path, ImagePath::prefix);
  EXPECT_EQ(image.pixels_read, 0);
  EXPECT_EQ(host_elements<std::uint64_t>(*image.image), resident.scan.image(mask));
  const Mask off_grid = detector_mask("annulus(15.4,14.7,4.3,9.2)", geometry(resident.good, 32, 30));
  imager.reset();
  const VirtualImage near = imager.compute(stream, off_grid);
  EXPECT_EQ(near.path, ImagePath::prefix);
  EXPECT_LT(near.pixels_read, near.area / 4);
  EXPECT_EQ(host_elements<std::uint64_t>(*near.image), resident.scan.image(off_grid));
}

TEST(RadialPrefix, PlanesOfU32DataAreWideEnough) {
  Stream stream;
  TestScan<std::uint32_t> scan{3, 2, 2, std::vector<std::uint32_t>(12, 0xFFFFFFFFu)};
  const RadialPrefix prefix = RadialPrefix::build(stream, scan.planes(stream), 2, 2, {}, 0.5, 0.5);
  EXPECT_EQ(prefix.planes().dtype(), DType::u64);
  Array image(Device::cpu(), {3}, DType::u64);
  prefix.image(stream, {0, 1, 0}, image);
  EXPECT_EQ(host_elements<std::uint64_t>(image), std::vector<std::uint64_t>(3, 4ull * 0xFFFFFFFFu));
}

TEST(RadialPrefix, TellsItsMemoryBefore) {
  Stream stream;
  const auto scan = random_scan<std::uint8_t>(70, 9, 12, 20);
  const RadialPrefix prefix = RadialPrefix::build(stream, scan.planes(stream), 9, 12, {}, 4, 5);
  EXPECT_EQ(prefix.planes().allocated_bytes(), RadialPrefix::bytes(70, 9, 12, DType::u8, 4, 5));
  // 256 x 256 positions, 96 x 96 pixels: 69 planes of u32.
  EXPECT_EQ(RadialPrefix::bytes(65536, 96, 96, DType::u8, 47.5, 47.5), 65536u * 69 * 4);
}

TEST(RadialPrefix, NearestRingsOfAnAnnulusAreItsOwn) {
  Stream stream;
  const auto scan = random_scan<std::uint8_t>(1, 40, 40, 21);
  const RadialPrefix prefix = RadialPrefix::build(stream, scan.planes(stream), 40, 40, {}, 19.5, 19.5);
  const Mask mask = detector_mask("annulus(19.5,19.5,6,11)", geometry({}, 40, 40));
  const RadialPrefix::Rings rings = prefix.nearest(PixelSet(1600, mask.pixels));
  EXPECT_EQ(rings.from, 6);
  EXPECT_EQ(rings.to, 11);
  EXPECT_EQ(rings.difference, 0);
  EXPECT_EQ(prefix.pixels(rings).area(), mask.area());
}

TEST(RadialPrefix, CentreFarAwayIsAnError) {
  Stream stream;
  const auto scan = random_scan<std::uint8_t>(1, 4, 4, 22);
  EXPECT_THAT(
      sonde::testing::error_of(ErrorKind::bad_input,
                               [&] { (void)RadialPrefix::build(stream, scan.planes(stream), 4, 4, {}, 1e6, 0); }),
      HasSubstr("a centre at (1000000, 0), far from the detector of 4 x 4 pixels"));
}

TEST(VirtualImager, ArraysThatDoNotBelongTogetherAreErrors) {
  const auto error = [](const ImagerSources& sources) {
    return sonde::testing::error_of(ErrorKind::bad_input, [&] { VirtualImager imager(sources); });
  };
  const Array planes = make_planes(Device::cpu(), 4, 5, 6, DType::u8);
  const Array total = Array::zeros(Device::cpu(), {5}, DType::u64);
  EXPECT_THAT(error({5, 6, nullptr, nullptr, nullptr, {}}), HasSubstr("neither planes nor frames"));
  EXPECT_THAT(error({5, 5, &planes, nullptr, nullptr, {}}),
              HasSubstr("virtual images of a detector of 5 x 5 pixels: planes of shape (30, 4)"));
  EXPECT_THAT(error({5, 6, &planes, nullptr, &total, {}}), HasSubstr("totals of shape (5,)"));
  EXPECT_THAT(error({5, 6, &planes, nullptr, nullptr, {1, 1}}), HasSubstr("2 pixel flags"));
}

TEST(VirtualImager, MaskOfAnotherDetectorIsAnError) {
  Stream stream;
  const Array planes = make_planes(Device::cpu(), 4, 5, 6, DType::u8);
  VirtualImager imager({5, 6, &planes, nullptr, nullptr, {}});
  EXPECT_THAT(
      sonde::testing::error_of(ErrorKind::bad_input, [&] { (void)imager.compute(stream, make_mask(6, 5, {1})); }),
      HasSubstr("a mask of 6 x 5 pixels and a detector of 5 x 6"));
}

TEST(VirtualImager, PrefixPlanesNeedPlanesOfCounts) {
  Stream stream;
  const Array frames = make_frames(Device::cpu(), 4, 5, 6, DType::u8);
  VirtualImager imager({5, 6, nullptr, &frames, nullptr, {}});
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input, [&] { imager.build_prefix(stream, 2, 2); }),
              HasSubstr("hint: load with --layout pixel"));
}

INSTANTIATE_EACH_DEVICE(ImagerOnEach);

}  // namespace
}  // namespace sonde::stem
