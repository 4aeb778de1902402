// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <string>

#include "sonde/app/serve/server.h"
#include "sonde/engine/panel/page.h"

namespace sonde::python {

namespace py = pybind11;

/// A page that browsers see from now on, served by threads of its own.
class Viewer {
 public:
  /// `held` is what the page shows of Python's; it is let go, with the GIL, when the viewer has stopped.
  Viewer(panel::Page page, const serve::ServeOptions& options, std::shared_ptr<void> held);
  Viewer(const Viewer&) = delete;
  Viewer& operator=(const Viewer&) = delete;
  ~Viewer() { stop(); }

  /// A new one each time, good for one page: what a notebook prints is kept in its file.
  [[nodiscard]] std::string url() const;
  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] bool stopped() const { return server_ == nullptr; }
  [[nodiscard]] py::object stats() const;
  void stop();

 private:
  std::shared_ptr<void> held_;
  std::unique_ptr<serve::Server> server_;
  int port_ = 0;
};

void add_viewer(py::module_& module);

}  // namespace sonde::python
