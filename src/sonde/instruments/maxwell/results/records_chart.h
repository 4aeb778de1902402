// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sonde/engine/figure/chart.h"
#include "sonde/instruments/maxwell/read/observed_data.h"

namespace sonde::maxwell {

/// What is drawn of records.
struct RecordsChoice {
  std::optional<Component> component{};  ///< unset: that of the first receiver
  Index shot = 0;
  std::optional<Index> receiver{};  ///< one of them as an A-scan
};
/// The gather of a shot, receivers beside each other where they are on a line at even steps; an A-scan of a single
/// receiver. Throws Error(bad_input) for a shot, receiver or component that the records do not have.
[[nodiscard]] Chart records_chart(const ObservedData& data, const RecordsChoice& choice);

}  // namespace sonde::maxwell
