// SPDX-License-Identifier: Apache-2.0
// For the room's tests: simulated scans whose nominal raster says nothing of how they lie.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <numbers>
#include <utility>

#include "sonde/instruments/ptycho/orient/orient.h"
#include "sonde/instruments/ptycho/simulate/simulate.h"
#include "tests/support/files.h"

namespace sonde::ptycho {

inline constexpr double degree = std::numbers::pi / 180;

class FindOrientation : public ::testing::Test {
 protected:
  void SetUp() override { sonde::testing::write_bytes(folder_.file("simulated"), {}); }
  /// 12 x 12 patterns of 32 x 32 pixels as a raster without orientation.
  [[nodiscard]] Source scanned(bool transpose, double rotation_deg) const {
    SimulateOptions options;
    options.detector_px = 32;
    options.scan_shape = "12,12";
    options.scan_step_A = 0.9;
    options.transpose = transpose;
    options.scan_rotation_deg = rotation_deg;
    const Truth truth = truth_of(options);
    Source source;
    source.file = folder_.file("simulated");  // what provenance looks at
    source.shape = Shape{144, 32, 32};
    source.dtype = DType::u32;
    source.scan_shape = Extent{12, 12};
    source.energy_kev = options.energy_keV;
    source.mrad_per_px = 1000 * truth.sampling.angle_row();
    source.semiangle_mrad = options.semiangle_mrad;
    source.step_a = options.scan_step_A;
    source.probe = truth.start_probe.clone();
    const auto frames = std::make_shared<Array>(draw_frames(truth, 5, 0, 144, DType::u32));
    source.read_patterns = [frames] { return frames->clone(); };
    return source;
  }
  static Orientation found_for(Source source, const OrientOptions& options, const RunFile& settings) {
    return find_orientation(settings, std::move(source), options, Budget::automatic(Device::cpu()));
  }

  sonde::testing::TemporaryFolder folder_;
};

}  // namespace sonde::ptycho
