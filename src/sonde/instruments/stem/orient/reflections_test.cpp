// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/orient/reflections.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <fstream>
#include <vector>

#include "sonde/instruments/stem/orient/test_crystals.h"
#include "tests/support/data.h"
#include "tests/support/errors.h"

namespace sonde::stem {
namespace {

using sonde::testing::error_of;
using ::testing::HasSubstr;

TEST(ScatteringFactors, AreThoseOfLobatoAndVanDyck) {
  SONDE_NEED_DATA(data);
  std::ifstream file(data / "stem-analysis/lobato2014_scattering_factors.txt");
  std::vector<std::array<double, 10>> rows;
  for (std::array<double, 10> row{}; file >> row[0];) {
    for (std::size_t i = 1; i < 10; ++i) file >> row[i];
    rows.push_back(row);
  }
  ASSERT_EQ(rows.size(), 103U);
  for (const int element : {6, 14, 29, 79}) {
    const auto& row = rows[static_cast<std::size_t>(element) - 1];
    for (double g = 0.3; g <= 4; g += 0.05) {
      double expected = 0;
      for (std::size_t i = 0; i < 10; i += 2) {
        const double x = row[i + 1] * g * g;
        expected += row[i] * (2 + x) / ((1 + x) * (1 + x));
      }
      // Another atomic model, fitted by other functions: 3.1 % is met for silicon near g = 4.
      EXPECT_NEAR(electron_factor(element, g), expected, 0.032 * expected) << element << " " << g;
    }
  }
}

/// |F|/V with the factors of Lobato and Van Dyck; those of xraylib are 1.1 to 1.7 % larger.
TEST(StructureFactors, OfGoldAreThePublishedOnes) {
  const Crystal crystal = gold();
  EXPECT_NEAR(std::abs(structure_factor(crystal, {1, 1, 1})), 0.39849, 0.002 * 0.39849);
  EXPECT_NEAR(std::abs(structure_factor(crystal, {2, 0, 0})), 0.36136, 0.002 * 0.36136);
  EXPECT_NEAR(std::abs(structure_factor(crystal, {2, 2, 0})), 0.26913, 0.002 * 0.26913);
  const std::vector<Family> families =
      families_of(list_reflections(crystal, 0.7), find_point_group(crystal, list_reflections(crystal, 0.7)));
  ASSERT_EQ(families.size(), 3U);
  EXPECT_EQ(families[0].hkl, (Miller{1, 1, 1}));
  EXPECT_EQ(families[1].hkl, (Miller{2, 0, 0}));
  EXPECT_EQ(families[2].hkl, (Miller{2, 2, 0}));
  EXPECT_EQ(families[0].multiplicity, 8);
  EXPECT_EQ(families[1].multiplicity, 6);
  EXPECT_EQ(families[2].multiplicity, 12);
  EXPECT_NEAR(families[0].length, 0.42473, 1e-5);
  EXPECT_NEAR(families[1].length, 0.49044, 1e-5);
  EXPECT_NEAR(families[2].length, 0.69358, 1e-5);
}

TEST(StructureFactors, WeighOccupancyAndThermalMotion) {
  Crystal crystal = gold();
  const double whole = std::abs(structure_factor(crystal, {2, 0, 0}));
  for (Atom& atom : crystal.atoms) {
    atom.occupancy = 0.5;
    atom.b = 0.6;
  }
  EXPECT_NEAR(std::abs(structure_factor(crystal, {2, 0, 0})), whole / 2 * std::exp(-0.6 * 4 / (4.078 * 4.078) / 4),
              1e-12);
}

struct Extinction {
  const char* name;
  Crystal (*crystal)();
  bool (*present)(int h, int k, int l);
};
class Extinctions : public ::testing::TestWithParam<Extinction> {};
TEST_P(Extinctions, AreThoseOfTheLattice) {
  const Crystal crystal = GetParam().crystal();
  const double first = std::abs(list_reflections(crystal, 0.6).front().factor);
  for (int h = -4; h <= 4; ++h)
    for (int k = -4; k <= 4; ++k)
      for (int l = -4; l <= 4; ++l) {
        if (h == 0 && k == 0 && l == 0) continue;
        SCOPED_TRACE(::testing::Message() << h << " " << k << " " << l);
        const double magnitude = std::abs(structure_factor(crystal, {h, k, l}));
        if (GetParam().present(h, k, l))
          EXPECT_GT(magnitude, 1e-3 * first);
        else
          EXPECT_LT(magnitude, 1e-12 * first);
      }
}
bool all_even_or_odd(int h, int k, int l) { return (h - k) % 2 == 0 && (k - l) % 2 == 0; }
INSTANTIATE_TEST_SUITE_P(Lattices, Extinctions,
                         ::testing::Values(Extinction{"fcc", gold, all_even_or_odd},
                                           Extinction{"bcc", iron,
                                                      [](int h, int k, int l) { return (h + k + l) % 2 == 0; }},
                                           Extinction{"diamond", silicon,
                                                      [](int h, int k, int l) {
                                                        return all_even_or_odd(h, k, l) &&
                                                               (h % 2 != 0 || (h + k + l) % 4 == 0);
                                                      }}),
                         [](const auto& each) { return std::string(each.param.name); });

std::string group_symbol(const Crystal& crystal, double k_max = 1.2) {
  return find_point_group(crystal, list_reflections(crystal, k_max)).symbol();
}

TEST(PointGroups, AreFoundFromTheIntensities) {
  EXPECT_EQ(group_symbol(gold()), "m-3m");
  EXPECT_EQ(group_symbol(silicon()), "m-3m");
  EXPECT_EQ(group_symbol(magnesium()), "6/mmm");
  const auto triclinic = [](const UnitCell& cell, const std::vector<Atom>& atoms) {
    return make_crystal("test", cell, atoms, {parse_operation("x,y,z", "test")});
  };
  // All atoms of a primitive cell of gold, as databases list them, without a space group.
  const double edge = 4.078 / std::sqrt(2);
  EXPECT_EQ(group_symbol(triclinic({edge, edge, edge, 60, 60, 60}, {{.atomic_number = 79}})), "m-3m");
  EXPECT_EQ(group_symbol(triclinic({4, 4, 4.1, 90, 90, 90}, {{.atomic_number = 79}})), "4/mmm");
  EXPECT_EQ(group_symbol(triclinic({4, 4.5, 5, 90, 90, 90}, {{.atomic_number = 79}})), "mmm");
  EXPECT_EQ(group_symbol(triclinic({4, 4.5, 5, 90, 97, 90}, {{.atomic_number = 79}})), "2/m");
  EXPECT_EQ(group_symbol(triclinic({4, 4.5, 5, 83, 97, 101}, {{.atomic_number = 79}})), "-1");
  // A cubic cell whose atoms are not: one in a general place.
  EXPECT_EQ(group_symbol(triclinic({4, 4, 4, 90, 90, 90},
                                   {{.atomic_number = 79}, {.atomic_number = 29, .position = {0.1, 0.23, 0.37}}})),
            "-1");
  // Pyrite: cubic without fourfold axes.
  const std::string pyrite =
      cell_text("5.417", "5.417", "5.417") + group_text("P a -3") + sites_text("Fe1 Fe 0 0 0\nS1 S 0.385 0.385 0.385");
  EXPECT_EQ(group_symbol(crystal_from_cif(pyrite, "pyrite.cif"), 0.8), "m-3");
}

TEST(PointGroups, CartesianTurnsKeepReflections) {
  const Crystal crystal = magnesium();
  const std::vector<Reflection> reflections = list_reflections(crystal, 1);
  const PointGroup group = find_point_group(crystal, reflections);
  EXPECT_EQ(group.proper().size(), 12U);
  for (std::size_t i = 0; i < group.order(); ++i) {
    const Vec3 moved = times(group.cartesian[i], reflections.front().g);
    const Miller& hkl = reflections.front().hkl;
    Vec3 indices{};
    for (std::size_t j = 0; j < 3; ++j)
      for (std::size_t k = 0; k < 3; ++k) indices[j] += group.miller[i][j][k] * hkl[k];
    const Vec3 expected = times(crystal.cell.reciprocal_axes(), indices);
    EXPECT_LT(length(sum(moved, scaled(-1, expected))), 1e-12);
  }
}

TEST(ReflectionList, TooManyAndNoneAreRefused) {
  EXPECT_THAT(error_of(ErrorKind::bad_input, [] { (void)list_reflections(gold(), 12); }),
              HasSubstr("4.91e+05 lattice points within 12 1/A; expected at most 200000"));
  EXPECT_EQ(error_of(ErrorKind::bad_input, [] { (void)list_reflections(gold(), 0.3); }),
            "error: test.cif: no reflection within 0.3 1/A\nhint: give a larger --k-max");
}

}  // namespace
}  // namespace sonde::stem
