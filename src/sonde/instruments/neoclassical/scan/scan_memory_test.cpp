// SPDX-License-Identifier: Apache-2.0
// Measured memory of a scan, in a child so that nothing else counts.
#include <gtest/gtest.h>

#include <iostream>
#include <sstream>
#include <string>

#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/neoclassical/operators/test_surfaces.h"
#include "sonde/instruments/neoclassical/scan/scan.h"
#include "tests/support/child.h"
#include "tests/support/memory.h"

namespace sonde::neoclassical {
namespace {

constexpr std::size_t mega = std::size_t{1} << 20;

TEST(MemoryOfAScan, StaysWithinItsBudgetBySmallerBatches) {
  std::istringstream found(sonde::testing::text_from_child([&] {
    set_thread_count(16);
    // A point of the dense path holds eight matrices of 625 x 625: 25 MB, so that not all sixteen fit.
    const Plan plan = Plan::prepare(testing::w7x(), {25, 25, 4, Discretisation::collocation});
    const std::vector<Case> cases(16, Case{1e-2, 0});
    const std::size_t before = sonde::testing::peak_anonymous();
    const std::vector<Point> points = scan(plan, cases, Budget(150 * mega, "for the test"));
    std::ostringstream out;
    for (const Point& point : points)
      if (point.status != PointStatus::ok) out << point.message;
    out << (sonde::testing::peak_anonymous() - before) / mega;
    return out.str();
  }));
  std::size_t measured = 0;
  ASSERT_TRUE(found >> measured) << found.str();
  std::cout << "measured " << measured << " MiB\n";
  EXPECT_LE(measured, 150 + 32U);  // stacks and buffers of sixteen threads
  EXPECT_GE(measured, 100U);       // else nothing was measured
}

}  // namespace
}  // namespace sonde::neoclassical
