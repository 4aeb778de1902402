// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/boozer/transform.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/neoclassical/read/bc.h"
#include "sonde/instruments/neoclassical/read/boozmn.h"
#include "tests/support/data.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"
#include "tests/support/interrupts.h"

namespace sonde::neoclassical {
namespace {

using sonde::testing::error_of;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// The largest difference of a table's row from that of the other program, over its `count` largest harmonics (of B).
double largest_difference(const HarmonicTable& ours, const HarmonicTable& theirs, Index row, Index their_row,
                          std::size_t count, bool sines) {
  const auto a = sines ? ours.sines(row) : ours.cosines(row),
             b = sines ? theirs.sines(their_row) : theirs.cosines(their_row);
  std::vector<std::size_t> order(b.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return std::abs(b[i]) > std::abs(b[j]); });
  double largest = 0;
  for (std::size_t k = 0; k < std::min(count, order.size()); ++k)
    largest = std::max(largest, std::abs(a[order[k]] - b[order[k]]));
  return largest;
}

struct Pair {
  const char* name;
  std::vector<Index> rows;  ///< surfaces of the boozmn file that are compared
  double tolerance;         ///< of B, relative to B_00
};

class BoozerTransform : public ::testing::TestWithParam<Pair> {};

/// BOOZ_XFORM made these files from the same equilibria with the same modes and grid: equal but for rounding.
TEST_P(BoozerTransform, GivesTheHarmonicsOfBoozXform) {
  SONDE_NEED_DATA(data);
  const Pair& pair = GetParam();
  const auto path = [&](const char* kind) {
    return (data / "neoclassical" / (std::string(kind) + "_" + pair.name + ".nc")).string();
  };
  const Wout wout = read_wout(path("wout"));
  const BoozerFile theirs = read_boozmn(path("boozmn"));
  std::vector<double> s;
  for (const Index row : pair.rows) s.push_back(theirs.s[static_cast<std::size_t>(row)]);
  Notes notes;
  const BoozerFile ours = boozer_transform(wout, s, {theirs.mboz, theirs.nboz}, notes);
  ASSERT_EQ(ours.modes, theirs.modes);
  constexpr std::size_t largest = 200;
  for (std::size_t i = 0; i < s.size(); ++i) {
    const auto row = static_cast<Index>(i);
    const Index their_row = pair.rows[i];
    const double b0 = theirs.b.cosines(their_row)[0];
    const auto expect_equal = [&](const HarmonicTable& a, const HarmonicTable& b, double tolerance, const char* what) {
      SCOPED_TRACE(std::string(what) + " at s = " + std::to_string(s[i]));
      for (const bool sines : {false, true}) {
        if ((sines ? b.sine : b.cosine).empty()) continue;
        EXPECT_LE(largest_difference(a, b, row, their_row, largest, sines), tolerance) << (sines ? "sines" : "cosines");
      }
    };
    expect_equal(ours.b, theirs.b, pair.tolerance * b0, "B");
    if (theirs.r.rows > 0) expect_equal(ours.r, theirs.r, 10 * pair.tolerance, "R");
    if (theirs.z.rows > 0) expect_equal(ours.z, theirs.z, 10 * pair.tolerance, "Z");
    if (theirs.zeta_shift.rows > 0) expect_equal(ours.zeta_shift, theirs.zeta_shift, 10 * pair.tolerance, "shift");
    if (theirs.jacobian.rows > 0) expect_equal(ours.jacobian, theirs.jacobian, 10 * pair.tolerance, "gmn");
  }
}

INSTANTIATE_TEST_SUITE_P(Equilibria, BoozerTransform,
                         ::testing::Values(Pair{"li383_1.4m", {0, 3}, 1e-12},
                                           Pair{"HSX_QHS_vacuum_ns201", {0, 1, 50, 199}, 1e-12},
                                           Pair{"circular_tokamak", {0, 1, 7, 15}, 1e-12},
                                           Pair{"up_down_asymmetric_tokamak", {0, 1, 7, 15}, 1e-10},
                                           Pair{"LandremanSenguptaPlunk_section5p3", {0, 3}, 1e-10}));

std::string in_data(const std::filesystem::path& data, const char* name) {
  return (data / "neoclassical" / name).string();
}

TEST(Transform, TellsHowFarItsHarmonicsAreFromTheEquilibrium) {
  SONDE_NEED_DATA(data);
  const Wout wout = read_wout(in_data(data, "wout_li383_1.4m.nc"));
  Notes notes;
  const BoozerFile fine = boozer_transform(wout, {0.5}, default_resolution(wout), notes);
  EXPECT_EQ(fine.mboz, 54);
  EXPECT_EQ(fine.nboz, 10);
  EXPECT_LT(fine.largest_defect[0], 1e-4);
  EXPECT_LT(fine.jacobian_defect[0], 1e-2);  // of the equilibrium itself, which is not converged to better
  const BoozerFile coarse = boozer_transform(wout, {0.5}, {4, 2}, notes);
  EXPECT_GT(coarse.largest_defect[0], 1e-3);
  EXPECT_THAT(notes, ::testing::Contains(HasSubstr("differs from that of the equilibrium")));
}

/// What the defect claims, by the definition: |B| from the harmonics at the Boozer angles of a few points.
TEST(Transform, HarmonicsGiveBackTheField) {
  SONDE_NEED_DATA(data);
  const Wout wout = read_wout(in_data(data, "wout_up_down_asymmetric_tokamak.nc"));
  Notes notes;
  const BoozerFile file = boozer_transform(wout, {0.4}, {48, 0}, notes);
  const Series b = radial_rule(wout.s, 0.4)(wout.b, wout.modes);
  const Series lambda = radial_rule(wout.s, 0.4)(wout.lambda, wout.shape_modes);
  const RadialProfile profile = profile_at(wout, 0.4);
  const Series b_sub_theta = radial_rule(wout.s, 0.4)(wout.b_sub_theta, wout.modes);
  const auto at = [](const Series& series, double theta, bool integral) {
    double sum = 0;
    for (std::size_t i = 0; i < series.modes.size(); ++i) {
      const double m = series.modes[i].m, c = series.cosine[i], s = series.sine.empty() ? 0 : series.sine[i];
      if (!integral)
        sum += c * std::cos(m * theta) + s * std::sin(m * theta);
      else if (m != 0)
        sum += (c * std::sin(m * theta) - s * std::cos(m * theta)) / m;
    }
    return sum;
  };
  for (const double theta : {0.3, 1.7, 4.0}) {
    const double p = (at(b_sub_theta, theta, true) - profile.b_theta * at(lambda, theta, false)) /
                     (profile.b_zeta + profile.iota * profile.b_theta);
    const double boozer = theta + at(lambda, theta, false) + profile.iota * p;
    const Series harmonics{file.modes, {file.b.cosine.begin(), file.b.cosine.end()}, file.b.sine};
    EXPECT_NEAR(at(harmonics, boozer, false), at(b, theta, false), 2 * file.largest_defect[0] * profile.b00 + 1e-13);
  }
  EXPECT_LT(file.largest_defect[0], 1e-7);
}

TEST(Transform, AFileOfItIsReadBack) {
  SONDE_NEED_DATA(data);
  const sonde::testing::TemporaryFolder folder;
  const Wout wout = read_wout(in_data(data, "wout_circular_tokamak.nc"));
  Notes notes;
  const BoozerFile made = boozer_transform(wout, {}, {12, 0}, notes);
  EXPECT_EQ(made.s, wout.s);
  write_boozmn(folder.file("b.nc"), made);
  const BoozerFile read = read_boozmn(folder.file("b.nc"));
  EXPECT_EQ(read.s, made.s);
  EXPECT_EQ(read.b.cosine, made.b.cosine);
  EXPECT_EQ(read.zeta_shift.sine, made.zeta_shift.sine);
  EXPECT_NEAR(*read.psi_a, wout.psi_a, 1e-14);
  const BoozerFile theirs =
      read_boozmn(in_data(data, "boozmn_circular_tokamak.nc"));  // profiles as BOOZ_XFORM has them
  for (std::size_t j = 0; j < read.iota.size(); ++j) {
    EXPECT_NEAR(read.iota[j], theirs.iota[j], 1e-13);
    EXPECT_NEAR(read.b_zeta[j], theirs.b_zeta[j], 1e-11);
    EXPECT_NEAR(read.b_theta[j], theirs.b_theta[j], 1e-11);
  }
}

TEST(Transform, RadiiOfABoozmnLieOnTheHalfMesh) {
  Wout wout;
  wout.s = {0.125, 0.375, 0.625, 0.875};
  Notes notes;
  EXPECT_EQ(on_half_mesh(wout, {0.625, 0.375}, notes), (std::vector<double>{0.375, 0.625}));
  EXPECT_THAT(notes, IsEmpty());
  EXPECT_EQ(on_half_mesh(wout, {0.6, 0.625}, notes), (std::vector<double>{0.625}));
  EXPECT_THAT(notes, ::testing::ElementsAre(HasSubstr("s = 0.6 is taken at the nearest")));
}

TEST(Transform, WhatMakesNoSenseIsRefused) {
  Wout wout;
  wout.path = "wout.nc";
  Notes notes;
  const auto refused = [&](std::vector<double> s, BoozerResolution resolution) {
    return error_of(ErrorKind::bad_input, [&] { (void)boozer_transform(wout, std::move(s), resolution, notes); });
  };
  EXPECT_THAT(refused({0.5}, {0, 3}), HasSubstr("mboz = 0, nboz = 3"));
  EXPECT_THAT(refused({0.5}, {3, -1}), HasSubstr("nboz = -1"));
  EXPECT_THAT(refused({1.5}, {3, 3}), HasSubstr("s = 1.5 is outside"));
  EXPECT_THAT(refused({0.5, 0.4}, {3, 3}), HasSubstr("do not increase: s = 0.4 after 0.5"));
}

TEST(Transform, EndsBetweenSurfacesWhenAskedToStop) {
  SONDE_NEED_DATA(data);
  const Wout wout = read_wout(in_data(data, "wout_circular_tokamak.nc"));
  Notes notes;
  const sonde::testing::InterruptAt first(1);
  error_of(ErrorKind::interrupted, [&] { (void)boozer_transform(wout, {}, {4, 0}, notes); });
}

TEST(Transform, TheHalfMeshHasNoSurfaceOutside) {
  SONDE_NEED_DATA(data);
  const Wout wout = read_wout(in_data(data, "wout_circular_tokamak.nc"));
  Notes notes;
  for (const double s : {0.0, 2.0})
    EXPECT_THAT(error_of(ErrorKind::bad_input,
                         [&] {
                           (void)on_half_mesh(wout, {0.5, s}, notes);
                         }),
                HasSubstr("outside of 0 < s <= 1"));
}

/// W7-X from two sources that are no pair: the wout's configuration has another field strength, so only ratios compare.
TEST(Transform, LargestHarmonicsOfW7xAreThoseOfItsBcFile) {
  SONDE_NEED_DATA(data);
  const BoozerFile bc = read_bc(in_data(data, "w7x-sc1.bc"));
  Notes notes;
  const BoozerFile ours =
      boozer_transform(read_wout(in_data(data, "wout_w7x_standardConfig.nc")), {0.25}, {24, 20}, notes);
  const Series theirs = radial_rule(bc.s, 0.25)(bc.b, bc.modes);
  const auto ours_at = [&](Mode mode) {
    const auto found = std::find(ours.modes.begin(), ours.modes.end(), mode);
    return ours.b.cosine[static_cast<std::size_t>(found - ours.modes.begin())];
  };
  EXPECT_NEAR(ours_at({0, 0}), 2.799, 1e-3);
  std::vector<std::size_t> order(theirs.modes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t i, std::size_t j) { return std::abs(theirs.cosine[i]) > std::abs(theirs.cosine[j]); });
  for (std::size_t k = 1; k <= 5; ++k) {
    const Mode mode = theirs.modes[order[k]];
    SCOPED_TRACE(std::to_string(mode.m) + ", " + std::to_string(mode.n));
    const double ratio = theirs.cosine[order[k]] / theirs.cosine_of({0, 0});
    EXPECT_NEAR(ours_at(mode) / ours_at({0, 0}), ratio, 0.2 * std::abs(ratio));
  }
  // The sign of n: (1,1) and (1,-1) of the files' phase m theta - n zeta differ by a factor of seventeen and in sign.
  EXPECT_NEAR(ours_at({1, -1}) / ours_at({0, 0}), -0.0456, 2e-4);
  EXPECT_NEAR(ours_at({1, 1}) / ours_at({0, 0}), 0.0027, 1e-4);
}

}  // namespace
}  // namespace sonde::neoclassical
