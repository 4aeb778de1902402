// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <random>

#include "sonde/engine/io/npy.h"
#include "sonde/engine/io/tiff.h"
#include "sonde/engine/report/json.h"
#include "sonde/instruments/stem/pass/memory_source.h"
#include "sonde/instruments/stem/results/convert.h"
#include "sonde/instruments/stem/results/detector_images.h"
#include "sonde/instruments/stem/results/output_path.h"
#include "sonde/instruments/stem/results/provenance.h"
#include "sonde/instruments/stem/results/save_image.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde::stem {
namespace {

using sonde::testing::error_of;
using sonde::testing::TemporaryFolder;
using stem::testing::MemorySource;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr Index scan_rows = 9, scan_cols = 8, side = 24;

/// Poisson counts of a disk of radius 6 about (11.5, 12), whose brightness differs from position to position.
std::vector<std::uint16_t> disk_scan() {
  std::mt19937_64 random(5);
  std::vector<std::uint16_t> stored;
  for (Index p = 0; p < scan_rows * scan_cols; ++p)
    for (Index row = 0; row < side; ++row)
      for (Index col = 0; col < side; ++col) {
        const bool inside = std::hypot(static_cast<double>(row) - 11.5, static_cast<double>(col) - 12.0) < 6;
        std::poisson_distribution<int> counts(inside ? 40.0 + static_cast<double>(p) : 0.5);
        stored.push_back(static_cast<std::uint16_t>(counts(random)));
      }
  return stored;
}

Dataset load_disk(LayoutChoice layout, Index det_bin = 1, Index scan_bin = 1) {
  auto source = std::make_unique<MemorySource<std::uint16_t>>(scan_rows, scan_cols, side, side, disk_scan());
  source->acquisition_to_change().pixel_mask.resize(side * side);
  source->acquisition_to_change().pixel_mask[11 * side + 12] = mask_bit::dead;
  LoadOptions options;
  options.layout = layout;
  options.det_bin = std::to_string(det_bin);
  options.scan_bin = scan_bin;
  options.scan_step = 0.5;
  return load(std::move(source), options, Budget(std::size_t{1} << 30, "test"));
}

std::vector<std::uint64_t> integers(const Array& image) {
  const auto* values = static_cast<const std::uint64_t*>(image.data());
  EXPECT_EQ(image.dtype(), DType::u64);
  return {values, values + image.count()};
}

TEST(DetectorImages, FloatsAreSummedInEveryLayout) {
  // Multiples of 1/4 below 2^20: their sums are exact in any order.
  std::vector<float> stored;
  for (int i = 0; i < 4 * 5 * 8 * 8; ++i) stored.push_back(0.25F * static_cast<float>(i % 1000));
  for (const LayoutChoice layout : {LayoutChoice::frame, LayoutChoice::pixel, LayoutChoice::compressed}) {
    SCOPED_TRACE(static_cast<int>(layout));
    LoadOptions load_options;
    load_options.layout = layout;
    const Dataset dataset = load(std::make_unique<MemorySource<float>>(4, 5, 8, 8, stored), load_options,
                                 Budget(std::size_t{1} << 30, "test"));
    DetectorOptions options;
    options.detector = {"all"};
    std::optional<Centre> centre;
    const auto images = detector_images(dataset, options, detector_geometry(dataset, options, centre));
    const auto image = images.front().image.view<double, 2>();
    for (Index p = 0; p < 20; ++p) {
      double sum = 0;
      for (Index q = 0; q < 64; ++q) sum += static_cast<double>(stored[static_cast<std::size_t>(p * 64 + q)]);
      EXPECT_EQ(image(p / 5, p % 5), sum);
    }
  }
}

TEST(DetectorImages, AllLayoutsGiveTheSameIntegers) {
  for (const Index bin : {1, 2})
    for (const Index scan_bin : {1, 3}) {
      DetectorOptions options;
      options.detector = {"bf", "adf", "annulus(auto,auto,1,5) & !rect(0,0,12,6)"};
      std::vector<std::vector<std::uint64_t>> expected;
      for (const LayoutChoice layout :
           {LayoutChoice::frame, LayoutChoice::pixel, LayoutChoice::compressed, LayoutChoice::file}) {
        SCOPED_TRACE(::testing::Message()
                     << "bin " << bin << " scan bin " << scan_bin << " layout " << static_cast<int>(layout));
        Dataset dataset = load_disk(layout, bin, scan_bin);
        std::optional<Centre> centre;
        const auto images = detector_images(dataset, options, detector_geometry(dataset, options, centre));
        ASSERT_EQ(images.size(), 3u);
        for (std::size_t i = 0; i < images.size(); ++i) {
          EXPECT_GT(images[i].area, 0);
          EXPECT_EQ(images[i].image.shape(), dataset.shape().first(2));
          if (layout == LayoutChoice::frame)
            expected.push_back(integers(images[i].image));
          else
            EXPECT_EQ(integers(images[i].image), expected[i]);
        }
      }
    }
}

TEST(DetectorImages, ManyRingsInOneReadingAreEachTheSumOfTheirPixels) {
  DetectorOptions options;
  options.centre = "11,12.5";
  options.detector.clear();
  for (int ring = 0; ring < 12; ++ring)
    options.detector.push_back("annulus(auto,auto," + std::to_string(ring) + "," + std::to_string(ring + 1) + ")");
  const std::vector<std::uint16_t> stored = disk_scan();
  for (const LayoutChoice layout : {LayoutChoice::frame, LayoutChoice::pixel, LayoutChoice::file}) {
    SCOPED_TRACE(static_cast<int>(layout));
    const Dataset dataset = load_disk(layout);
    std::optional<Centre> centre;
    const DetectorGeometry geometry = detector_geometry(dataset, options, centre);
    const std::vector<Mask> masks = detector_masks(options, geometry);
    const std::vector<DetectorImage> images = detector_images(dataset, options, geometry);
    ASSERT_EQ(images.size(), masks.size());
    const std::string path = layout == LayoutChoice::frame  ? "together"
                             : layout == LayoutChoice::file ? "decoded frames"
                                                            : "sparse";
    EXPECT_EQ(images.front().path, path);
    for (std::size_t i = 0; i < masks.size(); ++i) {
      std::vector<std::uint64_t> expected(scan_rows * scan_cols, 0);
      for (std::size_t p = 0; p < expected.size(); ++p)
        for (const Index q : masks[i].pixels) expected[p] += stored[p * side * side + static_cast<std::size_t>(q)];
      EXPECT_EQ(integers(images[i].image), expected) << i;
    }
  }
}

TEST(DetectorImages, AllPixelsTogetherAreTheTotal) {
  Dataset dataset = load_disk(LayoutChoice::pixel);
  DetectorOptions options;
  options.detector = {"all"};
  std::optional<Centre> centre;
  const auto images = detector_images(dataset, options, detector_geometry(dataset, options, centre));
  EXPECT_FALSE(centre);  // nothing needed it
  EXPECT_EQ(images[0].area, side * side - 1);
  EXPECT_EQ(integers(images[0].image), integers(dataset.moments().total));
}

TEST(DetectorImages, TheCentreIsFoundWhereTheDiskIs) {
  Dataset dataset = load_disk(LayoutChoice::pixel);
  std::optional<Centre> centre;
  const DetectorGeometry geometry = detector_geometry(dataset, {}, centre);
  ASSERT_TRUE(centre);
  // The disk is not antialiased: half a pixel is the limit of what its edge says.
  EXPECT_NEAR(*geometry.centre_row, 11.5, 0.3);
  EXPECT_NEAR(*geometry.centre_col, 12.0, 0.3);
  EXPECT_NEAR(*geometry.radius, 6.0, 0.4);
}

TEST(DetectorImages, CentreOfMassIsTheMomentOverTheTotal) {
  Dataset dataset = load_disk(LayoutChoice::pixel);
  DetectorOptions options;
  options.detector = {"com-row", "com-col"};
  std::optional<Centre> centre;
  const auto images = detector_images(dataset, options, detector_geometry(dataset, options, centre));
  const std::vector<std::uint16_t> stored = disk_scan();
  double total = 0, row_moment = 0;
  for (Index q = 0; q < side * side; ++q) {
    if (q == 11 * side + 12) continue;
    total += stored[static_cast<std::size_t>(q)];
    row_moment += static_cast<double>(q / side) * stored[static_cast<std::size_t>(q)];
  }
  EXPECT_DOUBLE_EQ((images[0].image.view<double, 2>()(0, 0)), row_moment / total);
}

TEST(DetectorImages, NormalisationDividesByTheGoodPixels) {
  Dataset dataset = load_disk(LayoutChoice::pixel);
  DetectorOptions options;
  options.detector = {"rect(11,12,12,14)"};  // one of its two pixels is bad
  options.normalise = Normalise::area;
  std::optional<Centre> centre;
  const auto images = detector_images(dataset, options, detector_geometry(dataset, options, centre));
  EXPECT_EQ(images[0].area, 1);
  EXPECT_EQ((images[0].image.view<double, 2>()(0, 0)), disk_scan()[11 * side + 13]);
}

TEST(SaveImage, EveryFormatHoldsTheNumbers) {
  const TemporaryFolder folder;
  Array image(Device::cpu(), {2, 3}, DType::u64);
  for (Index i = 0; i < 6; ++i) static_cast<std::uint64_t*>(image.data())[i] = static_cast<std::uint64_t>(i * 1000);
  Value record;
  record["schema"] = "sonde.result/1";
  for (const char* ending : {"npy", "tif", "png", "h5"}) {
    SCOPED_TRACE(ending);
    save_image(folder.file(std::string("a.") + ending), image, {0.5, 0.5, "nm"}, {}, record);
    EXPECT_TRUE(std::filesystem::exists(folder.file(std::string("a.") + ending)));
    EXPECT_EQ(read_json(folder.file("a.json")).find("schema")->as_text(), "sonde.result/1");
  }
  EXPECT_EQ((read_npy(folder.file("a.npy")).view<std::uint64_t, 2>()(1, 2)), 5000u);
  EXPECT_EQ((read_tiff(folder.file("a.tif")).view<std::uint32_t, 2>()(1, 2)), 5000u);
}

TEST(SaveImage, UnknownEndingsAreRefusedAndLeaveNothing) {
  const TemporaryFolder folder;
  const Array image = Array::zeros(Device::cpu(), {2, 3}, DType::u64);
  EXPECT_THAT(error_of(ErrorKind::usage, [&] { save_image(folder.file("a.jpg"), image, {}, {}, Value::object()); }),
              HasSubstr(".npy, .tif, .png or .h5"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Provenance, LoadOptionsSurviveTheRecord) {
  const Dataset dataset = load_disk(LayoutChoice::pixel, 2, 3);
  const Value record = parse_json(to_json(provenance(dataset)), "record");
  LoadOptions again = load_options_from(record, "record");
  EXPECT_EQ(again.det_bin, "2");
  EXPECT_EQ(again.scan_bin, 3);
  EXPECT_EQ(again.scan_step, 0.5);
  EXPECT_NO_THROW(require_same_input(dataset, record, "record"));
}

TEST(Provenance, OtherDataAreNoticed) {
  const Dataset dataset = load_disk(LayoutChoice::pixel);
  Value record = provenance(dataset);
  record["input"]["hash"] = "xxh3:0000000000000000";
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { require_same_input(dataset, record, "record"); }),
              HasSubstr("differ from those of record"));
}

TEST(Provenance, ForeignJsonIsRefused) {
  EXPECT_THAT(error_of(ErrorKind::bad_file, [] { (void)load_options_from(Value::object(), "x.json"); }),
              HasSubstr("x.json: no \"schema\""));
}

TEST(Convert, NpyHoldsTheResidentElements) {
  const TemporaryFolder folder;
  Dataset dataset = load_disk(LayoutChoice::file, 2);
  EXPECT_EQ(convert(dataset, folder.file("a.npy")), std::vector<std::string>{folder.file("a.npy")});
  const Array all = read_npy(folder.file("a.npy"));
  EXPECT_EQ(all.shape(), dataset.shape());
  EXPECT_EQ(all.dtype(), dataset.dtype());
  const Array pattern = dataset.pattern(8, 7);
  EXPECT_EQ(std::memcmp(static_cast<const std::byte*>(all.data()) + all.allocated_bytes() - pattern.allocated_bytes(),
                        pattern.data(), pattern.allocated_bytes()),
            0);
}

TEST(Convert, UnknownEndingsAreRefused) {
  Dataset dataset = load_disk(LayoutChoice::file);
  EXPECT_THAT(error_of(ErrorKind::usage, [&] { (void)convert(dataset, "a.xyz"); }),
              HasSubstr("no format for this ending"));
}

TEST(Scales, BinsMakePixelsLarger) {
  Calibration calibration;
  calibration.scan_step_row_nm = calibration.scan_step_col_nm = Quantity{0.2};
  EXPECT_DOUBLE_EQ(*scan_scale(calibration, 3).row_step, 0.6);
  EXPECT_EQ(scan_scale({}, 3).unit, "px");
  calibration.detector_pixel_m = Quantity{1e-4};
  calibration.camera_length_m = Quantity{0.1};
  EXPECT_DOUBLE_EQ(*detector_scale(calibration, 2).col_step, 2.0);  // 1 mrad a pixel
  EXPECT_EQ(detector_scale(calibration, 2).unit, "mrad");
}

// The complement of a small detector taken from unclipped totals would be neither the one sum nor the other.
TEST(DetectorImages, OfClippedElementsAreSumsOfThemInEveryLayout) {
  std::vector<std::uint16_t> stored(4 * 5 * 8 * 8);
  for (std::size_t i = 0; i < stored.size(); ++i) stored[i] = static_cast<std::uint16_t>(i % 7 == 0 ? 1000 : i % 100);
  DetectorOptions options;
  options.detector = {"all", "!rect(0,0,2,2)", "rect(0,0,2,2)"};
  for (const LayoutChoice layout :
       {LayoutChoice::frame, LayoutChoice::pixel, LayoutChoice::compressed, LayoutChoice::file}) {
    SCOPED_TRACE(static_cast<int>(layout));
    LoadOptions load_options;
    load_options.layout = layout;
    load_options.dtype = ResultType::u8;
    load_options.hot_pixels = BadPixelAction::none;
    const Dataset dataset = load(std::make_unique<MemorySource<std::uint16_t>>(4, 5, 8, 8, stored), load_options,
                                 Budget(std::size_t{1} << 30, "test"));
    std::optional<Centre> centre;
    const auto images = detector_images(dataset, options, detector_geometry(dataset, options, centre));
    for (std::size_t p = 0; p < 20; ++p) {
      std::uint64_t all = 0, corner = 0;
      for (std::size_t q = 0; q < 64; ++q) {
        const std::uint64_t element = std::min<std::uint64_t>(stored[p * 64 + q], 255);
        all += element;
        if (q / 8 < 2 && q % 8 < 2) corner += element;
      }
      ASSERT_EQ(integers(images[0].image)[p], all);
      ASSERT_EQ(integers(images[1].image)[p], all - corner);
      ASSERT_EQ(integers(images[2].image)[p], corner);
    }
  }
}

TEST(ImageNames, OfScansAndDetectors) {
  EXPECT_THAT(image_names({"x/tilt_9_master.h5"}, {"bf"}), ElementsAre(ElementsAre("tilt_9")));
  EXPECT_THAT(image_names({"x/a.npy", "x/b.npy"}, {"bf", "circle(1,2,3)"}),
              ElementsAre(ElementsAre("a_bf", "a_circle_1_2_3_"), ElementsAre("b_bf", "b_circle_1_2_3_")));
}

// Otherwise the second image would replace the first without a word.
TEST(ImageNames, AreNeverTheSame) {
  EXPECT_THAT(image_names({"first/scan_master.h5", "second/scan_master.h5"}, {"bf"}),
              ElementsAre(ElementsAre("first_scan"), ElementsAre("second_scan")));
  EXPECT_THAT(image_names({"a.npy"}, {"bf & adf", "bf | adf", "BF ^ adf"}),
              ElementsAre(ElementsAre("a_bf___adf", "a_bf___adf_2", "a_BF___adf_3")));
  EXPECT_THAT(image_names({"x/a.npy", "x/a.npy"}, {"bf"}), ElementsAre(ElementsAre("x_a"), ElementsAre("x_a_2")));
}

}  // namespace
}  // namespace sonde::stem
