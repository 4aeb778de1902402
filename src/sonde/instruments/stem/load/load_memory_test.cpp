// SPDX-License-Identifier: Apache-2.0
// Measured memory of whole loads. Each runs in a child, so that nothing but the load counts; and the parent starts no
// threads, so that forking is safe.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "sonde/instruments/stem/load/dataset.h"
#include "sonde/instruments/stem/simulate/simulate.h"
#include "tests/support/child.h"
#include "tests/support/files.h"
#include "tests/support/memory.h"

namespace sonde::stem {
namespace {

using sonde::testing::peak_anonymous;
using sonde::testing::status_bytes;
using sonde::testing::TemporaryFolder;
using sonde::testing::text_from_child;

constexpr double allowed_excess = 1.05;
constexpr std::size_t allowed_bytes = std::size_t{64} << 20;  // program, libraries, allocator

/// 4096 frames of 192 x 192 u16, 302 MB decoded, with masked and hot pixels; made once per process.
class MemoryOfALoad : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder;
    text_from_child([] {
      SimulateOptions options;
      options.output = master();
      options.scan_shape = "64,64";
      options.dose = 10;  // some 400 counts in a pixel of the disk: u16, as the prediction assumes
      options.truth = false;
      (void)simulate(options);
      return std::string("done");
    });
  }
  static void TearDownTestSuite() { delete folder_; }
  static std::string master() { return folder_->file("scan_master.h5"); }

  /// Loads in a child and compares the measured peak with the prediction.
  static void expect_within_prediction(const LoadOptions& options) {
    std::istringstream found(text_from_child([&] {
      const Dataset dataset = load(master(), options, Budget(std::size_t{4} << 30, "test"));
      std::ostringstream out;
      out << dataset.estimate().predicted_peak_bytes << " " << dataset.estimate().resident_bytes << " "
          << peak_anonymous();
      return out.str();
    }));
    std::size_t predicted = 0, resident = 0, measured = 0;
    ASSERT_TRUE(found >> predicted >> resident >> measured) << found.str();
    EXPECT_LE(static_cast<double>(measured),
              allowed_excess * static_cast<double>(predicted) + static_cast<double>(allowed_bytes));
    EXPECT_GE(measured, resident);  // else the measurement would not see the load
    RecordProperty("predicted_mib", std::to_string(predicted >> 20));
    RecordProperty("measured_mib", std::to_string(measured >> 20));
    std::cout << "predicted " << (predicted >> 20) << " MiB, measured " << (measured >> 20) << " MiB\n";
  }

 private:
  static TemporaryFolder* folder_;
};

TemporaryFolder* MemoryOfALoad::folder_ = nullptr;

TEST_F(MemoryOfALoad, StaysWithinThePredictionForEveryLayout) {
  for (const LayoutChoice layout :
       {LayoutChoice::pixel, LayoutChoice::frame, LayoutChoice::compressed, LayoutChoice::file}) {
    SCOPED_TRACE(layout_name(layout));
    LoadOptions options;
    options.layout = layout;
    expect_within_prediction(options);
  }
}

TEST_F(MemoryOfALoad, StaysWithinThePredictionForBins) {
  for (const auto& [det_bin, scan_bin] : {std::pair<const char*, Index>{"2", 1}, {"8", 1}, {"1", 2}, {"4", 4}}) {
    SCOPED_TRACE(std::string("bin ") + det_bin + ", scan bin " + std::to_string(scan_bin));
    LoadOptions options;
    options.det_bin = det_bin;
    options.scan_bin = scan_bin;
    expect_within_prediction(options);
  }
}

TEST_F(MemoryOfALoad, StaysWithinThePredictionForWideTypes) {
  LoadOptions options;
  options.dtype = ResultType::u32;
  options.layout = LayoutChoice::frame;
  expect_within_prediction(options);
}

TEST_F(MemoryOfALoad, GoesBackToTheSystemOnRelease) {
  for (const LayoutChoice layout : {LayoutChoice::pixel, LayoutChoice::frame, LayoutChoice::compressed}) {
    SCOPED_TRACE(layout_name(layout));
    std::istringstream found(text_from_child([&] {
      LoadOptions options;
      options.layout = layout;
      const std::size_t before = status_bytes("VmRSS");
      Dataset dataset = load(master(), options, Budget(std::size_t{4} << 30, "test"));
      const std::size_t loaded = status_bytes("VmRSS");
      dataset.release();
      std::ostringstream out;
      out << before << " " << loaded << " " << status_bytes("VmRSS");
      return out.str();
    }));
    std::size_t before = 0, loaded = 0, after = 0;
    ASSERT_TRUE(found >> before >> loaded >> after) << found.str();
    std::cout << "before " << (before >> 20) << " MiB, loaded " << (loaded >> 20) << " MiB, released " << (after >> 20)
              << " MiB\n";
    if (layout != LayoutChoice::compressed) {
      EXPECT_GT(loaded, before + 2 * allowed_bytes);  // there was something to give back
    }
    EXPECT_LE(after, before + allowed_bytes);
  }
}

}  // namespace
}  // namespace sonde::stem
