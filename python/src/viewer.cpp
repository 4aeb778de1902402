// SPDX-License-Identifier: Apache-2.0
#include "viewer.h"

#include <utility>

#include "convert.h"
#include "sonde/engine/base/error.h"

namespace sonde::python {

Viewer::Viewer(panel::Page page, const serve::ServeOptions& options, std::shared_ptr<void> held)
    : held_(std::move(held)) {
  const py::gil_scoped_release unlocked;  // its threads may want to say something, also when it cannot start
  auto server = std::make_unique<serve::Server>(std::move(page), options);
  server->start();
  port_ = server->port();
  server_ = std::move(server);
}

std::string Viewer::url() const {
  if (!server_) throw Error(ErrorKind::usage, "the viewer was stopped").hint("sonde.view() starts another one");
  return server_->url_once();
}

py::object Viewer::stats() const { return to_python(server_ ? server_->stats() : Value::object()); }

void Viewer::stop() {
  {
    auto server = std::exchange(server_, nullptr);
    const py::gil_scoped_release unlocked;  // its threads may want to say something
    server.reset();
  }
  held_.reset();
}

void add_viewer(py::module_& module) {
  py::class_<Viewer>(module, "Viewer")
      .def_property_readonly("url", &Viewer::url)
      .def_property_readonly("port", &Viewer::port)
      .def_property_readonly("stopped", &Viewer::stopped)
      .def("stats", &Viewer::stats)
      .def("stop", &Viewer::stop);
}

}  // namespace sonde::python
