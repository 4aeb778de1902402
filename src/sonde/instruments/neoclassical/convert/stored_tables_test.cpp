// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/convert/stored_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "tests/support/errors.h"

namespace sonde::neoclassical {
namespace {

using sonde::testing::error_of;
using ::testing::AllOf;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using N = Normalisation;

constexpr double table_tolerance = 1e-13;  // some hundred roundings of numbers near one

/// Two radii, two collisionalities and three fields of an equilibrium, as a scan stores them per s.
StoredNumbers a_scan() {
  StoredNumbers stored = {{"rho", {0.5, 0.8}},
                          {"nu_v", {1e-2, 1e-1}},
                          {"field", {0, 1e-3, 2e-3}},
                          {"epsi_hat", {0, 0.06, 0.12, 0, 0.04, 0.08}},
                          {"iota", {0.9, 0.8}},
                          {"B0", {2, 2.1}},
                          {"G", {-10, -11}},
                          {"I", {0.5, 0.4}},
                          {"psi_scale", {1, 1}},
                          {"R0", {5, 5.1}},
                          {"a_b", {0.4}},
                          {"psi_a", {-0.3}}};
  for (int i = 0; i < 12; ++i) {
    stored["D11"].push_back(1 + i);
    stored["D31"].push_back(-0.5 - i);
    stored["D13"].push_back(0.5 + i);
    stored["D33"].push_back(100 + i);
  }
  return stored;
}

/// The same as a database has it: fields, lengths and the flux by other names, and no sign of the flux.
StoredNumbers a_database() {
  StoredNumbers stored = a_scan();
  stored["Er_tilde"] = stored["field"];
  stored["Es"] = stored["epsi_hat"];
  stored["B0_solver"] = stored["B0"];
  stored["R00"] = stored["R0"];
  stored["B00"] = {2.05, 2.15};
  stored["drds"] = {0.4, 0.25};  // a_b / (2 rho)
  stored["dr_tildedr"] = {2 * 0.3 / (0.16 * 2.05), 2 * 0.3 / (0.16 * 2.15)};
  for (const char* name : {"field", "epsi_hat", "B0", "R0", "a_b", "psi_a", "psi_scale"}) stored.erase(name);
  return stored;
}

/// What is read back of a file of these.
StoredNumbers as_stored(const Converted& made) {
  StoredNumbers stored = made.numbers;
  stored["rho"] = made.rho;
  stored["nu_v"] = made.nu_v;
  stored["field"] = made.field;
  return stored;
}

TEST(StoredTables, OfAScanAreThePointsOfEveryRadius) {
  const Converted made = converted_file(a_scan(), {.from = N::ntx, .to = N::sfincs});
  const double root_pi = std::sqrt(std::numbers::pi), j = -11 + 0.8 * 0.4;
  // An equilibrium's angles are left-handed: -J in -8 J B0 D11, and -EStar.
  const std::size_t last = 11;  // rho = 0.8, nu_v = 0.1, the third field
  EXPECT_NEAR(made.numbers.at("M11")[last], 8 * j * 2.1 * 12 * 0.09 / (root_pi * 121), table_tolerance);
  EXPECT_NEAR(made.numbers.at("M21")[last], 4 * 2.1 * (-11.5 * -0.3) / (root_pi * -11), table_tolerance);
  EXPECT_NEAR(made.numbers.at("nu_prime")[3], 0.1 * std::abs(j) / (0.836027680488 * 2.1), 1e-12);
  EXPECT_NEAR(made.numbers.at("e_star")[5], -0.08 / -0.3 * -11 / (0.8 * 2.1), table_tolerance);
  EXPECT_EQ(made.shape("M11"), (Shape{2, 2, 3}));
  EXPECT_EQ(made.shape("nu_prime"), (Shape{2, 2}));
  EXPECT_EQ(made.shape("e_star"), (Shape{2, 3}));
  EXPECT_EQ(made.shape("B0"), (Shape{2}));
}

TEST(StoredTables, PerMetreTakeTheMinorRadius) {
  // r = 0.4 * 0.8 at s = 0.64: dr/ds = r / (2 s) = 0.25.
  const Converted made = converted_file(a_scan(), {.from = N::ntx, .to = N::dkes});
  EXPECT_NEAR(made.numbers.at("D11")[11], 12 * 0.0625, table_tolerance);
  EXPECT_NEAR(made.numbers.at("D31")[11], -11.5 * 0.25, table_tolerance);
  EXPECT_NEAR(made.numbers.at("er_hat")[5], 0.08 / 0.25, table_tolerance);
}

TEST(StoredTables, OfADatabaseAreThoseOfTheScan) {
  for (const N code : {N::ntx, N::dkes, N::sfincs, N::stars}) {
    SCOPED_TRACE(name(code));
    const Converted scan = converted_file(a_scan(), {.from = N::ntx, .to = code}),
                    database = converted_file(a_database(), {.from = N::ntx, .to = code});
    for (const auto& [name, values] : scan.numbers)
      for (std::size_t i = 0; i < values.size(); ++i)
        EXPECT_NEAR(database.numbers.at(name)[i] / (values[i] == 0 ? 1 : values[i]), values[i] == 0 ? 0 : 1,
                    table_tolerance)
            << name << i;
  }
}

TEST(StoredTables, ComeBack) {
  const Converted psi = converted_file(a_scan(), {.from = N::ntx, .to = N::ntx});
  for (const N code : {N::ntx, N::dkes, N::sfincs, N::stars}) {
    SCOPED_TRACE(name(code));
    const Converted there = converted_file(a_scan(), {.from = N::ntx, .to = code}),
                    back = converted_file(as_stored(there), {.from = code, .to = N::ntx});
    for (const auto& [name, values] : psi.numbers)
      for (std::size_t i = 0; i < values.size(); ++i)
        EXPECT_NEAR(back.numbers.at(name)[i], values[i], table_tolerance * (1 + std::abs(values[i]))) << name << i;
  }
}

TEST(StoredTables, OfALabelOfTheirOwnKeepTheirField) {
  StoredNumbers stored = a_scan();
  stored["rho"] = {std::numeric_limits<double>::quiet_NaN()};
  stored["psi_scale"] = {0.5};
  for (const char* name : {"iota", "B0", "G", "I"}) stored[name].resize(1);
  for (const char* name : {"D11", "D31", "D13", "D33"}) stored[name].resize(6);
  stored["epsi_hat"].resize(3);
  for (const char* name : {"R0", "a_b", "psi_a"}) stored.erase(name);
  const Converted made = converted_file(stored, {.from = N::ntx, .to = N::dkes});
  EXPECT_THAT(made.numbers.at("D11"), ElementsAre(1, 2, 3, 4, 5, 6));  // per r as they were
  EXPECT_THAT(made.numbers.at("er_hat"),
              ElementsAre(0, DoubleNear(0.03, table_tolerance), DoubleNear(0.06, table_tolerance)));
}

TEST(StoredTables, OfALabelOfTheirOwnHaveNoUseForWhatTellsOfS) {
  StoredNumbers stored = a_scan();
  stored["rho"] = {std::numeric_limits<double>::quiet_NaN()};
  const auto refused = [&](const ConversionSettings& settings) {
    return error_of(ErrorKind::bad_input, [&] { (void)converted_file(stored, settings); });
  };
  EXPECT_THAT(refused({.psi_a = 1}), HasSubstr("psi_a has no meaning"));
  EXPECT_THAT(refused({.minor_radius = 1}), HasSubstr("--radius, that of the surface"));
}

TEST(StoredTables, WhatIsMissingIsGivenByAFlag) {
  StoredNumbers bare = a_scan();
  for (const char* name : {"R0", "a_b", "psi_a"}) bare.erase(name);
  const auto refused = [&](const ConversionSettings& settings) {
    return error_of(ErrorKind::bad_input, [&] { (void)converted_file(bare, settings); });
  };
  EXPECT_THAT(refused({.from = N::ntx, .to = N::stars}), HasSubstr("--psi-a"));
  EXPECT_THAT(refused({.from = N::ntx, .to = N::stars, .psi_a = -0.3}), HasSubstr("--major-radius"));
  EXPECT_THAT(refused({.from = N::ntx, .to = N::stars, .major_radius = 5, .psi_a = -0.3}), HasSubstr("--minor-radius"));
  EXPECT_THAT(refused({.from = N::ntx, .to = N::stars, .radius = 0.2, .major_radius = 5, .psi_a = -0.3}),
              HasSubstr("--minor-radius"));  // one radius for two surfaces
  const Converted made =
      converted_file(bare, {.from = N::ntx, .to = N::stars, .minor_radius = 0.4, .major_radius = 5, .psi_a = -0.3});
  const Converted known = converted_file(a_scan(), {.from = N::ntx, .to = N::stars, .major_radius = 5});
  EXPECT_EQ(made.numbers, known.numbers);
}

TEST(StoredTables, WhatIsWrongIsNamed) {
  const auto refused = [](auto change, const ConversionSettings& settings) {
    StoredNumbers stored = a_scan();
    change(stored);
    return error_of(ErrorKind::bad_input, [&] { (void)converted_file(stored, settings); });
  };
  const auto nothing = [](StoredNumbers&) {};
  EXPECT_THAT(refused([](auto& s) { s["D13"].pop_back(); }, {}), HasSubstr("D13 holds 11 numbers, expected 12"));
  EXPECT_THAT(refused([](auto& s) { s["iota"] = {1}; }, {}), HasSubstr("iota holds 1 numbers, expected 2"));
  EXPECT_THAT(refused([](auto& s) { s["nu_v"].clear(); }, {}), HasSubstr("nu_v holds no number"));
  EXPECT_THAT(refused([](auto& s) { s.erase("field"); }, {}), HasSubstr("no quantity field"));
  EXPECT_THAT(refused([](auto& s) { s.erase("G"); }, {}), AllOf(HasSubstr("G is 0"), HasSubstr("while: at radius 0")));
  EXPECT_THAT(refused(nothing, {.from = N::sfincs}), HasSubstr("in the normalisation ntx"));
  EXPECT_THAT(refused(nothing, {.psi_a = 0.3}), HasSubstr("psi_a = 0.3 T m^2 was given, but the file has -0.3"));
}

TEST(StoredTables, OfAFileSayTheirUnitsAndTheirNormalisation) {
  const Contents contents = contents_of(converted_file(a_scan(), {.from = N::ntx, .to = N::dkes}));
  const auto of = [&](const std::string& name) -> const Contents::Variable& {
    return *std::find_if(contents.variables().begin(), contents.variables().end(),
                         [&](const auto& variable) { return variable.name == name; });
  };
  using Attribute = Contents::Attributes::value_type;
  EXPECT_THAT(of("D11").attributes, ElementsAre(Attribute("units", std::string("m^-1 T^-2")),
                                                Attribute("normalisation", std::string("dkes"))));
  EXPECT_THAT(of("D11").dimensions, ElementsAre("rho", "nu_v", "field"));
  EXPECT_THAT(of("er_hat").dimensions, ElementsAre("rho", "field"));
  EXPECT_THAT(of("psi_p").attributes, ElementsAre(Attribute("units", std::string("T m"))));
  EXPECT_EQ(of("normalisation").text, "dkes");
}

}  // namespace
}  // namespace sonde::neoclassical
