// SPDX-License-Identifier: Apache-2.0
// A simulated scan in memory, and a run on it that knows the probe.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sonde/instruments/ptycho/read/source.h"
#include "sonde/instruments/ptycho/run/run_file.h"
#include "sonde/instruments/ptycho/simulate/simulate.h"

namespace sonde::ptycho::testing {

/// 10 x 10 positions, 32 x 32 pixels, 200 keV, 20 mrad, 150 A underfocus.
class SmallScan {
 public:
  RunFile run;
  Source source;

  /// `more` are tables of the run file, at least one [[engine]].
  explicit SmallScan(double counts, const std::string& more = "[[engine]]\nname = \"gd\"\niterations = 20\n",
                     std::span<const EngineKind> engines = engine_kinds())
      : SmallScan(options_of(counts), more, engines) {}
  /// Of another specimen, or lens; 100 patterns of 32 x 32 pixels all the same.
  SmallScan(const SimulateOptions& options, const std::string& more,
            std::span<const EngineKind> engines = engine_kinds())
      : run(engines), truth_(std::make_shared<const Truth>(truth_of(options))) {
    source = measured();
    run.parse("[geometry]\nenergy_keV = 200\ndetector_mrad_per_px = 2.8125\nsemiangle_mrad = 20\n" + more, "run.toml");
  }
  [[nodiscard]] const Truth& truth() const { return *truth_; }
  /// The measurement once more, for who takes one.
  [[nodiscard]] Source measured() const {
    Source made;
    made.file = "/proc/self/exe";  // provenance wants a file
    made.format = "simulated";
    made.shape = Shape{100, 32, 32};
    made.dtype = DType::u32;
    made.scan_shape = Extent{10, 10};
    made.zero_frequency = ZeroFrequency::centre;
    made.unit = LengthUnit::pixel;
    made.positions = truth_->positions_px;
    made.probe = truth_->probe.clone();
    made.read_patterns = [truth = truth_] { return draw_frames(*truth, 1, 0, 100, DType::u32); };
    return made;
  }
  static std::vector<Index> all_frames() {
    std::vector<Index> frames;
    for (Index j = 0; j < 100; ++j) frames.push_back(j);
    return frames;
  }
  static SimulateOptions options_of(double counts) {
    SimulateOptions options;
    options.counts_per_frame = counts;
    options.detector_px = 32;
    options.detector_mrad = 45;
    options.scan_shape = "10,10";
    options.scan_step_A = 0.8;
    return options;
  }

 private:
  std::shared_ptr<const Truth> truth_;
};

}  // namespace sonde::ptycho::testing
