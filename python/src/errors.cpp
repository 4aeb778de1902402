// SPDX-License-Identifier: Apache-2.0
#include "errors.h"

#include <pybind11/stl.h>

#include <exception>
#include <new>
#include <string>

#include "sonde/engine/base/error.h"

namespace sonde::python {
namespace {

namespace py = pybind11;

// Makes the exception. Never given back: errors may be thrown until the interpreter is gone.
py::handle make_error;

py::object as_python(const Error& told) {
  const Error error = told.spelled(Spelling::python);
  py::list problems;
  for (const Error& problem : error.problems()) problems.append(as_python(problem));
  return make_error(std::string(name(error.kind())), error.message(), error.hint(),
                    py::tuple(py::cast(error.activities())), problems, std::string(error.what()));
}

void raise(const Error& error) {
  const py::object made = as_python(error);
  PyErr_SetObject(py::type::of(made).ptr(), made.ptr());
}

void translate(std::exception_ptr thrown) {
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const Error& error) {
    raise(error);
  } catch (const std::bad_alloc&) {
    raise(Error(ErrorKind::budget, "the system gave no more memory"));
  }
}

ErrorKind kind_of(const std::string& word) {
  for (const ErrorKind kind : {ErrorKind::usage, ErrorKind::bad_input, ErrorKind::bad_file, ErrorKind::budget,
                               ErrorKind::io, ErrorKind::device, ErrorKind::not_converged, ErrorKind::not_supported,
                               ErrorKind::interrupted, ErrorKind::terminated})
    if (name(kind) == word) return kind;
  return ErrorKind::internal;
}

}  // namespace

void add_errors(py::module_& module) {
  module.def("raise_as", [](const py::object& made_by) { make_error = py::object(made_by).release(); });
  py::register_exception_translator(translate);
  module.def("exit_status", [](const std::string& kind) { return exit_status(kind_of(kind)); });
  module.def(
      "raise_error",
      [](const std::string& kind, const std::string& message, const std::string& hint) {
        throw Error(kind_of(kind), message).hint(hint);
      },
      py::arg("kind"), py::arg("message"), py::arg("hint") = "");
}

}  // namespace sonde::python
