// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

namespace sonde::python {

/// raise_as(class): every Error that leaves the module becomes an exception of this class, which is called with kind,
/// message, hint, activities, problems and the whole text; so does a lack of memory.
/// exit_status(kind): of the program for an error of that kind.
/// raise_error(kind, message, hint=""): the same for checks that are made in Python.
void add_errors(pybind11::module_& module);

}  // namespace sonde::python
