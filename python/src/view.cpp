// SPDX-License-Identifier: Apache-2.0
// A data set in memory, shown to browsers by threads of their own.
#include "view.h"

#include <memory>
#include <optional>
#include <utility>

#include "convert.h"
#include "scan.h"
#include "sonde/app/serve/server.h"
#include "sonde/engine/memory/budget.h"
#include "sonde/instruments/stem/view/page.h"
#include "work.h"

namespace sonde::python {
namespace {

class Viewer {
 public:
  /// Serves from now on. The viewer keeps the data set, and what it computes stays within a budget of its own.
  Viewer(Scan& scan, const serve::ServeOptions& options) {
    use_.emplace(scan.shared_from_this(), Scan::Use::Kind::viewer);
    server_ = Work().run([&] {
      auto server =
          std::make_unique<serve::Server>(stem::make_page(use_->dataset(), Budget::automatic(Device::cpu())), options);
      server->start();
      return server;
    });
    url_ = server_->url();
    port_ = server_->port();
  }
  Viewer(const Viewer&) = delete;
  Viewer& operator=(const Viewer&) = delete;
  ~Viewer() { stop(); }

  [[nodiscard]] const std::string& url() const { return url_; }
  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] bool stopped() const { return server_ == nullptr; }
  [[nodiscard]] py::object stats() const { return to_python(server_ ? server_->stats() : Value::object()); }

  void stop() {
    {
      auto server = std::exchange(server_, nullptr);
      const py::gil_scoped_release unlocked;  // its threads may want to say something
      server.reset();
    }
    use_.reset();
  }

 private:
  std::optional<Scan::Use> use_;
  std::unique_ptr<serve::Server> server_;
  std::string url_;
  int port_ = 0;
};

std::unique_ptr<Viewer> view(Scan& scan, const py::dict& keywords) {
  return std::make_unique<Viewer>(scan, options_of<serve::ServeOptions>(keywords, "view()"));
}

}  // namespace

void add_viewer(py::module_& module) {
  py::class_<Viewer>(module, "Viewer")
      .def_property_readonly("url", &Viewer::url)
      .def_property_readonly("port", &Viewer::port)
      .def_property_readonly("stopped", &Viewer::stopped)
      .def("stats", &Viewer::stats)
      .def("stop", &Viewer::stop);
  module.def("view", view);
}

}  // namespace sonde::python
