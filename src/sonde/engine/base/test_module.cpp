// SPDX-License-Identifier: Apache-2.0
// Modules for module_test.cpp; SONDE_TEST_BYTES makes one that needs so much address space.
#include "sonde/engine/base/test_module.h"

#include "sonde/engine/base/module.h"

namespace {

#ifdef SONDE_TEST_BYTES
volatile char large[SONDE_TEST_BYTES];
int twice(int value) { return 2 * value + large[value]; }
#else
int twice(int value) { return 2 * value; }
#endif

constexpr sonde::testing::TestFunctions functions = {.twice = twice};

}  // namespace

SONDE_MODULE(functions);
