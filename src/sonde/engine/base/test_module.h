// SPDX-License-Identifier: Apache-2.0
// What the modules of module_test.cpp export.
#pragma once

namespace sonde::testing {

struct TestFunctions {
  int (*twice)(int);
};

}  // namespace sonde::testing
