// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include "sonde/instruments/stem/load/series.h"

namespace sonde::python {

[[nodiscard]] pybind11::object open_series(stem::Series series);
void add_series(pybind11::module_& module);

}  // namespace sonde::python
