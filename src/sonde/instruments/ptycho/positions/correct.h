// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sonde/engine/options/fields.h"
#include "sonde/instruments/ptycho/engines/engine.h"
#include "sonde/instruments/ptycho/engines/workbench.h"
#include "sonde/instruments/ptycho/model/position_sums.h"
#include "sonde/instruments/ptycho/positions/affine.h"

namespace sonde::ptycho {

/// How scan positions are found together with object and probe (docs/ptycho-theory.md#positions).
///   gradient   one Gauss-Newton step of every position, from the derivative of its amplitudes
///   annealing  some random shifts in a disk that shrinks from iteration to iteration, the best one is kept (Maiden,
///              Humphry, Sarahan, Kraus and Rodenburg 2012)
///   grid       5 x 5 shifts about the position, refined by a parabola
///   xcorr      the shift between the object under the frame before and after an update by only that frame, times a
///              gain that follows how steadily it points (Zhang, Peterson, Vila-Comamala et al. 2013)
enum class PositionMethod { none, gradient, annealing, grid, xcorr };
/// As run files write it.
[[nodiscard]] std::string_view name(PositionMethod method);

/// What becomes of stretch, rotation and shear that all corrections together have: data and a wrong defocus know them
/// badly, while many scans know them well.
enum class ScanDistortion {
  free,  ///< found with everything else
  held   ///< taken out: the scan as a whole stays as it was said to be
};
/// Whether there is nothing in it that the kernels of a GPU do not compute.
[[nodiscard]] constexpr bool has_kernels(PositionMethod method) {
  return method == PositionMethod::none || method == PositionMethod::gradient;
}

struct PositionSettings {
  PositionMethod method = PositionMethod::none;
  Index start = 10, every = 1;
  Index stop = 0;         ///< last iteration; 0: the last of the run
  double step = 0.5;      ///< gradient, xcorr: share of the found shift that is taken
  double max_step = 0.5;  ///< pixels in one correction
  double max_move = 4;    ///< pixels in all
  ScanDistortion affine = ScanDistortion::free;
  Index trials = 6;   ///< annealing
  double radius = 2;  ///< annealing: of the first disk; grid: half the side. Pixels

  void describe(Fields& fields);
};

/// What a correction did.
struct PositionReport {
  double largest_move = 0;  ///< pixels, of this correction
  Index at_limit = 0;       ///< positions that stand at max_move or at the edge of the object
  Affine affine;            ///< of all movement since the start: scale, rotation, shear
};

/// Corrects the active positions of a workbench's state; the others (held out) follow the affine part. The mean
/// movement is taken out, so that object and positions do not drift together. Single slice for xcorr, any number for
/// the others. What a method looks for is found by kernels where a device's compute; the positions move here.
template <class Real>
class PositionCorrection {
 public:
  /// `initial` are the positions of the start of the run, in object pixels.
  PositionCorrection(const PositionSettings& settings, std::vector<Point> initial, const Workbench<Real>& bench);

  /// Whether this iteration corrects; `last` is the last of the run.
  [[nodiscard]] bool due(Index iteration) const;
  PositionReport correct(Workbench<Real>& bench, Index iteration, Index last);
  /// What the next correction needs of this one.
  std::vector<EngineMemory> memory() { return {{"gain", &gain_}, {"last_steps", &last_steps_}}; }

 private:
  using Complex = std::complex<Real>;
  [[nodiscard]] PositionSums sums(Workbench<Real>& bench, Index frame, Exposure<Real>& exposure,
                                  std::vector<Complex>& room) const;
  [[nodiscard]] Point gradient(PositionSums sums) const;
  /// How every active frame shall move.
  [[nodiscard]] std::vector<Point> steps_there(Workbench<Real>& bench, DevicePass<Real>& there) const;
  [[nodiscard]] std::vector<Point> steps_here(Workbench<Real>& bench, Index iteration, Index last);
  [[nodiscard]] double error_at(Workbench<Real>& bench, Index frame, Point shift, Exposure<Real>& exposure) const;
  [[nodiscard]] Point annealed(Workbench<Real>& bench, Index frame, double radius, std::uint64_t iteration,
                               Exposure<Real>& exposure) const;
  [[nodiscard]] Point searched(Workbench<Real>& bench, Index frame, Exposure<Real>& exposure) const;
  [[nodiscard]] Point correlated(Workbench<Real>& bench, Index frame, Exposure<Real>& exposure,
                                 std::vector<Complex>& room) const;
  void adapt_gain(const std::vector<Index>& frames, const std::vector<Point>& steps);
  PositionReport move(Workbench<Real>& bench, const std::vector<Point>& steps);

  PositionSettings settings_;
  std::vector<Point> initial_;
  PerWorker<Exposure<Real>> exposures_;
  PerWorker<std::vector<Complex>> rooms_;
  Array gain_;        // xcorr, f64: a single update shows only a part of the shift
  Array last_steps_;  // xcorr, (J, 2) f64
};

}  // namespace sonde::ptycho
