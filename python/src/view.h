// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

namespace sonde::python {

void add_view(pybind11::module_& module);

}  // namespace sonde::python
