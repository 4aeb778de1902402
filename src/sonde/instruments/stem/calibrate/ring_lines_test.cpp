// SPDX-License-Identifier: Apache-2.0
// Lines of known substances, peaks of drawn profiles, and the size of a pixel that puts one on the other.
#include "sonde/instruments/stem/calibrate/ring_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <numeric>

#include "sonde/engine/math/poisson.h"
#include "tests/support/data.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde::stem {
namespace {

using ::testing::HasSubstr;

constexpr double true_size = 0.0131;  // 1/A
constexpr double inner = 10, width = 0.5;
constexpr Index bins = 130;

/// Counts of `pixels` pixels in each bin, over Gaussian rings on a falling background, and their standard errors.
struct Profile {
  std::vector<double> mean, sigma;
};
Profile drawn(const std::vector<Line>& lines, std::uint64_t seed, double dose = 30) {
  const double largest = std::ranges::max_element(lines, {}, &Line::strength)->strength;
  std::vector<double> rates;
  for (Index bin = 0; bin < bins; ++bin) {
    const double radius = inner + width * (static_cast<double>(bin) + 0.5), pixels = 6.28 * radius * width;
    double rate = 0.3 + std::exp(-radius / 18);
    for (const Line& line : lines) {
      const double off = (radius - line.length / true_size) / 0.9;
      rate += std::sqrt(line.strength / largest) * std::exp(-0.5 * off * off);
    }
    rates.push_back(dose * rate * pixels);
  }
  std::vector<std::uint32_t> counts(rates.size());
  draw_poisson({seed, 0}, rates, counts);
  Profile made;
  for (Index bin = 0; bin < bins; ++bin) {
    const auto i = static_cast<std::size_t>(bin);
    const double pixels = 6.28 * (inner + width * (static_cast<double>(bin) + 0.5)) * width;
    made.mean.push_back(counts[i] / pixels);
    made.sigma.push_back(std::sqrt(counts[i]) / pixels);
  }
  return made;
}

RingScale scale_of(const std::vector<Line>& drawn_lines, const std::vector<Line>& lines, std::uint64_t seed) {
  const Profile profile = drawn(drawn_lines, seed);
  std::vector<RingPeak> peaks = find_ring_peaks(profile.mean, profile.sigma, inner, width);
  return fit_ring_scale(peaks, lines, inner, inner + width * bins);
}

class RingLinesOf : public ::testing::TestWithParam<const char*> {};

TEST_P(RingLinesOf, ACalibrantGiveTheSizeOfAPixel) {
  SONDE_NEED_DATA(data);
  const std::vector<Line> lines = read_lines(data / "stem-analysis" / GetParam(), 1.2);
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    const RingScale scale = scale_of(lines, lines, seed);
    EXPECT_EQ(scale.refused, "");
    // Lines that overlap pull each other by a few hundredths of a pixel of some forty.
    EXPECT_NEAR(scale.q_pixel, true_size, 1e-3 * true_size);
    EXPECT_LT(scale.standard_error, 1e-3 * true_size);
  }
}

INSTANTIATE_TEST_SUITE_P(Calibrants, RingLinesOf,
                         ::testing::Values("calibrant_Au.D", "calibrant_Al.D", "calibrant_Si.D", "calibrant_CeO2.D",
                                           "calibrant_Ni.D"));

TEST(RingLines, OfAnotherSubstanceAreRefused) {
  SONDE_NEED_DATA(data);
  // Silicon (diamond) has lines that no face-centred metal has, and lacks some of theirs.
  const std::vector<Line> silicon = read_lines(data / "stem-analysis/calibrant_Si.D", 1.2),
                          nickel = read_lines(data / "stem-analysis/calibrant_Ni.D", 1.2);
  EXPECT_NE(scale_of(silicon, nickel, 1).refused, "");
  EXPECT_NE(scale_of(nickel, silicon, 1).refused, "");
}

TEST(RingLines, TooFewRingsAreRefused) {
  const std::vector<Line> two = {{0.3, 1, "100"}, {0.42, 1, "110"}};
  EXPECT_THAT(scale_of(two, two, 1).refused, HasSubstr("only 2 rings were found; expected 3 or more"));
}

TEST(RingLines, OfACifFileAreItsReflections) {
  SONDE_NEED_DATA(data);
  const sonde::testing::TemporaryFolder folder;
  std::ofstream(folder.file("Au.cif"))
      << "data_gold\n_cell_length_a 4.0782\n_cell_length_b 4.0782\n_cell_length_c 4.0782\n"
         "_cell_angle_alpha 90\n_cell_angle_beta 90\n_cell_angle_gamma 90\n"
         "_space_group_name_H-M_alt 'F m -3 m'\nloop_\n_atom_site_label\n_atom_site_fract_x\n"
         "_atom_site_fract_y\n_atom_site_fract_z\nAu1 0 0 0\n";
  const std::vector<Line> cif = read_lines(folder.file("Au.cif"), 1.2),
                          list = read_lines(data / "stem-analysis/calibrant_Au.D", 1.2);
  ASSERT_GE(cif.size(), 7u);
  for (std::size_t i = 0; i < cif.size(); ++i) {
    EXPECT_NEAR(cif[i].length, list[i].length, 1e-6);
    EXPECT_EQ(cif[i].name, list[i].name);
  }
  EXPECT_GT(cif[0].strength, cif[2].strength);  // 111 of gold is stronger than 220
}

TEST(RingLines, WhatIsNoListIsRefused) {
  const sonde::testing::TemporaryFolder folder;
  const auto error = [&](const std::string& text) {
    std::ofstream(folder.file("list.D")) << text;
    return sonde::testing::error_of(ErrorKind::bad_file, [&] { (void)read_lines(folder.file("list.D"), 2); });
  };
  EXPECT_THAT(error("# title\n2.35 # (1, 1, 1) 8\nnothing\n"),
              HasSubstr("list.D:3: \"nothing\"; expected a spacing above 0 in A"));
  EXPECT_THAT(error("-1\n"), HasSubstr("list.D:1: \"-1\"; expected a spacing above 0 in A"));
  EXPECT_THAT(error("# title\n"), HasSubstr("list.D: no line with 1/d up to 2 1/A"));
}

TEST(RingPeaks, ScatterByTheirErrors) {
  const std::vector<Line> lines = {{0.25, 1, "a"}, {0.45, 1, "b"}, {0.6, 0.3, "c"}};
  double squares = 0;
  constexpr int draws = 60;
  for (std::uint64_t seed = 0; seed < draws; ++seed) {
    const Profile profile = drawn(lines, seed, 3);
    const std::vector<RingPeak> peaks = find_ring_peaks(profile.mean, profile.sigma, inner, width);
    ASSERT_EQ(peaks.size(), 3u);
    for (std::size_t i = 0; i < 3; ++i) {
      const double pull = (peaks[i].radius - lines[i].length / true_size) / peaks[i].error;
      squares += pull * pull / (3 * draws);
    }
  }
  // 180 pulls scatter by 5 %; the edges of the window follow the top, which is not in the error.
  EXPECT_GT(std::sqrt(squares), 0.7);
  EXPECT_LT(std::sqrt(squares), 1.6);
}

}  // namespace
}  // namespace sonde::stem
