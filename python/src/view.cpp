// SPDX-License-Identifier: Apache-2.0
// Data sets and series, shown to browsers by threads of their own.
#include "view.h"

#include <list>
#include <memory>
#include <utility>
#include <vector>

#include "convert.h"
#include "scan.h"
#include "series.h"
#include "sonde/app/serve/server.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/memory/budget.h"
#include "sonde/instruments/stem/view/page.h"
#include "work.h"

namespace sonde::python {
namespace {

class Viewer {
 public:
  /// Serves data sets and series from now on, and keeps them. What is loaded of a series stays within its budget, what
  /// is computed within that of a series that is by itself, else within one of the viewer's own.
  Viewer(const py::list& shown, const serve::ServeOptions& options) {
    std::vector<std::shared_ptr<stem::Series>> all;
    for (const py::handle& each : shown) {
      const auto object = py::reinterpret_borrow<py::object>(each);
      if (is_series(object))
        all.push_back(series_.emplace_back(object).series());
      else
        all.push_back(std::make_shared<stem::Series>(stem::Series::of(
            uses_.emplace_back(object.cast<std::shared_ptr<Scan>>(), Scan::Use::Kind::viewer).dataset())));
    }
    server_ = Work().run([&] {
      const bool one_series = all.size() == 1 && !series_.empty();
      auto server = std::make_unique<serve::Server>(
          one_series ? stem::make_page(all.front()) : stem::make_page(std::move(all), Budget::automatic(Device::cpu())),
          options);
      server->start();
      return server;
    });
    port_ = server_->port();
  }
  Viewer(const Viewer&) = delete;
  Viewer& operator=(const Viewer&) = delete;
  ~Viewer() { stop(); }

  /// A new one each time, good for one page: what a notebook prints is kept in its file.
  [[nodiscard]] std::string url() const {
    if (!server_) throw Error(ErrorKind::usage, "the viewer was stopped").hint("sonde.view() starts another one");
    return server_->url_once();
  }
  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] bool stopped() const { return server_ == nullptr; }
  [[nodiscard]] py::object stats() const { return to_python(server_ ? server_->stats() : Value::object()); }

  void stop() {
    {
      auto server = std::exchange(server_, nullptr);
      const py::gil_scoped_release unlocked;  // its threads may want to say something
      server.reset();
    }
    uses_.clear();
    series_.clear();
  }

 private:
  std::list<Scan::Use> uses_;
  std::list<ViewedSeries> series_;
  std::unique_ptr<serve::Server> server_;
  int port_ = 0;
};

std::unique_ptr<Viewer> view(const py::list& shown, const py::dict& keywords) {
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
