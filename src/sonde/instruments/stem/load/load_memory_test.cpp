// SPDX-License-Identifier: Apache-2.0
// Measured memory of whole loads. Each runs in a child, so that nothing but the load counts; and the parent starts no
// threads, so that forking is safe.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/stem/load/dataset.h"
#include "sonde/instruments/stem/simulate/simulate.h"
#include "sonde/instruments/stem/write/write_arina.h"
#include "tests/support/child.h"
#include "tests/support/files.h"
#include "tests/support/memory.h"
#include "tests/support/python.h"

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
  static void expect_within_prediction(const LoadOptions& options, const std::string& path = master()) {
    std::istringstream found(text_from_child([&] {
      const Dataset dataset = load(path, options, Budget(std::size_t{4} << 30, "test"));
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

TEST_F(MemoryOfALoad, StaysWithinThePredictionForChunksOfManyFrames) {
  const TemporaryFolder folder;
  sonde::testing::python(R"(
import sys, h5py, numpy as np
with h5py.File(sys.argv[1], 'w') as f:  # two chunks of 38 MB
    d = f.create_dataset('d', (64, 64, 96, 96), 'u2', chunks=(32, 64, 96, 96), compression='gzip', compression_opts=1, shuffle=True)
    counts = np.random.default_rng(1).poisson(2, (64, 96, 96)).astype('u2')
    for row in range(0, 64, 32): d[row : row + 32] = np.broadcast_to(counts, (32, 64, 96, 96))
)",
                         folder.file("chunks.h5"));
  LoadOptions options;
  options.det_bin = "4";
  expect_within_prediction(options, folder.file("chunks.h5"));
}

/// A scan of 4096 frames of 112 x 112 u32: 103 MB as u16, 206 MB as u32. Its counts are small but for one pixel, which
/// holds `most` in every frame, or in one that no sample meets.
std::string write_counts(const TemporaryFolder& folder, std::uint32_t most, bool in_every_frame) {
  const std::string path = folder.file("wide_master.h5");
  text_from_child([&] {
    constexpr Index scan = 64, side = 112;
    ArinaDescription description;
    description.scan_rows = description.scan_cols = scan;
    description.rows = description.cols = side;
    description.dtype = DType::u32;
    ArinaWriter writer(path, description);
    for (Index row = 0; row < scan; ++row) {
      Array frames = Array::zeros(Device::cpu(), {scan, side, side}, DType::u32);
      auto* counts = static_cast<std::uint32_t*>(frames.data());
      for (Index i = 0; i < frames.count(); ++i) counts[i] = static_cast<std::uint32_t>(i * 7919 % 13 % 4);
      for (Index col = 0; col < scan; ++col)
        if (in_every_frame || (row == 37 && col == 3)) counts[col * side * side + 5000] = most;
      writer.append(frames);
    }
    (void)writer.finish();
    return std::string("done");
  });
  return path;
}

/// Loads in a child within a budget, makes an image as that layout does, and compares the peaks.
void expect_within_budget(const std::string& path, LoadOptions options, std::size_t budget_bytes, DType dtype) {
  options.hot_pixels = BadPixelAction::none;
  std::istringstream found(text_from_child([&] {
    const Dataset dataset = load(path, options, Budget(budget_bytes, "test"));
    std::ostringstream out;
    out << dataset.estimate().predicted_peak_bytes << " " << dataset.held_bytes() << " " << peak_anonymous() << " "
        << name(dataset.dtype());
    return out.str();
  }));
  std::size_t predicted = 0, held = 0, measured = 0;
  std::string type;
  ASSERT_TRUE(found >> predicted >> held >> measured >> type) << found.str();
  EXPECT_EQ(type, name(dtype));
  EXPECT_LE(predicted, budget_bytes);
  EXPECT_LE(held, predicted);
  EXPECT_LE(static_cast<double>(measured),
            allowed_excess * static_cast<double>(predicted) + static_cast<double>(allowed_bytes));
  std::cout << "budget " << (budget_bytes >> 20) << " MiB, predicted " << (predicted >> 20) << " MiB, measured "
            << (measured >> 20) << " MiB\n";
}

// 103 MB of u16 fit the budget, 206 MB of u32 do not.
TEST(MemoryOfCounts, StaysWithinTheBudgetWhateverTypeTheyNeed) {
  constexpr std::size_t budget = std::size_t{150} << 20;
  for (const auto& [most, dtype] :
       {std::pair<std::uint32_t, DType>{200, DType::u8}, {60000, DType::u16}, {70000, DType::u32}})
    for (const bool in_every_frame : {true, false}) {
      SCOPED_TRACE(::testing::Message() << most << (in_every_frame ? " in every frame" : " in one frame"));
      const TemporaryFolder folder;
      const std::string path = write_counts(folder, most, in_every_frame);
      expect_within_budget(path, {}, budget, dtype);
      LoadOptions bins;
      bins.det_bin = "auto";
      expect_within_budget(path, bins, budget, dtype);
    }
}

TEST(MemoryOfCounts, StaysWithinTheBudgetInEveryLayout) {
  const TemporaryFolder folder;
  const std::string path = write_counts(folder, 70000, false);
  for (const LayoutChoice layout :
       {LayoutChoice::pixel, LayoutChoice::frame, LayoutChoice::compressed, LayoutChoice::file}) {
    SCOPED_TRACE(layout_name(layout));
    LoadOptions options;
    options.layout = layout;
    expect_within_budget(path, options, std::size_t{300} << 20, DType::u32);
  }
}

// 2^27 frames of which one was written: their list of chunks would take 2 GiB, the order of reading 3 GiB more.
TEST(MemoryOfDeclaredFrames, IsNotTakenBeforeTheFileIsBelieved) {
  const TemporaryFolder folder;
  sonde::testing::python(R"(
import sys, h5py
for name, shape, chunk, more in [('frames', (2**27, 8, 8), (1, 8, 8), {}), ('scan', (8192, 16384, 8, 8), (64, 64, 8, 8), {}),
                                 ('packed', (8192, 16384, 8, 8), (64, 64, 8, 8), {'compression': 'gzip'})]:
    with h5py.File(sys.argv[1] + '/' + name + '.h5', 'w') as f:
        d = f.create_dataset('data', shape, 'u2', chunks=chunk, **more)
        d[(0,) * (len(shape) - 2)] = 1
        f['data'].attrs['scan_shape'] = [8192, 16384]
)",
                         folder.path().string());
  for (const char* name : {"frames.h5", "scan.h5", "packed.h5"})
    for (const std::size_t budget : {std::size_t{200} << 20, std::size_t{16} << 30}) {
      SCOPED_TRACE(::testing::Message() << name << " " << (budget >> 20) << " MiB");
      std::istringstream found(text_from_child([&] {
        std::string kind = "none";
        try {
          (void)load(folder.file(name), {}, Budget(budget, "test"));
        } catch (const Error& error) {
          kind = error.kind() == ErrorKind::bad_file || error.kind() == ErrorKind::budget ? "refused" : error.message();
        }
        return std::to_string(peak_anonymous()) + " " + kind;
      }));
      std::size_t measured = 0;
      std::string kind;
      ASSERT_TRUE(found >> measured >> kind);
      EXPECT_EQ(kind, "refused");
      EXPECT_LE(measured, allowed_bytes);
    }
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
