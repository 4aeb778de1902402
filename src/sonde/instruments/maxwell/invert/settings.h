// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/options/tables.h"
#include "sonde/instruments/maxwell/grid/grid.h"
#include "sonde/instruments/maxwell/invert/inversion.h"

namespace sonde::maxwell {

/// [inversion]: what is unknown, what is minimised, and when it is enough.
struct InversionTable {
  std::vector<std::string> parameters{"eps_r"};
  std::string eps_r_bounds = "1, 81", sigma_bounds = "0, 1";
  double beta = 1;
  std::optional<double> sigma0;
  SigmaScale sigma_scale = SigmaScale::linear;
  std::string every = "1";
  Spline spline = Spline::linear;

  MisfitSettings misfit{};
  FilterPlace filter = FilterPlace::records;
  RegularisationSettings regularisation{};
  std::string mask;
  double mask_radius = 0, mask_taper = 0, mask_depth = 0;

  SourceEstimation source_estimation = SourceEstimation::off;
  Index source_every = InversionSettings{}.source_every;
  double source_damping = InversionSettings{}.source_damping;

  OptimiserKind optimiser = OptimiserKind::lbfgs;
  Index memory = InversionSettings{}.memory, products = InversionSettings{}.products, shots_per_batch = 0;
  double first_change = InversionSettings{}.first_change;
  bool illumination = true;
  double illumination_damping = 0.05;
  ExitCriteria exit{};
  UncertaintySettings uncertainty{};

  void describe(Fields& fields);
};

/// [[inversion.stage]]: frequencies up to fmax, or within a band; all when neither is set.
struct InversionStageTable {
  std::optional<double> fmax;
  std::string band;
  Index iterations = InversionStage{}.iterations;

  void describe(Fields& fields);
};

/// The part of a run file that an inversion reads, [inversion] and its stages. Tables are bound to it.
class InversionTables {
 public:
  InversionTables() = default;
  InversionTables(const InversionTables&) = delete;
  InversionTables& operator=(const InversionTables&) = delete;

  InversionTable inversion;
  std::vector<std::unique_ptr<InversionStageTable>> stages;

  void add_to(Tables& tables);

  /// What the tables say, checked (require_valid()): Error(bad_input) that names the key. Without a stage there is one
  /// of all frequencies.
  [[nodiscard]] InversionSettings settings() const;
  /// `dominant_frequency` in Hz: where sigma0 is unset, it is 2 pi f eps0, the conductivity whose current equals the
  /// displacement current of vacuum there; above 0 or sigma0 must be set, if sigma is unknown.
  [[nodiscard]] ParameterSettings parameters(Mode mode, double dominant_frequency) const;
};

}  // namespace sonde::maxwell
