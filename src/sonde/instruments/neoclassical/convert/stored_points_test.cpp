// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/convert/stored_points.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/support/errors.h"

namespace sonde::neoclassical {
namespace {

using sonde::testing::error_of;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using N = Normalisation;

constexpr double tolerance = 1e-14;  // some ten roundings of numbers near one

/// Two points of a surface s = 0.25 with psi_a = mean of |sqrt g| B^zeta = -0.3, G = 10, I = 0.5, as a run stores them.
StoredNumbers per_s() {
  return {{"D11", {1.5, 1}},
          {"D31", {-0.7, 2}},
          {"D13", {0.7, 3}},
          {"D33", {400, 4}},
          {"nu_hat", {1e-3, 1}},
          {"epsi_hat", {0.06, 0}},
          {"B0", {2}},
          {"iota", {0.9}},
          {"s", {0.25}},
          {"psi_scale", {1}},
          {"b_sub_theta", {0.4, 0.6}},
          {"b_sub_zeta", {9, 11}},
          {"jacobian", {-2, -4}},
          {"b_sup_zeta", {-0.15, -0.075}}};
}

/// One point of a surface whose label is r with dpsi/dr = 0.5.
StoredNumbers per_r() {
  StoredNumbers stored = per_s();
  for (const char* name : {"D11", "D31", "D13", "D33", "nu_hat", "epsi_hat"}) stored[name].resize(1);
  stored["er_hat"] = {0.03};  // epsi_hat = 0.06 per psi, by dpsi/dr
  stored["s"] = {0};
  stored["psi_scale"] = {0.5};
  return stored;
}

TEST(StoredPoints, AreTakenFromTheLabelSToTheFlux) {
  const StoredNumbers made = converted(per_s(), {.from = N::ntx, .to = N::ntx});
  EXPECT_THAT(made.at("D11"), ElementsAre(DoubleNear(1.5 * 0.09, tolerance), DoubleNear(0.09, tolerance)));
  EXPECT_THAT(made.at("D31"), ElementsAre(DoubleNear(0.7 * 0.3, tolerance), DoubleNear(-0.6, tolerance)));
  EXPECT_THAT(made.at("D13"), ElementsAre(DoubleNear(-0.7 * 0.3, tolerance), DoubleNear(-0.9, tolerance)));
  EXPECT_THAT(made.at("D33"), ElementsAre(400, 4));
  EXPECT_THAT(made.at("e_hat"), ElementsAre(DoubleNear(-0.2, tolerance), 0));
  EXPECT_THAT(made.at("G"), ElementsAre(10));
  EXPECT_THAT(made.at("I"), ElementsAre(0.5));
}

TEST(StoredPoints, AreTakenFromTheLabelSToMetresWithTheRadius) {
  // r = 0.2 at s = 0.25: dr/ds = r/(2 s) = 0.4.
  const StoredNumbers made = converted(per_s(), {.from = N::ntx, .to = N::dkes, .radius = 0.2});
  EXPECT_NEAR(made.at("D11")[0], 1.5 * 0.16, tolerance);
  EXPECT_NEAR(made.at("D31")[0], -0.7 * 0.4, tolerance);
  EXPECT_NEAR(made.at("er_hat")[0], 0.06 / 0.4, tolerance);
  EXPECT_NEAR(made.at("psi_p")[0], -0.3 / 0.4, tolerance);
}

TEST(StoredPoints, OfALabelOfTheirOwnKeepTheirField) {
  const StoredNumbers psi = converted(per_r(), {.from = N::ntx, .to = N::ntx});
  EXPECT_NEAR(psi.at("D11")[0], 1.5 * 0.25, tolerance);
  EXPECT_NEAR(psi.at("D31")[0], -0.7 * 0.5, tolerance);
  EXPECT_THAT(psi.at("e_hat"), ElementsAre(0.06));
  // What is per r is what DKES has.
  const StoredNumbers dkes = converted(per_r(), {.from = N::ntx, .to = N::dkes});
  EXPECT_NEAR(dkes.at("D11")[0], 1.5, tolerance);
  EXPECT_NEAR(dkes.at("er_hat")[0], 0.03, tolerance);
  const StoredNumbers from_dkes = converted(per_r(), {.from = N::dkes, .to = N::ntx});
  EXPECT_NEAR(from_dkes.at("D11")[0], psi.at("D11")[0], tolerance);
  EXPECT_NEAR(from_dkes.at("e_hat")[0], 0.06, tolerance);
}

TEST(StoredPoints, HaveTheNamesOfSfincs) {
  const StoredNumbers made = converted(per_s(), {.from = N::ntx, .to = N::sfincs});
  const double root_pi = std::sqrt(std::numbers::pi), j = 10.45;
  EXPECT_NEAR(made.at("M11")[0], 8 * j * 2 * 1.5 * 0.09 / (root_pi * 100), tolerance);
  // The angles are left-handed (sqrt(g) < 0): SFINCS has -J, and with it other signs of M11, M22 and EStar.
  EXPECT_NEAR(made.at("M12")[0], 4 * 2 * 0.7 * 0.3 / (root_pi * 10), tolerance);  // D13
  EXPECT_NEAR(made.at("M21")[0], 4 * 2 * 0.7 * 0.3 / (root_pi * 10), tolerance);  // D31
  EXPECT_NEAR(made.at("M22")[0] / (2 * 2 * 400 / (root_pi * -j)), 1, tolerance);
  EXPECT_NEAR(made.at("nu_prime")[0], 1e-3 * j / (0.836027680488 * 2), 1e-14);
  EXPECT_NEAR(made.at("e_star")[0], 0.2 * 10 / (0.9 * 2), tolerance);
}

TEST(StoredPoints, ComeBack) {
  const StoredNumbers psi = converted(per_s(), {.from = N::ntx, .to = N::ntx});
  for (const N code : {N::ntx, N::dkes, N::sfincs, N::stars}) {
    SCOPED_TRACE(static_cast<int>(code));
    const StoredNumbers there = converted(per_s(), {.from = N::ntx, .to = code, .radius = 0.2, .major_radius = 5});
    const StoredNumbers back = converted(there, {.from = code, .to = N::ntx});
    for (const std::string& name : stored_names(N::ntx))
      for (std::size_t i = 0; i < 2; ++i)
        EXPECT_NEAR(back.at(name)[i], psi.at(name)[i], tolerance * (1 + std::abs(psi.at(name)[i]))) << name;
  }
}

TEST(StoredPoints, WhatIsWrongIsNamed) {
  const auto refused = [](auto change, const ConversionSettings& settings) {
    StoredNumbers stored = per_s();
    change(stored);
    return error_of(ErrorKind::bad_input, [&] { (void)converted(stored, settings); });
  };
  const auto nothing = [](StoredNumbers&) {};
  EXPECT_THAT(refused([](auto& s) { s.erase("B0"); }, {}), HasSubstr("no quantity B0"));
  EXPECT_THAT(refused([](auto& s) { s["iota"] = {1, 2}; }, {}), HasSubstr("iota holds 2 numbers, expected one"));
  EXPECT_THAT(refused([](auto& s) { s["D13"].pop_back(); }, {}), HasSubstr("D13 holds 1 numbers, but D11 holds 2"));
  EXPECT_THAT(refused([](auto& s) { s["nu_v"] = {1}; }, {}), HasSubstr("tables over collisionality and field"));
  EXPECT_THAT(refused([](auto& s) { s["D11"].clear(); }, {}), HasSubstr("D11 holds no number"));
  EXPECT_THAT(refused([](auto& s) { s["jacobian"].pop_back(); }, {}), HasSubstr("jacobian and b_sup_zeta"));
  EXPECT_THAT(refused(nothing, {.from = N::sfincs}), HasSubstr("per s is in the normalisation ntx"));
  EXPECT_THAT(error_of(ErrorKind::bad_input, [] { (void)converted(per_r(), {.from = N::sfincs}); }),
              HasSubstr("no quantity M11"));
  EXPECT_THAT(refused(nothing, {.psi_a = 0.3}), HasSubstr("psi_a = 0.3 T m^2 was given, but the file has -0.3"));
  EXPECT_THAT(refused(nothing, {.from = N::ntx, .to = N::dkes}), HasSubstr("dpsi/dr is 0"));  // no radius
  EXPECT_THAT(refused(nothing, {.from = N::ntx, .to = N::stars, .radius = 0.2}), HasSubstr("R0 is 0"));
}

}  // namespace
}  // namespace sonde::neoclassical
