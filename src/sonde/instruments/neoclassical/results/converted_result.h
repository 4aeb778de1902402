// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sonde/instruments/neoclassical/convert/stored_tables.h"

namespace sonde::neoclassical {

/// The points or tables of a file in another normalisation: a result of run or scan, a database, or what was converted
/// before. Throws like ResultFile, converted_file() and, for a database, read_database().
[[nodiscard]] Converted converted_result(const std::string& path, const ConversionSettings& settings);

}  // namespace sonde::neoclassical
