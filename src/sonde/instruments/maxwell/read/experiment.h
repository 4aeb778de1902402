// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "sonde/instruments/maxwell/grid/grid.h"
#include "sonde/instruments/maxwell/grid/medium.h"
#include "sonde/instruments/maxwell/grid/pml.h"
#include "sonde/instruments/maxwell/grid/precision.h"

namespace sonde::maxwell {

/// Where a component is excited or recorded.
struct SurveyPoint {
  Component component = Component::Ey;
  /// z, y, x in cells from plane 0 of the model, the layers not counted; 0 along y in tm2d. Element i of an array of Ex
  /// has x = i + 0.5.
  std::array<double, 3> at{};

  friend bool operator==(const SurveyPoint&, const SurveyPoint&) = default;
};

/// What is excited and recorded together.
struct SurveyShot {
  std::vector<SurveyPoint> sources{}, receivers{};
  /// [source][step]: of an electric component the moment I dl in A m (in tm2d the current in A) at (n + 1/2) dt, of a
  /// magnetic one its moment in V m (V) at n dt.
  std::vector<double> amplitudes{};

  friend bool operator==(const SurveyShot&, const SurveyShot&) = default;
};

/// A model, what is measured on it and how it is computed: what a native file holds, before anything is prepared.
struct Experiment {
  std::string title{};
  std::array<double, 3> origin{};  ///< z, y, x of plane 0 in the coordinates of the user, m
  GridSpec grid;  ///< cells of the model, spacing, widths of the layers outside of it, order of the stencils
  Model model;
  std::vector<ModelPole> poles{};  ///< of models whose materials are located at nodes
  bool allow_sub_vacuum = false;   ///< whether eps_r may be below 1
  PmlSettings pml{};
  double dominant_frequency = 0;  ///< Hz, of the wavelet, for the layers; 0 where none is known
  double dt = 0;                  ///< s, of amplitudes and records; a run may take smaller steps
  Index steps = 0;
  bool dt_follows = false;    ///< whether nothing but the stability limit has decided dt
  Index least_sub_steps = 1;  ///< inner steps of a run in dt, at least
  bool corrected = false;     ///< whether the error of the time step is taken out of sources and records
  Precision precision = Precision::f32;
  std::vector<SurveyShot> shots{};
};

/// Profiles of layers by name.
enum class PmlPreset { graded, gprmax, tide };
[[nodiscard]] PmlSettings settings_of(PmlPreset preset);

/// The words by which files and settings name a value.
template <class Enum>
using Words = std::vector<std::pair<std::string, Enum>>;
[[nodiscard]] const Words<MaterialLocation>& material_location_words();
[[nodiscard]] const Words<Precision>& precision_words();
[[nodiscard]] const Words<bool>& time_dispersion_words();  ///< whether it is corrected
[[nodiscard]] const Words<PmlPreset>& pml_preset_words();
[[nodiscard]] const Words<PmlSettings::Scale>& pml_scale_words();

/// The axes that the arrays of a model have, in their order: z, x or z, y, x.
[[nodiscard]] std::vector<Axis> axes_of(Mode mode);

/// The largest stable step of its model on its grid, s (stability.h).
[[nodiscard]] double largest_time_step(const Experiment& experiment);

/// Grid, model and poles. Throws Error(bad_input) for what Grid and require_model() refuse, for eps_r < 1 unless it is
/// allowed, and for poles that have another size, deps < 0 or tau <= 0, or whose materials are located in cells.
void require_medium(const Experiment& experiment);
/// All of it. Throws Error(bad_input) with value and index for what require_medium() refuses, dt <= 0, more than 64
/// inner steps, no shots, sources or receivers, components that the grid lacks, points outside of the model, and
/// amplitudes of another size or not finite.
void require_valid(const Experiment& experiment);

}  // namespace sonde::maxwell
