// SPDX-License-Identifier: Apache-2.0
// Private to the room: numbers of NetCDF files that make sense, or an error that names them.
#pragma once

#include <string>
#include <vector>

#include "sonde/engine/io/netcdf.h"
#include "sonde/instruments/neoclassical/geometry/series.h"
#include "sonde/instruments/neoclassical/read/radial.h"

namespace sonde::neoclassical {

/// Throws Error(bad_file) when the file is missing, and also when it may not be read: as wrong an input as that.
void require_readable(const std::string& path);

/// The numbers of a variable; throws Error(bad_file) naming it and its first element that is not finite.
[[nodiscard]] std::vector<double> finite_numbers(const NetcdfFile& file, const std::string& variable,
                                                 const Shape& shape);
/// Values between neighbouring surfaces: entry 0 of the file is unused.
[[nodiscard]] std::vector<double> half_mesh(const NetcdfFile& file, const std::string& variable, Index surfaces);
[[nodiscard]] double finite_number(const NetcdfFile& file, const std::string& variable);
/// A whole number from `least` to `most`.
[[nodiscard]] int bounded_integer(const NetcdfFile& file, const std::string& variable, int least, int most);
/// Whether lasym__logical__ says that the fields have no stellarator symmetry; without it they have.
[[nodiscard]] bool read_asymmetric(const NetcdfFile& file);
/// Modes from two lists of a file whose phases are m theta - n zeta, n a multiple of the field periods.
[[nodiscard]] std::vector<Mode> read_modes(const NetcdfFile& file, const std::string& m, const std::string& n,
                                           int periods);
/// A table without its first `skipped` rows. `cosine` or `sine` may be empty names: no such part.
[[nodiscard]] HarmonicTable read_table(const NetcdfFile& file, const std::string& cosine, const std::string& sine,
                                       Index rows, Index columns, Index skipped = 0);

/// The sign of psi_a is that of G + iota I, because B^2 = B^zeta (G + iota I) and |sqrt g| B^zeta = psi_a. Throws
/// Error(bad_file) naming both values.
void require_equal_signs(const std::string& path, double s, double psi_a, double g_iota_i);

}  // namespace sonde::neoclassical
