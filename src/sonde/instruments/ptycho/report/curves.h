// SPDX-License-Identifier: Apache-2.0
// Private to the room: the curves of a run as charts.
#pragma once

#include "sonde/engine/figure/chart.h"
#include "sonde/instruments/ptycho/report/findings.h"
#include "sonde/instruments/ptycho/results/result.h"

namespace sonde::ptycho {

/// R_I, R_A and R_free with the floor of R_I, and where engines change.
[[nodiscard]] Chart error_curves(const Result& result, const Findings& findings);
/// Changes of object and probe per iteration, and the probe's power since the start.
[[nodiscard]] Chart change_curves(const Result& result);
/// The amounts of the components by which the first mode varies, pattern by pattern in the order of the scan.
[[nodiscard]] Chart variation_curves(const Result& result);
/// The correlation of two halves of the data ring by ring, with the half-bit threshold.
[[nodiscard]] Chart half_data_curve(const RingCorrelation& rings, bool calibrated);

}  // namespace sonde::ptycho
