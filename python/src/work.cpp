// SPDX-License-Identifier: Apache-2.0
#include "work.h"

#include <algorithm>
#include <utility>

namespace sonde::python {
Work::Work(py::object progress, std::shared_ptr<RunFiles> files)
    : files_(files ? std::move(files) : std::make_shared<RunFiles>()) {
  if (!progress.is_none()) progress_ = std::move(progress);
}

void Work::tell(const Progress& progress) {
  run_for_caller([&] { tell_caller(progress); });
}

void Work::tell_caller(const Progress& progress) {
  if (failure_) throw Error(ErrorKind::interrupted, "the progress function failed");
  const double fraction = progress.total > 0
                              ? std::min(1.0, static_cast<double>(progress.done) / static_cast<double>(progress.total))
                              : 0.0;
  py::dict detail;
  detail["done"] = progress.done;
  detail["total"] = progress.total;
  detail["unit"] = progress.unit;
  detail["rate"] = progress.rate;
  detail["elapsed_s"] = progress.elapsed_s;
  detail["finished"] = progress.finished;
  try {
    progress_(progress.stage, fraction, detail);
  } catch (py::error_already_set& error) {
    failure_.emplace(error);
    throw Error(ErrorKind::interrupted, "the progress function failed");
  }
}

void Work::raise_failure_of_progress() {
  if (failure_) throw *std::exchange(failure_, std::nullopt);
}

void Work::raise_signal() {
  if (listening_.active() && PyErr_CheckSignals() != 0) throw py::error_already_set();
}

void note_mapped_file(const py::array& array, RunFiles& files) {
  for (py::object from = array; !from.is_none(); from = py::getattr(from, "base", py::none()))
    if (const py::object file = py::getattr(from, "filename", py::none()); !file.is_none())
      files.add_input(py::str(file).cast<std::string>());
}

}  // namespace sonde::python
