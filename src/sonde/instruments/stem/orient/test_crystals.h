// SPDX-License-Identifier: Apache-2.0
// Crystals for tests, as texts of CIF files written for them.
#pragma once

#include <string>

#include "sonde/instruments/stem/orient/crystal.h"

namespace sonde::stem {

inline std::string cell_text(const std::string& a, const std::string& b, const std::string& c,
                             const std::string& gamma = "90") {
  return "data_test\n_cell_length_a " + a + "\n_cell_length_b " + b + "\n_cell_length_c " + c +
         "\n_cell_angle_alpha 90\n_cell_angle_beta 90\n_cell_angle_gamma " + gamma + "\n";
}

inline std::string group_text(const std::string& symbol) { return "_symmetry_space_group_name_H-M '" + symbol + "'\n"; }

/// Rows of "Au1 Au 0 0 0".
inline std::string sites_text(const std::string& rows) {
  return "loop_\n_atom_site_label\n_atom_site_type_symbol\n_atom_site_fract_x\n_atom_site_fract_y\n_atom_site_fract_"
         "z\n" +
         rows + "\n";
}

inline Crystal cubic(const std::string& group, const std::string& a, const std::string& site) {
  return crystal_from_cif(cell_text(a, a, a) + group_text(group) + sites_text(site), "test.cif");
}

inline Crystal gold() { return cubic("F m -3 m", "4.078", "Au1 Au 0 0 0"); }
inline Crystal iron() { return cubic("I m -3 m", "2.8665", "Fe1 Fe 0 0 0"); }
inline Crystal silicon() { return cubic("F d -3 m :2", "5.4310", "Si1 Si 0.125 0.125 0.125"); }
inline Crystal magnesium() {
  return crystal_from_cif(cell_text("3.2094", "3.2094", "5.2108", "120") + group_text("P 63/m m c") +
                              sites_text("Mg1 Mg 0.33333 0.66667 0.25"),
                          "test.cif");
}

}  // namespace sonde::stem
