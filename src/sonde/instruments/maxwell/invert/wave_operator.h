// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "sonde/instruments/maxwell/grid/medium.h"
#include "sonde/instruments/maxwell/invert/cell_grid.h"
#include "sonde/instruments/maxwell/invert/gather.h"

namespace sonde::maxwell {

/// A shot and the signals of its sources.
struct ShotSignals {
  Index shot = 0;
  std::vector<double> amplitudes;  ///< [source][step], as SurveyShot::amplitudes
};

/// The misfit of the records of a shot: called once for each shot, by one thread at a time, in any order. With several
/// processes only the one that has the shot calls it.
using ShotMisfit = std::function<RecordMisfit(Index shot, const Gather& computed)>;

/// From the change of the records of a shot to what goes back to the model: the weights of Gauss and Newton's matrix.
using ShotWeighting = std::function<std::vector<double>(Index shot, const Gather& change)>;

/// Whether a gradient comes with what lights up each cell.
enum class Illumination { skipped, summed };

/// Sums over shots, in their order whoever has run them.
struct MisfitGradient {
  double value = 0, squares = 0;  ///< of RecordMisfit
  ModelChange gradient;           ///< d(value)/d(eps_r, sigma) on the cells; mu_r is empty
  /// What lights up each cell, on the cells as the gradient (illumination_of() of grid/coefficients.h), but for a
  /// factor common to all; empty unless summed.
  ModelChange illumination{};
};

/// Waves of a survey in any model on its cells: what an inversion asks of a solver. The time step, the layers and all
/// else that a model could decide are fixed, or the gradient would not be that of the misfit.
class WaveOperator {
 public:
  WaveOperator() = default;
  WaveOperator(const WaveOperator&) = delete;
  WaveOperator& operator=(const WaveOperator&) = delete;
  virtual ~WaveOperator() = default;

  [[nodiscard]] virtual CellGrid grid() const = 0;
  [[nodiscard]] virtual Index shots() const = 0;
  [[nodiscard]] virtual Index steps() const = 0;
  [[nodiscard]] virtual double dt() const = 0;  ///< s

  /// A number that differs between processes which share the waves, as a time: the same in all of them.
  [[nodiscard]] virtual double agreed(double number) const { return number; }

  /// Runs these shots and gives the records of each to `take`, in their order, in every process.
  virtual void record(const Model& model, std::span<const ShotSignals> shots,
                      const std::function<void(Index shot, const Gather& computed)>& take) = 0;

  /// Runs these shots; of each, forwards once, the misfit of its records, and back with the residual. A model that
  /// cannot be run (unstable at this time step) has a value that is not finite.
  [[nodiscard]] virtual MisfitGradient gradient(const Model& model, std::span<const ShotSignals> shots,
                                                const ShotMisfit& misfit, Illumination illumination) = 0;

  /// The matrix of Gauss and Newton times a change of the model: of each shot the change of its records, weighted, back
  /// to d/d(eps_r, sigma); summed. Throws Error(not_supported) unless overridden.
  [[nodiscard]] virtual ModelChange gauss_newton(const Model& model, std::span<const ShotSignals> shots,
                                                 const ModelChange& change, const ShotWeighting& weighting);
};

}  // namespace sonde::maxwell
