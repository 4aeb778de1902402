// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace sonde::testing {

/// The folder of the repository.
std::string source_folder();

/// The built program. It is there in tests of the program, which are built after it.
std::string program();

}  // namespace sonde::testing
