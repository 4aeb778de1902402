// SPDX-License-Identifier: Apache-2.0
// Between Python's objects and ours. Everything here needs the GIL.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <string>

#include "sonde/engine/array/array.h"
#include "sonde/engine/options/fields.h"

namespace sonde::python {

namespace py = pybind11;

/// None, bool, int, float, str, list and dict.
[[nodiscard]] py::object to_python(const Value& value);
/// The same back; tuples are lists, paths are texts, NumPy's scalars and arrays are numbers and lists. Throws
/// Error(usage) that names `what` for other objects.
[[nodiscard]] Value from_python(const py::handle& object, const std::string& what);

/// Sets the fields of an options struct from keyword arguments: the names, checks and messages of the command line and
/// of TOML files. A keyword that is None is as if it were not given. `call` begins messages: "load()".
template <class Options>
[[nodiscard]] Options options_of(const py::dict& keywords, const std::string& call) {
  Options options;
  Fields fields(options);
  Value given = Value::object();
  for (const auto& [key, value] : keywords)
    if (!value.is_none()) given[py::cast<std::string>(key)] = from_python(value, py::cast<std::string>(key));
  fields.assign_all(given, call);
  return options;
}

/// One description per field: {"key", "type", "help", "unit", "min", "max", "choices", "default", "alias", ...}.
[[nodiscard]] py::list describe_fields(const Fields& fields);

[[nodiscard]] py::dtype numpy_type(DType dtype);
/// Throws Error(bad_input) for types that no array of ours holds and for a foreign byte order.
[[nodiscard]] DType dtype_of_numpy(const py::dtype& dtype, const std::string& what);

/// A NumPy array that owns the elements of ours; nothing is copied.
[[nodiscard]] py::array to_numpy(Array array);
/// An array on the elements of a C-contiguous NumPy array, which it keeps alive. Throws Error(bad_input) for others.
[[nodiscard]] Array borrow(const py::array& array, const std::string& what);

/// A window that may not be written through, kept alive by `owner`. Strides in elements.
[[nodiscard]] py::array read_only(DType dtype, const std::vector<Index>& shape, const std::vector<Index>& strides,
                                  const void* elements, const py::object& owner);

}  // namespace sonde::python
