// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/instruments/ptycho/engines/engine.h"
#include "sonde/instruments/ptycho/model/device_patterns.h"
#include "sonde/instruments/ptycho/model/exposure.h"
#include "sonde/instruments/ptycho/model/measurement.h"

namespace sonde::ptycho {

/// Size of a benchmark: "32x32x128" is 32 x 32 positions of patterns of 128 x 128 pixels.
struct ScanSize {
  Index rows, cols, pixels;
};
/// Throws Error(usage).
[[nodiscard]] ScanSize parse_scan_size(const std::string& text);

/// Where patterns and exit waves are. Patterns come to the disk because the memory's budget is half of what they
/// need.
struct BenchTiers {
  Tier patterns = Tier::host, waves = Tier::host;
  AmplitudeStorage storage = AmplitudeStorage::f32;
};

/// A scan at 8 pixels a step (of 128) over a phase object, with the counts that the model itself gives: its content
/// does not matter to the time, its shape does. Single precision.
class BenchScan {
 public:
  /// `device`: whose kernels compute; of the CPU its threads do. Throws Error(budget) when the patterns do not fit
  /// there.
  BenchScan(ScanSize size, Index modes, bool between_pixels, Loss loss, BenchTiers tiers = {},
            Device device = Device::cpu());

  /// An engine on an estimate of its own.
  [[nodiscard]] std::unique_ptr<Engine<float>> engine(const EngineSetup& setup);
  [[nodiscard]] Workbench<float>& workbench() { return *workbench_; }
  [[nodiscard]] const Model<float>& model() const { return *model_; }
  [[nodiscard]] const Measurement& measurement() const { return *measurement_; }
  [[nodiscard]] State& state() { return state_; }
  /// Lets the system forget what it has cached of patterns on the disk.
  void forget_cached() const;

 private:
  std::optional<Measurement> measurement_;
  std::vector<int> files_;  // descriptors of the files without a name that patterns are in
  State state_;
  std::optional<Model<float>> model_;
  std::optional<DevicePatterns> there_;
  std::optional<Workbench<float>> workbench_;
};

}  // namespace sonde::ptycho
