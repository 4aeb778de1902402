// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#include <string>
#include <vector>

#include "sonde/engine/run/instrument.h"

namespace sonde::maxwell {

/// Writes the crosshole example: the run file under this name, beside it its records and the true model.
void write_crosshole(const std::string& run_file, Run& run);
/// `sonde maxwell fwi RUN_FILE -o FOLDER --set ...`.
void invert_run_file(const std::string& run_file, const std::string& folder, const std::vector<std::string>& settings,
                     Run& run);

/// The part of `sonde demo`: simulates records between two boreholes, inverts them for some iterations, writes the page
/// of that into the folder, and records as a check of the report what remains of the error of eps_r.
void demonstrate(const Demonstration& demo, Run& run);

}  // namespace sonde::maxwell
