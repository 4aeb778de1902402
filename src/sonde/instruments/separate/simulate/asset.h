// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace sonde::separate {

/// A file that comes with the program (`assets/` of the sources): beside its modules (base/module.h). Throws
/// Error(not_supported) where it was not installed.
[[nodiscard]] std::string asset(const std::string& name);

}  // namespace sonde::separate
