// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/radial/bins.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "tests/support/errors.h"

namespace sonde::stem {
namespace {

using sonde::testing::error_of;
using ::testing::HasSubstr;

using std::numbers::pi;
constexpr Index rows = 11, cols = 16;

std::map<Index, double> of_pixel(const BinShares& shares, Index row, Index col) {
  const auto pixel = static_cast<std::size_t>(row * cols + col);
  std::map<Index, double> found;
  for (std::uint32_t e = shares.first[pixel]; e < shares.first[pixel + 1]; ++e)
    found[shares.bin[e]] = static_cast<double>(shares.share[e]);
  return found;
}

double largest_difference(const std::map<Index, double>& a, const std::map<Index, double>& b) {
  double largest = 0;
  for (const auto& [bin, share] : a) largest = std::max(largest, std::abs(share - (b.contains(bin) ? b.at(bin) : 0)));
  for (const auto& [bin, share] : b) largest = std::max(largest, std::abs(share - (a.contains(bin) ? a.at(bin) : 0)));
  return largest;
}

/// Radius and angle of a point as the definitions say: the ellipse's axes scaled to its mean radius, in its own frame.
struct Polar {
  double radius, angle;
};
Polar polar(const RadialGeometry& geometry, double row, double col) {
  const Ellipse& e = geometry.ellipse;
  const double x = col - geometry.col, y = row - geometry.row;
  const double u = (std::cos(e.theta) * x + std::sin(e.theta) * y) * std::sqrt(e.b / e.a);
  const double v = (-std::sin(e.theta) * x + std::cos(e.theta) * y) * std::sqrt(e.a / e.b);
  const double back_x = std::cos(e.theta) * u - std::sin(e.theta) * v;
  const double back_y = std::sin(e.theta) * u + std::cos(e.theta) * v;
  const double angle = std::atan2(back_y, back_x);
  return {std::sqrt(u * u + v * v), angle < 0 ? angle + 2 * pi : angle};
}

/// The bin of a point, or -1.
Index bin_at(const RadialGeometry& geometry, const RadialBins& bins, double row, double col) {
  const Polar at = polar(geometry, row, col);
  if (at.radius < bins.inner || at.radius >= bins.outer) return -1;
  return static_cast<Index>((at.radius - bins.inner) / bins.width()) * bins.angles +
         static_cast<Index>(at.angle / (2 * pi) * static_cast<double>(bins.angles));
}

const RadialGeometry plain{rows, cols, 4.3, 7.9};
const RadialGeometry elliptic{rows, cols, 4.3, 7.9, {1.3, 0.9, 0.6}};
const RadialBins rings{9, 0.7, 8.2};
const RadialBins cake{5, 0, 7.5, 7};

TEST(RadialBins, CentresOfPixelsDecideWithoutASplit) {
  for (const RadialGeometry& geometry : {plain, elliptic})
    for (const RadialBins& bins : {rings, cake}) {
      const BinShares shares = share_among_bins(geometry, bins, PixelSplit::none, {});
      for (Index row = 0; row < rows; ++row)
        for (Index col = 0; col < cols; ++col) {
          const Index bin = bin_at(geometry, bins, static_cast<double>(row), static_cast<double>(col));
          const std::map<Index, double> expected =
              bin < 0 ? std::map<Index, double>{} : std::map<Index, double>{{bin, 1}};
          EXPECT_EQ(of_pixel(shares, row, col), expected) << row << ", " << col;
        }
    }
}

TEST(RadialBins, APixelOnTheInnerEdgeCountsAndOnTheOuterOneNot) {
  const RadialGeometry geometry{rows, cols, 5, 5};
  const BinShares shares = share_among_bins(geometry, {2, 1, 3}, PixelSplit::none, {});
  EXPECT_EQ(of_pixel(shares, 5, 6), (std::map<Index, double>{{0, 1}}));
  EXPECT_EQ(of_pixel(shares, 5, 7), (std::map<Index, double>{{1, 1}}));
  EXPECT_TRUE(of_pixel(shares, 5, 8).empty());
  EXPECT_TRUE(of_pixel(shares, 5, 5).empty());
}

TEST(RadialBins, FullSplitIsTheAreaOfEachPixelInEachBin) {
  constexpr int samples = 60;
  for (const RadialGeometry& geometry : {plain, elliptic})
    for (const RadialBins& bins : {rings, cake, RadialBins{3, 0, 7, 2}}) {
      const BinShares shares = share_among_bins(geometry, bins, PixelSplit::full, {});
      double largest = 0;
      for (Index row = 0; row < rows; ++row)
        for (Index col = 0; col < cols; ++col) {
          std::map<Index, double> sampled;
          for (int i = 0; i < samples; ++i)
            for (int j = 0; j < samples; ++j) {
              const Index bin = bin_at(geometry, bins, static_cast<double>(row) - 0.5 + (i + 0.5) / samples,
                                       static_cast<double>(col) - 0.5 + (j + 0.5) / samples);
              if (bin >= 0) sampled[bin] += 1.0 / (samples * samples);
            }
          largest = std::max(largest, largest_difference(of_pixel(shares, row, col), sampled));
        }
      // An edge crosses about 1.4 x 60 of the 3600 samples; how many of these err one way is a random walk.
      EXPECT_LT(largest, 0.005);
    }
}

TEST(RadialBins, SplitPixelsInsideAreWhole) {
  const RadialGeometry geometry{rows, cols, 5.2, 7.7};
  for (const PixelSplit split : {PixelSplit::bbox, PixelSplit::full})
    for (const Index angles : {1, 2, 5, 24}) {
      const BinShares shares = share_among_bins(geometry, {20, 0, 30, angles}, split, {});
      for (std::size_t pixel = 0; pixel + 1 < shares.first.size(); ++pixel) {
        double sum = 0;
        for (std::uint32_t e = shares.first[pixel]; e < shares.first[pixel + 1]; ++e)
          sum += static_cast<double>(shares.share[e]);
        EXPECT_NEAR(sum, 1, 1e-6) << "pixel " << pixel << ", " << angles << " angles";  // shares are single precision
      }
    }
}

TEST(RadialBins, BoxesReachAsFarAsTheFarthestCorner) {
  const RadialGeometry geometry{rows, cols, 5, 5};
  const BinShares shares = share_among_bins(geometry, {8, 0, 4}, PixelSplit::bbox, {});
  // Pixel (5, 7) is at 2; its corner (5.5, 7.5) at sqrt(2.5^2 + 0.5^2).
  const double reach = std::hypot(2.5, 0.5) - 2;
  EXPECT_LT(largest_difference(of_pixel(shares, 5, 7), {{2, (reach - 0.5) / (2 * reach)},
                                                        {3, 0.5 / (2 * reach)},
                                                        {4, 0.5 / (2 * reach)},
                                                        {5, (reach - 0.5) / (2 * reach)}}),
            1e-7);
}

TEST(RadialBins, ADrawnEllipseIsOneRing) {
  const double a = 5, b = 3.5, theta = 0.4;
  const RadialGeometry geometry{rows, cols, 5, 8, {a, b, theta}};
  for (int i = 0; i < 50; ++i) {
    const double t = 2 * pi * i / 50;
    const double x = a * std::cos(t) * std::cos(theta) - b * std::sin(t) * std::sin(theta);
    const double y = a * std::cos(t) * std::sin(theta) + b * std::sin(t) * std::cos(theta);
    EXPECT_NEAR(polar(geometry, 5 + y, 8 + x).radius, std::sqrt(a * b), 1e-12);
  }
  // The pixels of the ring sqrt(ab) +- 0.5 are those near the ellipse, as the definition above says.
  const RadialBins ring{1, std::sqrt(a * b) - 0.5, std::sqrt(a * b) + 0.5};
  const BinShares shares = share_among_bins(geometry, ring, PixelSplit::none, {});
  EXPECT_EQ(of_pixel(shares, 7, 13).size(), 1U);  // near the end of the long axis
  EXPECT_TRUE(of_pixel(shares, 3, 13).empty());   // as far away, but across it
}

TEST(RadialBins, BadPixelsAreInNoBin) {
  std::vector<std::uint8_t> good(static_cast<std::size_t>(rows * cols), 1);
  good[static_cast<std::size_t>(4 * cols + 9)] = 0;
  for (const PixelSplit split : {PixelSplit::none, PixelSplit::bbox, PixelSplit::full}) {
    const BinShares shares = share_among_bins(plain, rings, split, good);
    EXPECT_TRUE(of_pixel(shares, 4, 9).empty());
    EXPECT_FALSE(of_pixel(shares, 4, 10).empty());
  }
}

TEST(RadialBins, SayWhatIsWrong) {
  const auto error = [](const RadialGeometry& geometry, const RadialBins& bins, std::vector<std::uint8_t> good = {}) {
    return error_of(ErrorKind::bad_input, [&] { (void)share_among_bins(geometry, bins, PixelSplit::none, good); });
  };
  EXPECT_THAT(error(plain, {0, 0, 5}), HasSubstr("bins must be at least one radius and one angle, not 0 and 1"));
  EXPECT_THAT(error(plain, {4, 5, 5}), HasSubstr("the outer radius (5 px) is not larger than the inner one (5 px)"));
  EXPECT_THAT(error(plain, {4, 0, std::nan("")}), HasSubstr("is not larger"));
  EXPECT_THAT(error({rows, cols, std::nan(""), 3}, {4, 0, 5}), HasSubstr("the centre of the rings is not a number"));
  EXPECT_THAT(error({rows, cols, 3, 3, {1, 0, 0}}, {4, 0, 5}), HasSubstr("semi-axes 1 and 0 has no area"));
  EXPECT_THAT(error({rows, cols, 3, 3}, {4, 40, 50}), HasSubstr("no good pixel between 40 and 50 px"));
  EXPECT_THAT(error(plain, {4, 0, 5}, {1, 1}), HasSubstr("2 good pixels for a detector of 11 x 16"));
  EXPECT_THAT(error(plain, {100'000, 0, 5, 1000}), HasSubstr("more bins than a pattern has pixels"));
  EXPECT_THAT(error_of(ErrorKind::usage, [] { (void)parse_pixel_split("ful"); }), HasSubstr("full"));
}

}  // namespace
}  // namespace sonde::stem
