// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sonde/instruments/neoclassical/geometry/surface.h"

namespace sonde::neoclassical {

/// 32 hexadecimal digits (XXH3 of 128 bits) of every number of a surface: equal for equal physics, whatever the file is
/// called.
[[nodiscard]] std::string fingerprint(const Surface& surface);

/// The same of a file's bytes. Throws like File.
[[nodiscard]] std::string fingerprint_of_file(const std::string& path);

/// "wout.nc, 3906480 bytes, XXH3 0123..."; the text itself when it names no file.
[[nodiscard]] std::string geometry_source(const std::string& path);

}  // namespace sonde::neoclassical
