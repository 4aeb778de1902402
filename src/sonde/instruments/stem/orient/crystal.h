// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sonde/instruments/stem/orient/atom_tables.h"
#include "sonde/instruments/stem/orient/vectors.h"

namespace sonde::stem {

/// Lengths in A, angles in degrees.
struct UnitCell {
  double a = 1, b = 1, c = 1;
  double alpha = 90, beta = 90, gamma = 90;

  /// Columns: a along x, b in the plane of x and y, c, in A.
  [[nodiscard]] Mat3 axes() const;
  /// Columns: a*, b*, c* in 1/A without 2 pi, so that h a* + k b* + l c* has the length 1/d.
  [[nodiscard]] Mat3 reciprocal_axes() const;
  /// A^3; not above zero, or not finite, for lengths and angles that make no cell.
  [[nodiscard]] double volume() const;
};

struct Atom {
  int atomic_number = 0;
  Vec3 position{};       ///< in parts of the cell
  double occupancy = 1;  ///< of its place, by this element
  double b = 0;          ///< Debye-Waller factor exp(-b g^2 / 4), in A^2
  std::string label{};   ///< for messages
};

/// All atoms of one cell.
struct Crystal {
  std::string name;
  UnitCell cell;
  std::vector<Atom> atoms{};
  std::string space_group{};            ///< as a file names it; empty where it does not
  std::vector<std::string> warnings{};  ///< what was assumed of a file
};

/// What the operations make of the given sites. Atoms within 0.01 A of each other are one, unless their occupancies
/// share the place. Throws Error(bad_input), beginning with `name`, for what makes no crystal: a cell without volume,
/// elements that do not exist or have no scattering factor, occupancies outside 0 to 1 or more than 1 in one place, and
/// more than 10,000 atoms.
[[nodiscard]] Crystal make_crystal(const std::string& name, const UnitCell& cell, const std::vector<Atom>& sites,
                                   const std::vector<SymmetryOperation>& operations);

/// The first block of a CIF text with a cell. Throws Error(bad_file) beginning with `name` for what is missing or makes
/// no crystal.
[[nodiscard]] Crystal crystal_from_cif(const std::string& text, const std::string& name);

/// Of a file. Throws what read_text() and crystal_from_cif() throw.
[[nodiscard]] Crystal read_crystal(const std::string& path);

}  // namespace sonde::stem
