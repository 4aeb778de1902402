// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sonde/instruments/maxwell/field/field_line.h"
#include "sonde/instruments/maxwell/read/observed_data.h"

namespace sonde::maxwell {

/// What is taken of records.
struct RecordsChoice {
  std::optional<Component> component{};  ///< unset: that of the first receiver
  Index shot = 0;
  std::optional<Index> receiver{};  ///< one of them by itself
};

/// The gather of a shot, one trace for each receiver of a component. Positions are those of the receivers in m along
/// the axis that they share, where they follow each other at even steps; none otherwise. Throws Error(bad_input) for a
/// shot, receiver or component that the records do not have.
[[nodiscard]] FieldLine line_of(const ObservedData& data, const RecordsChoice& choice);

}  // namespace sonde::maxwell
