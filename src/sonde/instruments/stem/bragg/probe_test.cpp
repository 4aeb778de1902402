// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/bragg/probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "sonde/instruments/stem/bragg/test_disks.h"
#include "tests/support/errors.h"

namespace sonde::stem {
namespace {

using sonde::testing::error_of;
using stem::testing::draw_disks;
using stem::testing::DrawnDisk;
using ::testing::HasSubstr;

constexpr Index high = 60, wide = 72;

View<const double, 2> seen(const std::vector<double>& pattern) { return {pattern.data(), high, wide}; }

double sum_of(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

TEST(Probe, OfOneDiskIsMeasured) {
  const std::vector<DrawnDisk> disk = {{27.3, 38.8, 1000}};
  const Probe probe = measure_probe(seen(draw_disks(high, wide, disk, 7.4, 0.6, 2)), {});
  // Areas are counted in whole pixels: that of a circle of 7 px is known to about its circumference's square root.
  EXPECT_NEAR(probe.radius, 7.4, 0.08);
  // A pixel at the edge is in or out.
  EXPECT_NEAR(probe.row, 27.3, 0.1);
  EXPECT_NEAR(probe.col, 38.8, 0.1);
  EXPECT_NEAR(probe.edge, 0.6, 0.15);
  EXPECT_EQ(probe.contrast, 300);
}

TEST(Probe, IsTheCentralDiskOfMany) {
  const auto disks = stem::testing::draw_lattice(high, wide, 29.6, 35.2, 15, 4.5);
  const Probe probe = measure_probe(seen(draw_disks(high, wide, disks, 4.5, 0.5, 0.02)), {});
  EXPECT_NEAR(probe.radius, 4.5, 0.1);
  EXPECT_NEAR(probe.row, 29.6, 0.1);
  EXPECT_NEAR(probe.col, 35.2, 0.1);
  EXPECT_NEAR(probe.contrast, 50, 5);
}

TEST(Probe, BadPixelsDoNotCount) {
  const std::vector<DrawnDisk> disk = {{27.3, 38.8, 1000}};
  std::vector<double> pattern = draw_disks(high, wide, disk, 7.4, 0.6, 2);
  std::vector<std::uint8_t> good(pattern.size(), 1);
  for (const Index dead : {Index{25}, Index{30}}) {
    pattern[static_cast<std::size_t>(dead * wide + 37)] = 1e6;
    good[static_cast<std::size_t>(dead * wide + 37)] = 0;
  }
  EXPECT_NEAR(measure_probe(seen(pattern), good).radius, 7.4, 0.12);
}

TEST(Probe, AHotPixelIsNoDisk) {
  const std::vector<DrawnDisk> disk = {{27.3, 38.8, 1000}};
  std::vector<double> pattern = draw_disks(high, wide, disk, 7.4, 0.6, 2);
  pattern[10 * wide + 10] = pattern[28 * wide + 40] = 1e5;
  const Probe probe = measure_probe(seen(pattern), {});
  EXPECT_NEAR(probe.radius, 7.4, 0.12);
  EXPECT_NEAR(probe.row, 27.3, 0.15);
  EXPECT_NEAR(probe.col, 38.8, 0.15);
}

TEST(Probe, OfAVacuumScanIsItsImageWithoutBackground) {
  const std::vector<DrawnDisk> disk = {{27.3, 38.8, 1000}};
  const Probe probe = measure_vacuum_probe(seen(draw_disks(high, wide, disk, 7.4, 0.6, 50)), {});
  ASSERT_EQ(probe.image.size(), static_cast<std::size_t>(high * wide));
  EXPECT_NEAR(probe.image[27 * wide + 39], 1000, 1);
  EXPECT_EQ(probe.image[10 * wide + 10], 0);
  EXPECT_NEAR(probe.image[27 * wide + 51], 0, 1e-12);
}

class EachKernel : public ::testing::TestWithParam<KernelShape> {};

TEST_P(EachKernel, SumsAsStated) {
  const bool trench = GetParam() != KernelShape::flat && GetParam() != KernelShape::poisson;
  const auto kernel = make_kernel(soft_probe(5, 0.7), high, wide, {.shape = GetParam()});
  EXPECT_NEAR(sum_of(kernel), trench ? 0 : 1, 1e-12);
  EXPECT_GT(kernel[0], 0);
}

// The image of a disk anywhere gives the kernel of a soft disk: both are the same function.
TEST_P(EachKernel, OfAMeasuredDiskIsThatOfTheSoftDisk) {
  const std::vector<DrawnDisk> disk = {{27.3, 38.8, 1000}};
  Probe measured = measure_vacuum_probe(seen(draw_disks(high, wide, disk, 7.4, 0.8)), {});
  Probe soft = soft_probe(measured.radius, measured.edge);
  soft.contrast = measured.contrast = 30;  // a logarithm of more would magnify what is left outside the disk
  const auto from_image = make_kernel(measured, high, wide, {.shape = GetParam()});
  const auto from_formula = make_kernel(soft, high, wide, {.shape = GetParam()});
  // A pixel at the edge is the mean over it; the height of a kernel is about 1 / (pi R^2).
  for (std::size_t i = 0; i < from_image.size(); ++i)
    ASSERT_NEAR(from_image[i], from_formula[i], 0.12 * from_formula[0]) << "pixel " << i;
}

INSTANTIATE_TEST_SUITE_P(All, EachKernel,
                         ::testing::Values(KernelShape::flat, KernelShape::gaussian, KernelShape::sigmoid,
                                           KernelShape::sigmoid_log, KernelShape::ring, KernelShape::poisson),
                         [](const auto& each) { return std::string(name(each.param)); });

// The trench of each by its formula, at a distance of 8 px along the columns: the disk is gone there.
TEST(Kernel, TrenchesAreThoseOfTheirNames) {
  const Probe probe = soft_probe(5, 0.2);
  const auto ratio = [&](KernelShape shape) {
    const auto kernel = make_kernel(probe, high, wide, {.shape = shape, .inner = 6, .outer = 12, .sigma = 7});
    return kernel[8] / kernel[10];
  };
  const auto squared_cosine = [](double quarter_turns) { return std::pow(std::cos(M_PI / 2 * quarter_turns), 2); };
  EXPECT_NEAR(ratio(KernelShape::gaussian), std::exp((100 - 64) / 98.0), 1e-5);
  EXPECT_NEAR(ratio(KernelShape::sigmoid), squared_cosine(2.0 / 6) / squared_cosine(4.0 / 6), 1e-5);
  EXPECT_NEAR(ratio(KernelShape::sigmoid_log), (1 + std::exp(1 / 1.5)) / (1 + std::exp(-1 / 1.5)), 1e-5);
  EXPECT_NEAR(ratio(KernelShape::ring), 1, 1e-5);  // 1 px on either side of 9
}

TEST(Kernel, OfAProbeThatDoesNotFitIsRefused) {
  EXPECT_THAT(error_of(ErrorKind::bad_input, [] { (void)make_kernel(soft_probe(30), high, wide, {}); }),
              HasSubstr("a disk of radius 30 px; expected more than 0 and less than half of the detector of 60 x 72 "
                        "pixels\nhint: give another --probe"));
  EXPECT_THAT(
      error_of(ErrorKind::bad_input, [] { (void)make_kernel(soft_probe(5), high, wide, {.inner = 8, .outer = 7}); }),
      HasSubstr("a trench from 8 to 7 px has no width\nhint: give a larger --kernel-outer"));
  Probe other = soft_probe(5);
  other.rows = other.cols = 8;
  other.image.assign(64, 1);
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)make_kernel(other, high, wide, {}); }),
              HasSubstr("a probe on 8 x 8 pixels for patterns of 60 x 72\nhint: load both with the same --det-bin"));
}

}  // namespace
}  // namespace sonde::stem
