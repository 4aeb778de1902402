// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "convert.h"
#include "sonde/instruments/stem/load/dataset.h"

namespace sonde::python {

/// Weights (rows, cols) of a mask that Python gives. Throws Error(bad_input) for another shape than the detector's.
using Weights = py::array_t<float, py::array::c_style>;
void require_shape_of_detector(const Weights& weights, const stem::Dataset& dataset);

/// Zero is outside, anything else a weight; bad pixels do not count. Throws Error(bad_input) when no good pixel is
/// left. Needs no GIL.
[[nodiscard]] stem::Mask mask_of_weights(const float* weights, const stem::Dataset& dataset);

}  // namespace sonde::python
