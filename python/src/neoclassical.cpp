// SPDX-License-Identifier: Apache-2.0
#include "neoclassical.h"

#include <optional>
#include <string>
#include <string_view>

#include "apart.h"
#include "bindings.h"

namespace sonde::python {
namespace {

std::optional<py::list> fields(const std::string& call) {
  constexpr std::string_view of = "neoclassical_";
  if (call.starts_with(of)) return neoclassical_fields(call.substr(of.size()));
  return std::nullopt;
}

void add(py::module_& module) {
  add_neoclassical_surface(module);
  add_neoclassical_plan(module);
  add_neoclassical_convert(module);
  add_neoclassical_database(module);
  run_apart(module, {"neoclassical_convergence", "neoclassical_convert", "neoclassical_load_database",
                     "neoclassical_build_database", "neoclassical_profiles", "neoclassical_boozer"});
  run_apart(module.attr("NeoclassicalPlan"), {"solve", "scan"});
  run_apart(module.attr("NeoclassicalDatabase"), {"save", "profiles"});
}

}  // namespace

extern const Bindings neoclassical_bindings;
const Bindings neoclassical_bindings{.add = add, .fields = fields};

}  // namespace sonde::python
