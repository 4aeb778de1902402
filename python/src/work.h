// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <csignal>
#include <exception>
#include <optional>

#include "sonde/engine/base/error.h"
#include "sonde/engine/report/progress.h"

namespace sonde::python {

namespace py = pybind11;

/// One piece of work of the engine, started from Python: it runs without the GIL, tells `progress(stage, fraction,
/// detail)` how far it is, and Ctrl-C ends it with KeyboardInterrupt. An exception of `progress` ends it too and is
/// passed on.
///
///   return Work(progress).run([&] { return stem::load(path, options, budget); });
class Work {
 public:
  explicit Work(py::object progress = py::none());
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;
  ~Work();

  template <class Body>
  auto run(Body&& body) -> decltype(body()) {
    try {
      auto result = [&] {
        std::optional<ProgressScope> scope;
        const py::gil_scoped_release unlocked;
        if (progress_) scope.emplace([this](const Progress& progress) { tell(progress); });
        return body();
      }();
      raise_failure_of_progress();
      return result;
    } catch (const Error& error) {
      raise_failure_of_progress();
      if (error.kind() == ErrorKind::interrupted) raise_signal();
      throw;
    }
  }

 private:
  void tell(const Progress& progress);
  void raise_failure_of_progress();
  void raise_signal();

  py::object progress_;
  std::optional<py::error_already_set> failure_;
  bool listens_ = false;
};

}  // namespace sonde::python
