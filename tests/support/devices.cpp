// SPDX-License-Identifier: Apache-2.0
#include "tests/support/test_devices.h"

namespace sonde::testing {

std::vector<std::string> test_devices() { return {"cpu", "cuda"}; }

}  // namespace sonde::testing
