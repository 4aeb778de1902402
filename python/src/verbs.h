// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

namespace sonde::python {

/// The door to every verb: `verbs`, `verb_fields` and `run_verb`.
void add_verbs(pybind11::module_& module);

}  // namespace sonde::python
