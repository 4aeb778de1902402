// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sonde/engine/io/contents.h"
#include "sonde/instruments/neoclassical/database/database.h"

// The HDF5 layout in which transport codes exchange databases: 64-bit floats at the root, the attributes a_b, psia,
// source_name and format_version. It holds no times, so equal databases give equal bytes.

namespace sonde::neoclassical {

/// Of the tables in a database's file: five of coefficients and three of their quality, and three of the fields.
[[nodiscard]] std::size_t database_bytes(const Axes& axes);

/// Version 2 of the layout, with B0_solver, signgs and the quality of the points beside it (other readers ignore them).
/// Throws like require_valid(), Error(bad_input) when the geometry is not complete or a D11 is not above zero (readers
/// take its logarithm).
[[nodiscard]] Contents database_contents(const Database& database);

/// Writes them as HDF5; the file appears under its name when it is complete. Throws Error(io) too.
void write_database(const std::string& path, const Database& database);

struct DatabaseFile {
  Database database;
  /// The names that version 2 has and this file lacks, as in the file: "R00", "attribute psia". Where B00, psia or a_b
  /// are among them they were recovered from Er, drds and dr_tildedr, which hold them exactly.
  std::vector<std::string> missing;
};

/// Reads version 2 and the older layout without attributes and geometry. Everything else that is absent, has another
/// shape or type, is not finite, or contradicts the algebra of derived_fields.h by more than 1e-6 (drds, Er and Es) is
/// Error(bad_file) naming file and field.
[[nodiscard]] DatabaseFile read_database(const std::string& path);

}  // namespace sonde::neoclassical
