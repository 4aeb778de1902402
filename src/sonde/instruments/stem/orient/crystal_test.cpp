// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/orient/crystal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numbers>

#include "sonde/instruments/stem/orient/test_crystals.h"
#include "tests/support/errors.h"

namespace sonde::stem {
namespace {

using sonde::testing::error_of;
using ::testing::HasSubstr;

std::string refusal(const std::string& text) {
  return error_of(ErrorKind::bad_file, [&] { (void)crystal_from_cif(text, "x.cif"); });
}

TEST(Crystal, CellOfAnyAnglesIsItsMetric) {
  const UnitCell cell{5, 6, 7, 80, 95, 110};
  const Mat3 axes = transposed(cell.axes()), reciprocal = transposed(cell.reciprocal_axes());
  const double degree = std::numbers::pi / 180;
  EXPECT_NEAR(length(axes[0]), 5, 1e-14);
  EXPECT_NEAR(length(axes[1]), 6, 1e-14);
  EXPECT_NEAR(length(axes[2]), 7, 1e-14);
  EXPECT_NEAR(dot(axes[1], axes[2]), 42 * std::cos(80 * degree), 1e-13);
  EXPECT_NEAR(dot(axes[0], axes[2]), 35 * std::cos(95 * degree), 1e-13);
  EXPECT_NEAR(dot(axes[0], axes[1]), 30 * std::cos(110 * degree), 1e-13);
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) EXPECT_NEAR(dot(axes[i], reciprocal[j]), i == j ? 1 : 0, 1e-14);
}

TEST(Crystal, GroupsByNameAndByOperationsGiveTheSameAtoms) {
  EXPECT_EQ(gold().atoms.size(), 4U);
  EXPECT_EQ(iron().atoms.size(), 2U);
  EXPECT_EQ(silicon().atoms.size(), 8U);
  EXPECT_EQ(magnesium().atoms.size(), 2U);  // a third with five digits: 1e-5 of 3 A is within 0.01 A
  EXPECT_EQ(cubic("F m 3 m", "4.078", "Au1 Au 0 0 0").atoms.size(), 4U);
  const Crystal listed =
      crystal_from_cif(cell_text("4.078(3)", "4.078(3)", "+4.078(3)") +
                           "loop_ _symmetry_equiv_pos_as_xyz 'x, y, z' x,1/2+y,z+1/2 '1/2+X,Y,1/2+Z' x+1/2,y+1/2,z\n" +
                           sites_text("Au1 Au 0 0 0"),
                       "x.cif");
  EXPECT_EQ(listed.cell.a, 4.078);
  ASSERT_EQ(listed.atoms.size(), 4U);
  EXPECT_EQ(listed.atoms[1].position, (Vec3{0, 0.5, 0.5}));
}

TEST(Crystal, OccupancyDisplacementAndChargesAreRead) {
  const std::string head =
      "loop_ _atom_site_label _atom_site_type_symbol _atom_site_fract_x _atom_site_fract_y _atom_site_fract_z ";
  const Crystal alloy =
      crystal_from_cif(cell_text("3", "3", "3") + head + "_atom_site_occupancy _atom_site_U_iso_or_equiv\n" +
                           "Cu1 Cu2+ 0 0 0 0.75(2) 0.01\nAu1 Au 0 0 1.0 .25 ?\nO9 . 0.5 0.5 -0.5 . .\n",
                       "x.cif");
  ASSERT_EQ(alloy.atoms.size(), 3U);
  EXPECT_EQ(alloy.atoms[0].atomic_number, 29);
  EXPECT_EQ(alloy.atoms[0].occupancy, 0.75);
  EXPECT_NEAR(alloy.atoms[0].b, 8 * std::numbers::pi * std::numbers::pi * 0.01, 1e-12);
  EXPECT_EQ(alloy.atoms[1].atomic_number, 79);
  EXPECT_EQ(alloy.atoms[2].atomic_number, 8);
  EXPECT_EQ(alloy.atoms[2].position, (Vec3{0.5, 0.5, 0.5}));
  EXPECT_THAT(alloy.warnings.at(0), HasSubstr("neither operations nor a space group"));
}

TEST(Crystal, AtomsListedTwiceAreOne) {
  const std::string cell = cell_text("4.078", "4.078", "4.078") + group_text("F m -3 m");
  EXPECT_EQ(crystal_from_cif(cell + sites_text("Au1 Au 0 0 0\nAu2 Au 0.002 0.5 0.5"), "x.cif").atoms.size(), 4U);
  EXPECT_EQ(crystal_from_cif(cell + sites_text("Au1 Au 0 0 0\nAu2 Au 0.5 0.5 0.5"), "x.cif").atoms.size(), 8U);
}

TEST(Crystal, WhatMakesNoCrystalIsRefused) {
  const std::string cell = cell_text("4", "4", "4"), sites = sites_text("Au1 Au 0 0 0");
  EXPECT_THAT(refusal("data_a _x 1"), HasSubstr("x.cif: no block has a cell (_cell_length_a)"));
  EXPECT_THAT(refusal("data_a _cell_length_a 4 " + sites), HasSubstr("x.cif: _cell_length_b is missing"));
  EXPECT_THAT(refusal(cell_text("4", "four", "4") + sites), HasSubstr("_cell_length_b is \"four\"; expected a number"));
  EXPECT_THAT(refusal(cell_text("4", "0", "4") + sites), HasSubstr("an axis of the cell is 0 A; expected 0.1 to 1000"));
  EXPECT_THAT(refusal(cell_text("4", "4", "4", "200") + sites), HasSubstr("an angle of the cell is 200 degrees"));
  EXPECT_EQ(error_of(ErrorKind::bad_input,
                     [] {
                       (void)make_crystal("flat", {4, 4, 4, 60, 60, 120}, {}, {});
                     }),
            "error: flat: angles of 60, 60 and 120 degrees make no cell");
  EXPECT_THAT(refusal(cell), HasSubstr("_atom_site_fract_x is missing"));
  EXPECT_THAT(refusal(cell + sites_text("Xx1 Xx 0 0 0")), HasSubstr("x.cif: site Xx1: unknown element \"Xx\""));
  EXPECT_THAT(refusal(cell + sites_text("Es1 Es 0 0 0")),
              HasSubstr("Es has no scattering factor; elements up to Cf have one"));
  EXPECT_THAT(refusal(cell + sites_text("Au1 Au ? 0 0")),
              HasSubstr("site Au1: a coordinate is \"\"; expected a number"));
  EXPECT_THAT(refusal(cell + sites_text("Au1 Au 0 0 0\nCu1 Cu 0 0 0")),
              HasSubstr("site Cu1: other elements are in its place, with 2.00 atoms together; expected at most 1"));
  EXPECT_THAT(refusal(cell + group_text("Q 7") + sites), HasSubstr("x.cif: unknown space group \"Q 7\""));
  EXPECT_THAT(refusal(cell + group_text("F d -3 m") + sites), HasSubstr("\"F d -3 m\" has two choices of the origin"));
  EXPECT_THAT(refusal(cell + "loop_ _symmetry_equiv_pos_as_xyz x,y,z x+y,x+y,z\n" + sites),
              HasSubstr("not an operation of a crystal"));
  EXPECT_THAT(refusal(cell + "loop_ _symmetry_equiv_pos_as_xyz x,y\n" + sites),
              HasSubstr("\"x,y\" is not an operation"));
  EXPECT_THAT(refusal(cell + "loop_ _symmetry_equiv_pos_as_xyz x,y,99999999999z\n" + sites),
              HasSubstr("is not an operation"));
  EXPECT_EQ(error_of(ErrorKind::bad_input,
                     [] {
                       (void)make_crystal("x", {}, std::vector<Atom>(1000, Atom{.atomic_number = 6}),
                                          std::vector<SymmetryOperation>(101));
                     }),
            "error: x: 1000 sites with 101 operations; expected at most 100000 places");
  EXPECT_EQ(
      error_of(ErrorKind::bad_input, [] { (void)make_crystal("x", {}, {{.atomic_number = 6, .occupancy = 0}}, {}); }),
      "error: x: no atoms");
  EXPECT_EQ(error_of(ErrorKind::bad_input,
                     [] { (void)make_crystal("x", {}, {{.atomic_number = 6, .occupancy = 1.2, .label = "C1"}}, {}); }),
            "error: x: site C1: an occupancy of 1.2; expected 0 to 1");
}

}  // namespace
}  // namespace sonde::stem
