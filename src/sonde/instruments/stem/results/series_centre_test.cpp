// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/results/series_centre.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "sonde/instruments/stem/write/write_arina.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde::stem {
namespace {

using sonde::testing::error_of;
using sonde::testing::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr Index rows = 48, cols = 56;

/// Scans of equal frames: a disk whose place differs from scan to scan.
class CentreOfASeries : public ::testing::Test {
 protected:
  void write(const std::string& name, double row, double col, double radius = 9) {
    ArinaDescription description;
    description.scan_rows = 2;
    description.scan_cols = 3;
    description.rows = rows;
    description.cols = cols;
    std::vector<std::uint16_t> frames;
    for (Index frame = 0; frame < 6; ++frame)
      for (Index r = 0; r < rows; ++r)
        for (Index c = 0; c < cols; ++c) {
          const double d = std::hypot(static_cast<double>(r) - row, static_cast<double>(c) - col);
          frames.push_back(radius > 0 && d < radius ? 400 : 1);
        }
    ArinaWriter writer(folder_.file(name + "_master.h5"), description);
    writer.append(Array::from(frames, {6, rows, cols}));
    (void)writer.finish();
  }
  [[nodiscard]] Series open() const {
    return Series::open({folder_.path().string()}, {}, {}, Budget(std::size_t{1} << 30, "test"));
  }
  TemporaryFolder folder_;
};

TEST_F(CentreOfASeries, IsThatOfTheMeanOfAllScans) {
  write("a", 20, 30);
  write("b", 20, 30.5);
  write("c", 21.5, 29.5);
  Series series = open();
  std::vector<double> mean(static_cast<std::size_t>(rows * cols));
  for (Index i = 0; i < 3; ++i) {
    const Array one = mean_pattern(*series.item(i));
    for (std::size_t q = 0; q < mean.size(); ++q) mean[q] += static_cast<const double*>(one.data())[q] / 3;
  }
  const Centre expected = find_centre(View<const double, 2>(mean.data(), rows, cols), {}, CentreMethod::threshold);
  const SeriesCentre found = find_series_centre(series, CentreMethod::threshold, false);
  EXPECT_EQ(found.centre.row, expected.row);
  EXPECT_EQ(found.centre.col, expected.col);
  EXPECT_EQ(found.centre.radius, expected.radius);
}

TEST_F(CentreOfASeries, ReportsTheShiftOfEachScanFromIt) {
  write("a", 20, 30);
  write("b", 20, 33);
  write("c", 23, 30);
  Series series = open();
  const SeriesCentre found = find_series_centre(series, CentreMethod::edge, true);
  ASSERT_EQ(found.shifts.size(), 3u);
  const auto between = [&](std::size_t i, std::size_t j) {
    return std::pair(*found.shifts[j].row - *found.shifts[i].row, *found.shifts[j].col - *found.shifts[i].col);
  };
  // Equal disks on equal places of the raster of pixels: their distances are exact but for rounding.
  EXPECT_NEAR(between(0, 1).first, 0, 1e-9);
  EXPECT_NEAR(between(0, 1).second, 3, 1e-9);
  EXPECT_NEAR(between(0, 2).first, 3, 1e-9);
  EXPECT_NEAR(between(0, 2).second, 0, 1e-9);
  EXPECT_GT(found.largest_shift(), 1);
  EXPECT_THAT(found.centre.notes.back(), HasSubstr("the beam moves by up to"));
  const std::vector<std::string> lines = found.lines();
  EXPECT_THAT(lines.front(), HasSubstr("in the mean of 3 scans"));
  EXPECT_THAT(lines.back(), HasSubstr("shift     c: row +"));
}

TEST_F(CentreOfASeries, AScanWithoutABeamIsNamedAndTheOthersCount) {
  write("a", 20, 30);
  write("b", 20, 30, 0);  // dark
  Series series = open();
  const SeriesCentre found = find_series_centre(series, CentreMethod::edge, true);
  EXPECT_NEAR(found.centre.row, 20, 0.05);
  EXPECT_NEAR(found.centre.col, 30, 0.05);
  EXPECT_TRUE(found.shifts[0].row.has_value());
  EXPECT_FALSE(found.shifts[1].row.has_value());
  EXPECT_THAT(found.lines().back(), HasSubstr("shift     b: not found: "));
  EXPECT_EQ(found.to_value().find("shifts")->items().back().find("row"), nullptr);
}

TEST_F(CentreOfASeries, IsNotLookedForWhereNoDetectorNeedsIt) {
  write("a", 20, 30, 0);
  write("b", 20, 30, 0);
  Series series = open();
  DetectorOptions pixels;
  pixels.detector = {"rect(0,0,4,4)"};
  EXPECT_FALSE(series_centre_for(series, pixels).has_value());
  EXPECT_FALSE(series.held(0));
  DetectorOptions disk;
  disk.detector = {"bf"};
  (void)error_of(ErrorKind::bad_input, [&] { (void)series_centre_for(series, disk); });
}

TEST_F(CentreOfASeries, DetectorsOfEveryScanAreAboutIt) {
  write("a", 20, 30);
  write("b", 20, 32);
  Series series = open();
  DetectorOptions options;
  const SeriesCentre found = *series_centre_for(series, options);
  for (Index i = 0; i < 2; ++i) {
    std::optional<Centre> centre = found.centre;
    const DetectorGeometry geometry = detector_geometry(*series.item(i), options, centre);
    EXPECT_EQ(*geometry.centre_row, found.centre.row);
    EXPECT_EQ(*geometry.centre_col, found.centre.col);
    EXPECT_EQ(*geometry.radius, found.centre.radius);
  }
}

}  // namespace
}  // namespace sonde::stem
