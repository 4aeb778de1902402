// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/io/contents.h"
#include "sonde/engine/options/value.h"
#include "sonde/instruments/maxwell/invert/inversion.h"
#include "sonde/instruments/maxwell/read/observed_data.h"

namespace sonde::maxwell {

/// A model of an inversion under way, after an iteration of a stage (0: its start).
struct KeptModel {
  Index stage = 0, iteration = 0;
  std::vector<double> eps_r, sigma;
};

/// What an inversion has found, and what of.
struct InversionResult {
  std::string title{};
  GridSpec grid;
  std::array<double, 3> origin{};  ///< m
  Model start, model;
  std::optional<Model> truth{};
  bool eps_r = true, sigma = false;  ///< what was unknown
  std::vector<KeptModel> kept{};
  ModelChange gradient{};  ///< of the misfit at the last model; empty after a restart without a step
  std::vector<InversionStage> stages{};
  std::vector<InversionRow> history{};
  std::vector<StageEnd> ends{};
  std::optional<Uncertainty> uncertainty{};
  double prior = 0;  ///< standard deviation of the unknowns that it begins with
  ObservedData observed, predicted;
  std::vector<std::vector<double>> given_sources{}, sources{};  ///< [shot] of [source][step], before and after
  std::string run_file{};                                       ///< repeats the inversion
};

/// As a file holds it, with the attributes format = "sonde-maxwell-1" and schema = "sonde.maxwell.inversion/1":
/// receivers/data and survey/ are those of the last model, as contents_of(ObservedData) has them; model/ (with spacing,
/// origin and material_location, so that it is a model to begin with), start/, true/, kept/ [model] with their stage
/// and iteration, gradient/; uncertainty/ with the standard deviations of the model and the information of its
/// directions, where it was asked for; history/ and run/seconds [row]; source/given and source/estimated
/// [shot][source][step]; observed/data. Stages count from 1.
[[nodiscard]] Contents contents_of(const InversionResult& result);

/// The misfit at the end of a stage over that at its start, without regularisation; NaN for a stage that did not begin.
[[nodiscard]] double remaining_misfit(const std::vector<InversionRow>& history, Index stage);

/// A line for each row of the history, with a head. `note` comes before them, behind #.
[[nodiscard]] std::string history_csv(const std::vector<InversionRow>& history, const std::string& note);
[[nodiscard]] Value history_value(const std::vector<InversionRow>& history);

/// Reads model/eps_r and model/sigma of a native model or of a result, on these cells. Throws Error(bad_file) for
/// other files, Error(bad_input) for other cells.
[[nodiscard]] Model read_true_model(const std::string& path, const GridSpec& grid);

/// |found - wanted| / |start - wanted| over cells whose share is above 0: 1 where nothing was learnt. NaN where the
/// start is right.
[[nodiscard]] double remaining_error(const std::vector<double>& found, const std::vector<double>& start,
                                     const std::vector<double>& wanted, const std::vector<double>& share = {});

}  // namespace sonde::maxwell
