// SPDX-License-Identifier: Apache-2.0
// What the tables of gemmi give: elements, electron scattering, space groups.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "sonde/instruments/stem/orient/vectors.h"

namespace sonde::stem {

/// Atomic number of "Au", "au" or "D" (hydrogen); 0 for what is not an element.
[[nodiscard]] int atomic_number(std::string_view symbol);
[[nodiscard]] std::string element_symbol(int atomic_number);

/// The largest atomic number that has a scattering factor.
inline constexpr int heaviest_scatterer = 98;

/// Scattering factor of a neutral atom for electrons in A at the reciprocal length g = 1/d in 1/A: five Gaussians of
/// International Tables C, table 4.3.2.2, fitted up to g = 4. No relativistic factor: weights are relative.
[[nodiscard]] double electron_factor(int atomic_number, double g);

/// A position x in parts of the cell becomes W x + w.
struct SymmetryOperation {
  std::array<std::array<int, 3>, 3> turn{};
  Vec3 shift{};
};

/// Of "-y, x-y, z+1/3". Throws Error(bad_file) beginning with `where`.
[[nodiscard]] SymmetryOperation parse_operation(const std::string& text, const std::string& where);

/// Operations of a space group by its Hermann-Mauguin symbol ("F m -3 m", "Fd-3m:2"), with those of centring; the
/// angles of the cell in degrees decide between hexagonal and rhombohedral axes. Throws Error(bad_file) beginning with
/// `where` for an unknown symbol, and for one that leaves two choices of the origin.
[[nodiscard]] std::vector<SymmetryOperation> operations_of_group(const std::string& symbol, double alpha, double gamma,
                                                                 const std::string& where);

}  // namespace sonde::stem
