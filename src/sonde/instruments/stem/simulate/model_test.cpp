// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/simulate/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

#include "sonde/instruments/stem/simulate/presets.h"
#include "tests/support/errors.h"

namespace sonde::stem {
namespace {

using ::testing::HasSubstr;

std::vector<double> rates(const Model& model, Index position = 0) {
  std::vector<double> rate(static_cast<std::size_t>(model.pixels()));
  Model::Scratch scratch;
  model.rates(position, scratch, rate);
  return rate;
}

Optics small() {
  Optics optics;
  optics.rows = 40;
  optics.cols = 50;
  optics.dose = 1000;
  optics.centre_row = 19.3;
  optics.centre_col = 24.6;
  optics.disk_radius = 7;
  optics.halo_length = 6;
  return optics;
}

Model one_beam(const Optics& optics, const Beam& beam, std::vector<Defect> defects = {}) {
  return Model(
      optics, 1, 1, [beam](Index, Index) { return beam; }, std::move(defects));
}

/// The equation of the header, evaluated pixel by pixel without tables.
std::vector<double> by_equation(const Optics& optics, const Beam& beam) {
  const auto over = [&](double row, double col, auto&& radial) {
    std::vector<double> rate;
    for (Index r = 0; r < optics.rows; ++r)
      for (Index c = 0; c < optics.cols; ++c)
        rate.push_back(radial(std::hypot(static_cast<double>(r) - row, static_cast<double>(c) - col)));
    return rate;
  };
  const auto add = [&](std::vector<double>& sum, double weight, double down, double across, auto&& radial) {
    const auto reference = over(optics.centre_row, optics.centre_col, radial);
    const double norm = std::accumulate(reference.begin(), reference.end(), 0.0);
    const auto moved = over(optics.centre_row + down, optics.centre_col + across, radial);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += optics.dose * weight / norm * moved[i];
  };
  const auto disk = [&](double d) { return 1 / (1 + std::exp((d - optics.disk_radius) / optics.edge_width)); };
  std::vector<double> sum(static_cast<std::size_t>(optics.rows * optics.cols), 0);
  add(sum, beam.disk, beam.shift_row, beam.shift_col, disk);
  add(sum, beam.halo, beam.shift_row, beam.shift_col, [&](double d) { return std::exp(-d / optics.halo_length); });
  add(sum, beam.wide, beam.shift_row, beam.shift_col, [&](double d) { return std::exp(-d / optics.wide_length); });
  for (int i = 0; i < beam.spot_count; ++i) {
    const Spot& spot = beam.spots[static_cast<std::size_t>(i)];
    add(sum, spot.weight, beam.shift_row + spot.row, beam.shift_col + spot.col, disk);
  }
  return sum;
}

TEST(Model, FollowsItsEquation) {
  Beam beam;
  beam.shift_row = 1.7;
  beam.shift_col = -2.9;
  beam.disk = 0.5;
  beam.halo = 0.2;
  beam.wide = 0.05;
  beam.add({12.3, -4.5, 0.15});
  beam.add({-9, 20, 0.1});  // partly outside of the detector
  const auto rate = rates(one_beam(small(), beam)), expected = by_equation(small(), beam);
  // Linear interpolation at 1/32 px misses by f'' h^2 / 8: 2 10^-5 of the disk's plateau at its edge and the cusps.
  const double plateau = 1000 / (3.14 * 49);
  for (std::size_t i = 0; i < rate.size(); ++i) EXPECT_NEAR(rate[i], expected[i], 5e-5 * plateau) << i;
}

TEST(Model, AnUndeflectedPatternSumsToTheDose) {
  Beam beam;
  beam.disk = 0.7;
  beam.halo = 0.2;
  beam.wide = 0.1;
  const auto rate = rates(one_beam(small(), beam));
  EXPECT_NEAR(std::accumulate(rate.begin(), rate.end(), 0.0), 1000, 1e-9);
}

TEST(Model, ABeamFarOutsideLeavesTheDetectorDark) {
  Beam beam;
  beam.shift_col = 1e6;
  const auto rate = rates(one_beam(small(), beam));
  EXPECT_EQ(std::accumulate(rate.begin(), rate.end(), 0.0), 0);
}

TEST(Model, DefectsChangeTheirPixelOnly) {
  const std::vector<Defect> defects = {{.row = 3, .col = 4, .kind = Defect::Kind::hot, .rate = 12.5},
                                       {.row = 19, .col = 24, .kind = Defect::Kind::dead}};
  const auto clean = rates(one_beam(small(), Beam{}));
  const Model model = one_beam(small(), Beam{}, defects);
  auto rate = rates(model);
  EXPECT_DOUBLE_EQ(rate[3 * 50 + 4], clean[3 * 50 + 4] + 12.5);
  EXPECT_EQ(rate[19 * 50 + 24], 0);
  rate[3 * 50 + 4] = clean[3 * 50 + 4];
  rate[19 * 50 + 24] = clean[19 * 50 + 24];
  EXPECT_EQ(rate, clean);
  const auto good = model.good();
  EXPECT_EQ(good[3 * 50 + 4], 0);
  EXPECT_EQ(std::accumulate(good.begin(), good.end(), 0), 2000 - 2);
}

TEST(Model, ImpossibleNumbersAreNamed) {
  const auto text = [](auto&& change) {
    Optics optics = small();
    change(optics);
    return sonde::testing::error_of(ErrorKind::bad_input, [&] { (void)one_beam(optics, Beam{}); });
  };
  EXPECT_THAT(text([](Optics& o) { o.dose = -1; }), HasSubstr("a dose of -1 electrons per pattern"));
  EXPECT_THAT(text([](Optics& o) { o.disk_radius = 0; }), HasSubstr("a disk radius of 0 px"));
  EXPECT_THAT(text([](Optics& o) { o.rows = 0; }), HasSubstr("a detector of 0 x 50 pixels"));
  EXPECT_THAT(text([](Optics& o) { o.centre_row = 1e5; }), HasSubstr("misses a detector of 40 x 50 pixels"));
  EXPECT_THAT(
      sonde::testing::error_of(ErrorKind::bad_input, [] { (void)one_beam(small(), Beam{}, {{.row = 40, .col = 0}}); }),
      HasSubstr("the bad pixel (40, 0) is outside"));
}

TEST(Workload, HasTheSpecifiedPattern) {
  // Mean 1.0 per pixel, 0.85 of it in a disk of 30 px; the shift of position 0 is (-1, -1).
  const Model model = workload(Workload::w1);
  EXPECT_EQ(model.positions(), 16384);
  EXPECT_EQ(model.defects().size(), 4u);
  const auto rate = rates(model, 4);  // the undeflected one of the nine
  EXPECT_NEAR(std::accumulate(rate.begin(), rate.end(), 0.0) / 36864, 1, 1e-12);
  // Area of a logistic disk: pi (r^2 + pi^2 w^2 / 3); the halo adds its centre value at most.
  const double plateau = 0.85 * 36864 / (std::numbers::pi * (900 + std::numbers::pi * std::numbers::pi * 0.64 / 3));
  const double halo = rate[95 * 192 + 192 - 1] / std::exp(-95.5 / 25);  // seen at the rim of row 95
  EXPECT_NEAR(rate[95 * 192 + 95], plateau + halo * std::exp(-std::sqrt(0.5) / 25), 0.01);
  const Beam first = model.beam(0), last = model.beam(8);
  EXPECT_EQ(first.shift_row, -1);
  EXPECT_EQ(first.shift_col, -1);
  EXPECT_EQ(last.shift_row, 1);
  EXPECT_EQ(last.shift_col, 1);
}

}  // namespace
}  // namespace sonde::stem
