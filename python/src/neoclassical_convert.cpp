// SPDX-License-Identifier: Apache-2.0
// Points in the normalisations of other programs.
#include <pybind11/stl.h>

#include "neoclassical.h"
#include "sonde/engine/run/write_contents.h"
#include "sonde/instruments/neoclassical/results/converted_result.h"
#include "work.h"

namespace sonde::python {
namespace {

namespace nc = neoclassical;

/// The numbers of a result file, or points that are given (those of `surface` where it is), as `keywords` say; written
/// to `output` as well.
py::dict convert(const std::optional<std::string>& file, const nc::StoredNumbers& given, const py::dict& keywords,
                 const std::optional<std::string>& output, const FluxSurface* surface) {
  const auto settings = options_of<nc::ConversionSettings>(keywords, "convert()");
  const nc::Converted made = Work(py::none(), surface != nullptr ? surface->files() : nullptr).run([&] {
    if (output) require_contents_path(*output);
    nc::Converted of_file{.normalisation = settings.to, .numbers = {}, .rho = {}, .nu_v = {}, .field = {}};
    if (file)
      of_file = nc::converted_result(*file, settings);
    else
      of_file.numbers = converted(given, settings);
    if (output) write_contents(*output, contents_of(of_file));
    return of_file;
  });
  const bool tables = !made.nu_v.empty();
  // The six of a point first, in the order in which people write them.
  py::dict told;
  for (const std::string& name : nc::stored_names(settings.to))
    told[name.c_str()] = array_of(made.numbers.at(name), made.shape(name));
  for (const auto& [name, values] : made.numbers)
    if (!told.contains(name.c_str())) {
      if (tables)
        told[name.c_str()] = array_of(values);
      else
        told[name.c_str()] = values.front();
    }
  if (!tables) return told;
  told["rho"] = array_of(made.rho);
  told["nu_v"] = array_of(made.nu_v);
  told["field"] = array_of(made.field);
  return told;
}

}  // namespace

void add_neoclassical_convert(py::module_& module) { module.def("neoclassical_convert", convert); }

}  // namespace sonde::python
