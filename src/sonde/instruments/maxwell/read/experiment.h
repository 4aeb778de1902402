// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
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
};

/// Debye relaxation on the elements of a model, -, s.
struct ModelPole {
  std::vector<double> deps{}, tau{};
};

/// A model, what is measured on it and how it is computed: what a native file holds, before anything is prepared.
struct Experiment {
  std::string title{};
  GridSpec grid;  ///< cells of the model, spacing, widths of the layers outside of it, order of the stencils
  Model model;
  std::vector<ModelPole> poles{};  ///< of models whose materials are located at nodes
  PmlSettings pml{};
  double dominant_frequency = 0;  ///< Hz, of the wavelet, for the layers; 0 where none is known
  double dt = 0;                  ///< s, of amplitudes and records; a run may take smaller steps
  Index steps = 0;
  bool corrected = false;  ///< whether the error of the time step is taken out of sources and records
  Precision precision = Precision::f32;
  std::vector<SurveyShot> shots{};
};

}  // namespace sonde::maxwell
