// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/results/detector_stack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <numbers>
#include <random>

#include "sonde/engine/io/file.h"
#include "sonde/engine/io/hdf5.h"
#include "sonde/engine/io/npy.h"
#include "sonde/instruments/stem/pass/memory_source.h"
#include "tests/support/budget.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde::stem {
namespace {

using stem::testing::MemorySource;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr Index stack_scan_rows = 4, stack_scan_cols = 5, stack_rows = 13, stack_cols = 18;

Dataset stack_scan(LayoutChoice layout) {
  std::mt19937 random(3);
  std::vector<std::uint16_t> stored(stack_scan_rows * stack_scan_cols * stack_rows * stack_cols);
  for (std::uint16_t& value : stored) value = static_cast<std::uint16_t>(random() % 1000);
  LoadOptions options;
  options.layout = layout;
  options.hot_pixels = BadPixelAction::none;
  return load(
      std::make_unique<MemorySource<std::uint16_t>>(stack_scan_rows, stack_scan_cols, stack_rows, stack_cols, stored),
      options, sonde::testing::plenty());
}

struct Made {
  DetectorOptions options;
  std::vector<DetectorSet> sets;
  DetectorGeometry geometry;
  std::vector<DetectorImage> images;
};

Made images_of(const Dataset& dataset, const std::vector<std::string>& detectors) {
  Made made;
  made.options.detector = detectors;
  made.options.centre = "6,8.5";
  made.options.radius = 4;
  made.sets = detector_sets(made.options);
  made.options = with_members(made.options, made.sets);
  std::optional<Centre> centre;
  made.geometry = detector_geometry(dataset, made.options, centre);
  made.images = detector_images(dataset, made.options, made.geometry);
  return made;
}

TEST(DetectorStack, SegmentsAddUpToTheAnnulusAtEveryPosition) {
  for (const LayoutChoice layout : {LayoutChoice::frame, LayoutChoice::pixel, LayoutChoice::file}) {
    SCOPED_TRACE(static_cast<int>(layout));
    const Dataset dataset = stack_scan(layout);
    const Made made = images_of(dataset, {"segments(auto,auto,0.5,6,3,5,20deg)", "annulus(auto,auto,0.5,6)"});
    ASSERT_EQ(made.images.size(), 16U);
    const DetectorStack stack = stack_of(made.sets[0], std::span(made.images).first(15));
    ASSERT_EQ(stack.image.image.shape(), (Shape{15, stack_scan_rows, stack_scan_cols}));
    EXPECT_EQ(stack.image.area, made.images[15].area);
    const auto* parts = static_cast<const std::uint64_t*>(stack.image.image.data());
    const auto* whole = static_cast<const std::uint64_t*>(made.images[15].image.data());
    for (Index p = 0; p < 20; ++p) {
      std::uint64_t sum = 0;
      for (Index member = 0; member < 15; ++member) sum += parts[member * 20 + p];
      EXPECT_EQ(sum, whole[p]);
    }
  }
}

TEST(DetectorStack, ADetectorWithoutPixelsCountsNothing) {
  // The nearest pixels are half a pixel from the centre.
  const Made made = images_of(stack_scan(LayoutChoice::frame), {"rings(auto,auto,0,1.6,4)"});
  EXPECT_EQ(made.images[0].area, 0);
  EXPECT_EQ(static_cast<const std::uint64_t*>(made.images[0].image.data())[0], 0U);
  EXPECT_GT(made.images[1].area, 0);
}

TEST(DetectorStack, FilesHoldAllImagesWithTheEdgesOfTheirDetectors) {
  const sonde::testing::TemporaryFolder dir;
  const Dataset dataset = stack_scan(LayoutChoice::frame);
  const Made made = images_of(dataset, {"segments(auto,auto,0,rho,2,4,-45deg)"});
  const DetectorStack stack = stack_of(made.sets[0], made.images);
  const auto save = [&](const std::string& name) {
    save_stack(dir.file(name), dataset, made.sets[0], stack, made.geometry, {}, Value::object());
  };
  for (const char* name : {"a.h5", "b.npy", "c.tif", "d.png"}) save(name);
  const auto file = Hdf5File::open(dir.file("a.h5"));
  EXPECT_EQ(file.dataset("/image").read().shape(), (Shape{8, stack_scan_rows, stack_scan_cols}));
  const auto values = [&](const std::string& name) {
    const Array read = file.dataset(name).read();
    const auto* first = static_cast<const double*>(read.data());
    return std::vector<double>(first, first + read.count());
  };
  EXPECT_THAT(values("/inner_radius"), ElementsAre(0, 0, 0, 0, 2, 2, 2, 2));
  EXPECT_THAT(values("/outer_radius"), ElementsAre(2, 2, 2, 2, 4, 4, 4, 4));
  const double quarter = std::numbers::pi / 4;
  EXPECT_THAT(values("/first_angle"),
              ElementsAre(-quarter, quarter, 3 * quarter, 5 * quarter, -quarter, quarter, 3 * quarter, 5 * quarter));
  EXPECT_DOUBLE_EQ(values("/last_angle")[1], 3 * quarter);
  EXPECT_EQ(read_npy(dir.file("b.npy")).shape(), (Shape{8, stack_scan_rows, stack_scan_cols}));
  // Four sectors side by side, two rings below each other.
  const std::string picture = read_text(dir.file("d.png"));
  const auto extent = [&](std::size_t byte) {  // of the header: four bytes, the highest first
    const auto at = [&](std::size_t i) { return static_cast<Index>(static_cast<unsigned char>(picture.at(byte + i))); };
    return ((at(0) * 256 + at(1)) * 256 + at(2)) * 256 + at(3);
  };
  EXPECT_GT(extent(16), extent(20));  // wider than high
  EXPECT_THAT(read_text(dir.file("a.json")), HasSubstr("segment(auto,auto,0.5rho,1rho,3,4,-45deg)"));
}

TEST(DetectorStack, ClosedEdgesAreRefused) {
  DetectorOptions options;
  options.detector = {"bf", "com-row", "rings(1,2,0,4,2)"};
  EXPECT_EQ(detector_sets(options).size(), 3U);
  options.inclusive = true;
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::usage, [&] { (void)detector_sets(options); }),
              HasSubstr("rings(1,2,0,4,2): its detectors would share the pixels on the edges between them\nhint: leave "
                        "out --inclusive"));
}

}  // namespace
}  // namespace sonde::stem
