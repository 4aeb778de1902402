// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace sonde::testing {

/// The devices that the tests of this program run on, always the same: "cpu" and "cuda", or "cuda-host" where the
/// kernels are played by the CPU (tests/cuda_host). An absent one is a counted skip.
std::vector<std::string> test_devices();

}  // namespace sonde::testing
