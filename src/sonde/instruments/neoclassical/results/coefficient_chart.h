// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/engine/figure/chart.h"
#include "sonde/instruments/neoclassical/results/coefficient_tables.h"

namespace sonde::neoclassical {

/// What of them is drawn.
struct CoefficientPanels {
  bool D11 = true, D31 = true, D33 = true, onsager = true;
};

/// D11*, D31* and D33* of the benchmark over nu* (conversions.h), or, where the lengths of the surface are not known,
/// D11 and D31 in their units and (3/2) (nu/v) D33 over nu/v; and how well Onsager symmetry holds. A curve per field,
/// from dark at weak fields to light at strong ones. Every point is there: on logarithmic axes values below zero are
/// open marks at their magnitude, zeros and points without an answer stand at the lower edge, and crosses mark points
/// that are doubtful: D11 or D33 not above zero, or an Onsager residual above 1 %.
[[nodiscard]] Chart coefficient_chart(const CoefficientCurves& curves, const CoefficientPanels& panels = {});

}  // namespace sonde::neoclassical
