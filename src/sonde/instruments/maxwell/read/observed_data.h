// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <vector>

#include "sonde/engine/io/contents.h"
#include "sonde/instruments/maxwell/read/experiment.h"

namespace sonde::maxwell {

/// What receivers recorded: computed or measured.
struct ObservedData {
  std::string title{};
  Mode mode = Mode::tm2d;
  std::array<double, 3> spacing{};  ///< z, y, x, m of a cell; 0 where it is not known
  std::array<double, 3> origin{};   ///< z, y, x of plane 0 in the coordinates of the user, m
  double dt = 0;  ///< s; sample n of an electric component is at (n + 1) dt, of a magnetic one at (n + 1/2) dt
  Index steps = 0;
  Precision precision = Precision::f32;  ///< of the samples in a file
  std::vector<SurveyShot> shots{};       ///< without amplitudes; as many receivers in each
  std::vector<double> samples{};         ///< [step][shot][receiver], V/m and A/m

  [[nodiscard]] Index receivers() const { return shots.empty() ? 0 : static_cast<Index>(shots[0].receivers.size()); }
  /// Of the first sample of a component, s.
  [[nodiscard]] double start(Component c) const;
};

/// Of an experiment, with samples all zero. Throws Error(bad_input) for shots that differ in their number of receivers.
[[nodiscard]] ObservedData empty_data(const Experiment& experiment);

/// As a file holds it, with the attribute format = "sonde-maxwell-1": receivers/data [step][shot][receiver] with the
/// attributes dt (s), components and time_of_first_sample (s, one for each of these components), and survey/ as a
/// native model has it.
[[nodiscard]] Contents contents_of(const ObservedData& data);

/// Reads HDF5. Throws Error(bad_file) for what is missing, has another shape or type or is not finite, or where the
/// times of first samples are not those of these records.
[[nodiscard]] ObservedData read_observed_data(const std::string& path);

/// Throws Error(bad_input) beginning with `what` unless the data were recorded as the experiment says: dt, steps, and
/// component and place of every source and receiver.
void require_recorded_by(const Experiment& experiment, const ObservedData& data, const std::string& what);

}  // namespace sonde::maxwell
