// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <optional>
#include <string>
#include <vector>

namespace sonde::python {

namespace py = pybind11;

/// What an instrument offers to Python by hand, beside its verbs: objects with state.
struct Bindings {
  void (*add)(py::module_& module);
  /// The options of one of its calls, described; nothing for another call.
  std::optional<py::list> (*fields)(const std::string& call);
};

/// Those of the instruments of this module. Written by CMake.
[[nodiscard]] const std::vector<const Bindings*>& bindings();

}  // namespace sonde::python
