// SPDX-License-Identifier: Apache-2.0
// A data set or a series, shown to browsers by threads of their own.
#include "view.h"

#include <memory>
#include <optional>
#include <utility>

#include "convert.h"
#include "scan.h"
#include "series.h"
#include "sonde/app/serve/server.h"
#include "sonde/engine/memory/budget.h"
#include "sonde/instruments/stem/view/page.h"
#include "work.h"

namespace sonde::python {
namespace {

class Viewer {
 public:
  /// Serves a data set or a series from now on, and keeps it. What is computed of a data set stays within a budget of
  /// its own, what is loaded and computed of a series within the budget of that.
  Viewer(const py::object& shown, const serve::ServeOptions& options) {
    if (is_series(shown))
      series_.emplace(shown);
    else
      use_.emplace(shown.cast<std::shared_ptr<Scan>>(), Scan::Use::Kind::viewer);
    server_ = Work().run([&] {
      auto server =
          std::make_unique<serve::Server>(series_ ? stem::make_page(series_->series())
                                                  : stem::make_page(use_->dataset(), Budget::automatic(Device::cpu())),
                                          options);
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
    series_.reset();
  }

 private:
  std::optional<Scan::Use> use_;
  std::optional<ViewedSeries> series_;
  std::unique_ptr<serve::Server> server_;
  std::string url_;
  int port_ = 0;
};

std::unique_ptr<Viewer> view(const py::object& shown, const py::dict& keywords) {
  return std::make_unique<Viewer>(shown, options_of<serve::ServeOptions>(keywords, "view()"));
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
