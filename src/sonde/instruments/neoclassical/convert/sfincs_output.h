// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sonde/instruments/neoclassical/convert/stored_points.h"

namespace sonde::neoclassical {

/// The point of a `sfincsOutput.h5` of SFINCS version 3 with RHSMode = 3, under the names of Normalisation::sfincs and
/// with its surface, as converted() takes it; nothing for other files (no `transportMatrix`). The matrix is stored by
/// Fortran: element (i, j) is the j-th row's i-th number. BBar = 1 T and RBar = 1 m, the usual reference values, are
/// assumed: the file does not hold them. Throws Error(bad_input) for another RHSMode and for a matrix that is not 2
/// x 2.
[[nodiscard]] std::optional<StoredNumbers> point_of_sfincs_output(const StoredNumbers& file);

}  // namespace sonde::neoclassical
