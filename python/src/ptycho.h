// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "convert.h"
#include "sonde/instruments/ptycho/scan/positions.h"

namespace sonde::python {

/// (count, 2), rows and columns in that order, float64.
using Positions = py::array_t<double, py::array::c_style>;
/// Throws Error(bad_input) for another shape.
[[nodiscard]] std::vector<ptycho::Point> points_of(const Positions& positions);
[[nodiscard]] py::array array_of(const std::vector<ptycho::Point>& points);

/// The options of simulate(), described.
[[nodiscard]] py::list ptycho_simulate_fields();

/// PtychoRun: a reconstruction step by step.
void add_ptycho_run(py::module_& module);
/// The forward model, its gradient and simulated scans as functions.
void add_ptycho_model(py::module_& module);

}  // namespace sonde::python
