// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <memory>

#include "sonde/engine/base/run_files.h"
#include "sonde/instruments/stem/load/series.h"

namespace sonde::python {

/// `files`: what opening it has read, to which its items add what they read.
[[nodiscard]] pybind11::object open_series(stem::Series series, std::shared_ptr<RunFiles> files);
[[nodiscard]] bool is_series(const pybind11::handle& object);

/// Keeps the series of a Python object and counts as a viewer of it while it lives. Needs the GIL, also to end. Throws
/// Error(bad_input) after release().
class ViewedSeries {
 public:
  explicit ViewedSeries(pybind11::object series);
  ViewedSeries(const ViewedSeries&) = delete;
  ViewedSeries& operator=(const ViewedSeries&) = delete;
  ~ViewedSeries();
  [[nodiscard]] const std::shared_ptr<stem::Series>& series() const { return series_; }

 private:
  pybind11::object object_;
  std::shared_ptr<stem::Series> series_;
};

void add_series(pybind11::module_& module);

}  // namespace sonde::python
