// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <memory>
#include <optional>

#include "apart.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/base/run_files.h"
#include "sonde/engine/report/progress.h"

namespace sonde::python {

namespace py = pybind11;

/// One piece of work of the engine, started from Python: it runs without the GIL, calls `progress(stage, fraction,
/// detail)` how far it is, and Ctrl-C ends it with KeyboardInterrupt. An exception of `progress` ends it too and is
/// passed on.
///
/// The files that it reads are its inputs, which no output of it replaces (engine/base/run_files.h). Several calls on
/// one object may be one run in this sense: they then name its `files`.
///
///   return Work(progress).run([&] { return stem::load(path, options, budget); });
class Work {
 public:
  explicit Work(py::object progress = py::none(), std::shared_ptr<RunFiles> files = nullptr);
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;
  ~Work() = default;

  template <class Body>
  auto run(Body&& body) -> decltype(body()) {
    try {
      auto result = [&] {
        std::optional<ProgressScope> scope;
        const py::gil_scoped_release unlocked;
        const InRun joined(files_.get());
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
  /// What was read and written, for later calls on what this one has made.
  [[nodiscard]] const std::shared_ptr<RunFiles>& files() const { return files_; }

 private:
  void tell(const Progress& progress);
  void tell_caller(const Progress& progress);
  void raise_failure_of_progress();
  void raise_signal();

  py::object progress_;
  std::shared_ptr<RunFiles> files_;
  std::optional<py::error_already_set> failure_;
  Listening listening_;
};

/// The file that an array or what it is a view of maps (numpy.memmap) is an input like any other.
void note_mapped_file(const pybind11::array& array, RunFiles& files);

}  // namespace sonde::python
