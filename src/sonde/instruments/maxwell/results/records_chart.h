// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/engine/figure/chart.h"
#include "sonde/instruments/maxwell/field/records_line.h"

namespace sonde::maxwell {

/// The gather of a shot, receivers beside each other where they are on a line at even steps; an A-scan of a single
/// receiver. Throws Error(bad_input) for a shot, receiver or component that the records do not have.
[[nodiscard]] Chart records_chart(const ObservedData& data, const RecordsChoice& choice);

}  // namespace sonde::maxwell
