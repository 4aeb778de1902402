// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sonde/instruments/maxwell/field/field_line.h"

namespace sonde::maxwell {

/// GSSI .dzt, Sensors & Software .dt1 with .hd, MALA .rd3 or .rd7 with .rad, SEG-Y .sgy or .segy; in either case.
[[nodiscard]] bool is_field_file(const std::string& path);
/// Of formats in two files either one is named. Throws Error(bad_file) for an ending of another format, a file that
/// lacks its other one, and files that contradict themselves, are damaged or, unless that is allowed, cut off;
/// Error(bad_input) for a channel that there is not; Error(not_supported) for a variant that is not read. What can be
/// read in spite of a contradiction has a warning.
[[nodiscard]] FieldLine read_field_line(const std::string& path, const FieldReading& reading = {});

/// Those that are written, as the endings of file names.
[[nodiscard]] const std::vector<std::string>& written_field_endings();
/// The file of this name, and the header that goes with it.
[[nodiscard]] std::vector<std::string> field_files_of(const std::string& path);
/// Samples as whole numbers where the format has no others: as they are where they fit, else scaled to the range, with
/// the scale in the header, from which read_field_line() takes it. Both files appear when both are complete. Throws
/// Error(bad_input) for a line that the format cannot hold, Error(io).
void write_field_line(const std::string& path, const FieldLine& line);

}  // namespace sonde::maxwell
