// SPDX-License-Identifier: Apache-2.0
#include "ptycho.h"

#include <optional>
#include <string>

#include "apart.h"
#include "bindings.h"

namespace sonde::python {
namespace {

std::optional<py::list> fields(const std::string& call) {
  if (call == "ptycho_simulate") return ptycho_simulate_fields();
  return std::nullopt;
}

void add(py::module_& module) {
  add_ptycho_run(module);
  add_ptycho_model(module);
  run_apart(module, {"ptycho_forward", "ptycho_gradient", "ptycho_simulate", "ptycho_simulate_file"});
  run_apart(module.attr("PtychoRun"), {"open", "prepare", "iterate", "iterate_many", "save", "write_result"});
}

}  // namespace

extern const Bindings ptycho_bindings;
const Bindings ptycho_bindings{.add = add, .fields = fields};

}  // namespace sonde::python
