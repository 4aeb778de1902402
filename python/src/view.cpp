// SPDX-License-Identifier: Apache-2.0
// Data sets and series, shown to browsers.
#include "view.h"

#include <list>
#include <memory>
#include <utility>
#include <vector>

#include "convert.h"
#include "scan.h"
#include "series.h"
#include "sonde/engine/memory/budget.h"
#include "sonde/instruments/stem/view/page.h"
#include "viewer.h"
#include "work.h"

namespace sonde::python {
namespace {

/// What a viewer keeps while it shows it.
struct Shown {
  std::list<Scan::Use> uses;
  std::list<ViewedSeries> series;
};

/// Serves data sets and series from now on, and keeps them. What is loaded of a series stays within its budget, what is
/// computed within that of a series that is by itself, else within one of the viewer's own.
std::unique_ptr<Viewer> view(const py::list& objects, const py::dict& keywords) {
  const auto options = options_of<serve::ServeOptions>(keywords, "view()");
  const auto held = std::make_shared<Shown>();
  std::vector<std::shared_ptr<stem::Series>> all;
  for (const py::handle& each : objects) {
    const auto object = py::reinterpret_borrow<py::object>(each);
    if (is_series(object))
      all.push_back(held->series.emplace_back(object).series());
    else
      all.push_back(std::make_shared<stem::Series>(stem::Series::of(
          held->uses.emplace_back(object.cast<std::shared_ptr<Scan>>(), Scan::Use::Kind::viewer).dataset())));
  }
  panel::Page page = Work().run([&] {
    const bool one_series = all.size() == 1 && !held->series.empty();
    return one_series ? stem::make_page(all.front())
                      : stem::make_page(std::move(all), Budget::automatic(Device::cpu()));
  });
  return std::make_unique<Viewer>(std::move(page), options, held);
}

}  // namespace

void add_view(py::module_& module) { module.def("view", view); }

}  // namespace sonde::python
