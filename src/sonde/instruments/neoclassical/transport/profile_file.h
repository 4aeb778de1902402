// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "sonde/instruments/neoclassical/transport/profiles.h"

namespace sonde::neoclassical {

/// Profiles of a file: `rho`, for each species `n_<name>` in 1/m^3 and `T_<name>` in eV (names: species()), and perhaps
/// `Er` in V/m. As text these are the columns of a table whose first line names them, separated by commas, with # for
/// remarks; as HDF5 (suffix .h5 or .hdf5) data sets at the root. Throws Error(bad_file) naming file, column and line.
[[nodiscard]] TabulatedProfiles read_profiles(const std::string& path);

/// The same from the text of such a table; `path` names it in messages.
[[nodiscard]] TabulatedProfiles parse_profiles(std::string_view text, const std::string& path);

}  // namespace sonde::neoclassical
