// SPDX-License-Identifier: Apache-2.0
// For tests: small simulated scans, and their pages.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sonde/instruments/stem/simulate/simulate.h"
#include "sonde/instruments/stem/view/page.h"
#include "sonde/instruments/stem/view/test_client.h"
#include "tests/support/budget.h"
#include "tests/support/files.h"

namespace sonde::stem::testing {

inline constexpr Index scan_rows = 12, scan_cols = 10, rows = 32, cols = 40;

using sonde::testing::plenty;

class Viewed : public ::testing::Test {
 protected:
  std::string write(const std::string& name, Index seed = 1, const std::string& scan_shape = "12,10") {
    SimulateOptions options;
    options.output = folder_.file(name + "_master.h5");
    options.scan_shape = scan_shape;
    options.detector_shape = "32,40";
    options.disk_radius = 5;
    options.dose = 2;
    options.masked_pixels = 2;
    options.hot_pixels = 1;
    options.truth = false;
    options.seed = seed;
    (void)simulate(options);
    return options.output;
  }
  [[nodiscard]] static panel::Page page_of(const std::vector<std::string>& paths,
                                           LayoutChoice layout = LayoutChoice::automatic) {
    ViewOptions options;
    options.load.layout = layout;
    options.watch_s = 0;
    return make_page(paths, options, plenty());
  }

  sonde::testing::TemporaryFolder folder_;
};

/// A page of one scan that is loaded, and the scan itself.
class OneScan : public Viewed {
 protected:
  void SetUp() override { wait_until_loaded(client_, page_); }
  /// Sum of the good pixels that `inside` holds, of one position.
  [[nodiscard]] std::uint64_t sum(Index scan_row, Index scan_col,
                                  const std::function<bool(Index, Index)>& inside) const {
    const Array pattern = scan_.pattern(scan_row, scan_col);
    std::uint64_t total = 0;
    for (Index q = 0; q < rows * cols; ++q)
      if (inside(q / cols, q % cols)) total += count(pattern, q);
    return total;
  }
  static std::uint64_t count(const Array& pattern, Index q) {
    return pattern.dtype() == DType::u8 ? static_cast<const std::uint8_t*>(pattern.data())[q]
                                        : static_cast<const std::uint16_t*>(pattern.data())[q];
  }
  void expect_image(const panel::Frame& frame, const std::function<bool(Index, Index)>& inside) const {
    const auto values = elements<std::uint64_t>(frame);
    ASSERT_EQ(values.size(), static_cast<std::size_t>(scan_rows * scan_cols));
    for (Index p = 0; p < scan_rows * scan_cols; ++p)
      ASSERT_EQ(values[static_cast<std::size_t>(p)], sum(p / scan_cols, p % scan_cols, inside)) << "position " << p;
  }

  const std::string master_ = write("scan");
  const Dataset scan_ = load(master_, {}, plenty());
  const panel::Page page_ = page_of({master_});
  Client client_{page_};
};

}  // namespace sonde::stem::testing
