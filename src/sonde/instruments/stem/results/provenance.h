// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sonde/engine/options/value.h"
#include "sonde/instruments/stem/load/dataset.h"

namespace sonde::stem {

/// What identifies the input of a result: format, names and sizes of its files, bytes read and their XXH3.
[[nodiscard]] Value input_identity(const Dataset& dataset);

/// Everything that a result needs to be understood and repeated: program version, input, load options as resolved (an
/// automatic detector bin and layout as what they became), calibration with its origin, masks, choices and exactness.
/// The group "run" has what belongs to the moment (host, paths, reasons that name free memory); equal runs are equal
/// in everything else.
[[nodiscard]] Value provenance(const Dataset& dataset);

/// "file", "user" or "calibration": the word of records.
[[nodiscard]] std::string who_says(StatedBy who);

/// Calibration as data: {"high_tension_v": {"value": 300000, "from": "file"}, ...}; absent values are left out.
[[nodiscard]] Value calibration_value(const Calibration& calibration);
/// What such a record says; the origins of frames are not in it. Values of another kind, and those that are not finite,
/// are left out.
[[nodiscard]] Calibration calibration_from(const Value& record);

/// Load options of a provenance record. Throws Error(bad_file) naming `where` when it is none.
[[nodiscard]] LoadOptions load_options_from(const Value& record, const std::string& where);

/// Throws Error(bad_input) when the data set was not read from the same bytes as the record says.
void require_same_input(const Dataset& dataset, const Value& record, const std::string& where);

}  // namespace sonde::stem
