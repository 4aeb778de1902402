// SPDX-License-Identifier: Apache-2.0
// Points in the normalisations of other programs.
#include <pybind11/stl.h>

#include "neoclassical.h"
#include "sonde/engine/base/error.h"
#include "sonde/instruments/neoclassical/convert/stored_points.h"
#include "sonde/instruments/neoclassical/results/result_file.h"
#include "work.h"

namespace sonde::python {
namespace {

namespace nc = neoclassical;

/// The numbers of a result file, or those that are given, as `keywords` say; written to `output` as well.
py::dict convert(const std::optional<std::string>& file, const nc::StoredNumbers& given, const py::dict& keywords,
                 const std::optional<std::string>& output) {
  const auto settings = options_of<nc::ConversionSettings>(keywords, "convert()");
  const nc::StoredNumbers made = Work().run([&] {
    if (output) nc::require_result_path(*output);
    nc::StoredNumbers numbers;
    if (file)
      numbers = during("converting " + *file, [&] { return converted(nc::ResultFile(*file).numbers(), settings); });
    else
      numbers = converted(given, settings);
    if (output) nc::write_numbers(*output, numbers);
    return numbers;
  });
  // The six of a point first, in the order in which people write them.
  py::dict told;
  for (const std::string& name : nc::stored_names(settings.to)) told[name.c_str()] = array_of(made.at(name));
  for (const auto& [name, values] : made)
    if (!told.contains(name.c_str())) told[name.c_str()] = values.front();
  return told;
}

}  // namespace

void add_neoclassical_convert(py::module_& module) { module.def("neoclassical_convert", convert); }

}  // namespace sonde::python
