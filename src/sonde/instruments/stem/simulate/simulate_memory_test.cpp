// SPDX-License-Identifier: Apache-2.0
// Measured memory of a whole simulation, in a child so that nothing else counts.
#include <gtest/gtest.h>

#include <iostream>
#include <sstream>
#include <string>

#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/stem/simulate/simulate.h"
#include "tests/support/child.h"
#include "tests/support/files.h"
#include "tests/support/memory.h"

namespace sonde::stem {
namespace {

using sonde::testing::peak_anonymous;
using sonde::testing::TemporaryFolder;
using sonde::testing::text_from_child;

constexpr std::size_t allowed_bytes = std::size_t{64} << 20;  // program, libraries, allocator

TEST(MemoryOfASimulation, StaysWithinThePrediction) {
  const TemporaryFolder folder;
  std::istringstream found(text_from_child([&] {
    set_thread_count(2);
    SimulateOptions options;
    options.output = folder.file("scan_master.h5");
    options.scan_shape = "16,16";
    options.detector_shape = "512,512";
    const Budget budget(std::size_t{1} << 30, "test");
    const std::size_t predicted = plan_simulation(options, budget).memory.peak_bytes;
    (void)simulate(options, budget);
    std::ostringstream out;
    out << predicted << " " << peak_anonymous();
    return out.str();
  }));
  std::size_t predicted = 0, measured = 0;
  ASSERT_TRUE(found >> predicted >> measured) << found.str();
  std::cout << "predicted " << (predicted >> 20) << " MiB, measured " << (measured >> 20) << " MiB\n";
  EXPECT_LE(measured, predicted + allowed_bytes);
  EXPECT_GE(measured, std::size_t{128} << 20);  // 64 partial patterns of 2 MiB: else nothing was measured
}

}  // namespace
}  // namespace sonde::stem
