// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sonde/instruments/maxwell/read/experiment.h"

namespace sonde::maxwell {

/// A change of an experiment.
struct Direction {
  ModelChange model{};                         ///< [z][y][x]; empty parts do not change
  std::vector<std::vector<double>> sources{};  ///< [shot] of [source][step]; empty: none
};

/// Reads HDF5: eps_r, sigma, mu_r (shaped like the model), debye/deps, debye/tau ([pole] of that) and source
/// [shot][source][step] of the group `direction`, or `gradient`. Throws Error(bad_file) where the file has neither, or
/// none of these, and for other shapes, types and numbers that are not finite.
[[nodiscard]] Direction read_direction(const std::string& path, const Experiment& experiment);

}  // namespace sonde::maxwell
