// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sonde/instruments/maxwell/read/experiment.h"
#include "sonde/instruments/maxwell/read/number_array.h"
#include "sonde/instruments/maxwell/signal/wavelet.h"

namespace sonde::maxwell {

/// What the numbers of a location are.
enum class LocationUnit {
  by_type,  ///< indices where they are integers, else positions
  index,    ///< the element of the array of the named component
  cells     ///< the position in cells from plane 0 of the model
};

/// What files say of an experiment, before it is put together: a part may come from another file, or be replaced. Lists
/// of axes are in the order of the arrays: z, x of a model in two dimensions, z, y, x of one in three.
struct ExperimentDraft {
  std::string title{};
  std::vector<double> origin{};  ///< m; empty: 0

  std::vector<Index> shape{};                           ///< cells; empty: of the arrays
  std::vector<double> spacing{};                        ///< m; one for all axes, or one for each
  std::optional<NumberArray> eps_r{}, sigma{}, mu_r{};  ///< of the shape, or one number for all; sigma 0, mu_r 1
  std::optional<NumberArray> deps{}, tau{};             ///< [pole] and the shape
  MaterialLocation material_location = MaterialLocation::node;
  bool allow_sub_vacuum = false;

  int order = 4;
  Precision precision = Precision::f32;
  std::vector<Index> pml{10};  ///< of the cells that are computed: one width, or low and high of each axis
  PmlSettings pml_settings{};
  bool corrected = false;
  std::vector<double> computed_spacing{};  ///< m, as `spacing`; the model is put on such cells. Empty: those it has
  Index least_sub_steps = 1;

  std::optional<double> dt{};  ///< s; unset: `courant` times the largest stable step
  double courant = 0.9;
  std::optional<Index> steps{};  ///< unset: as many as the amplitudes have

  /// [shot][point][axis]; of rank 2 or a line of numbers: a list of sources, each a shot; a list of receivers, each in
  /// every shot. Receivers of one shot serve all.
  std::optional<NumberArray> sources{}, receivers{};
  LocationUnit location_unit = LocationUnit::by_type;
  /// One, one for each point of a shot, or one for each of all shots.
  std::vector<std::string> source_component{"Ey"}, receiver_component{"Ey"};

  std::optional<Wavelet> wavelet{};        ///< at the times of the sources
  std::optional<NumberArray> amplitude{};  ///< [shot][source][step], [source][step] or [step]
  double dominant_frequency = 0;           ///< Hz, of amplitudes
};

/// Puts it together. Throws Error(bad_input) for parts that are missing or do not fit and what require_valid() refuses,
/// Error(budget) when it would hold more than `most_bytes`.
[[nodiscard]] Experiment experiment_of(ExperimentDraft draft, std::size_t most_bytes);

/// The shots of a draft without their amplitudes and without a model that bounds them. Throws Error(bad_input) for
/// lists that do not fit together, and for more points in all shots than `most_points`.
[[nodiscard]] std::vector<SurveyShot> survey_of(const ExperimentDraft& draft, Mode mode, Index most_points);

}  // namespace sonde::maxwell
