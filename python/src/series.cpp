// SPDX-License-Identifier: Apache-2.0
// A Series for Python: its items are Datasets that belong to it.
#include "series.h"

#include <fmt/format.h>

#include <utility>

#include "scan.h"
#include "sonde/engine/base/error.h"
#include "sonde/instruments/stem/load/series.h"
#include "sonde/instruments/stem/results/series_centre.h"
#include "work.h"

namespace sonde::python {
namespace {

class ScanSeries {
 public:
  ScanSeries(stem::Series series, std::shared_ptr<RunFiles> files)
      : series_(std::make_shared<stem::Series>(std::move(series))),
        files_(std::move(files)),
        scans_(static_cast<std::size_t>(series_->size())) {}
  ScanSeries(const ScanSeries&) = delete;
  ScanSeries& operator=(const ScanSeries&) = delete;
  ~ScanSeries() {
    const py::gil_scoped_release unlocked;  // a load in the background may want to say something
    series_.reset();
  }

  [[nodiscard]] stem::Series& series() const {
    if (!series_) throw Error(ErrorKind::bad_input, "the series was released").hint("load it again");
    return *series_;
  }

  std::shared_ptr<Scan> item(Index i, const py::object& progress) {
    stem::Series& series = this->series();
    if (i < 0) i += series.size();
    if (i < 0 || i >= series.size()) throw py::index_error(fmt::format("item {} of a series of {}", i, series.size()));
    auto& known = scans_[static_cast<std::size_t>(i)];
    if (auto scan = known.lock(); scan && !scan->released()) return scan;
    ++calls_;
    std::shared_ptr<const stem::Dataset> dataset;
    try {
      dataset = Work(progress, files_).run([&] { return series.item(i); });
    } catch (...) {
      --calls_;
      throw;
    }
    --calls_;
    auto scan = known.lock();  // another thread may have asked for the same item meanwhile
    if (!scan || scan->released()) {
      known = scan = std::make_shared<Scan>(std::move(dataset));
      scan->read_by(files_);
    }
    return scan;
  }

  /// {"row", ..., "shifts"} of all scans, which are loaded for it.
  py::object find_centre(const std::string& method, const py::object& progress) {
    const std::shared_ptr<stem::Series> held = series_;
    stem::Series& series = this->series();
    const stem::CentreMethod chosen = stem::parse_centre_method(method);
    ++calls_;
    try {
      const Value found =
          Work(progress).run([&] { return stem::find_series_centre(series, chosen, /*disk=*/false).to_value(); });
      --calls_;
      return to_python(found);
    } catch (...) {
      --calls_;
      throw;
    }
  }

  void release() {
    if (!series_) return;
    Scan::Users all{.calls = calls_, .viewers = viewers_};
    for (const auto& known : scans_)
      if (const auto scan = known.lock()) {
        const Scan::Users users = scan->users();
        all = {all.arrays + users.arrays, all.calls + users.calls, all.viewers + users.viewers,
               all.imagers + users.imagers};
      }
    if (all.any())
      throw Error(ErrorKind::bad_input, fmt::format("the series cannot be released: it is in use by {}", all.text()))
          .hint(how_to_let_go);
    for (const auto& known : scans_)
      if (const auto scan = known.lock()) scan->let_go();
    const auto last = std::exchange(series_, nullptr);
    const py::gil_scoped_release unlocked;
    last->release();
  }

  [[nodiscard]] bool released() const { return series_ == nullptr; }

  std::shared_ptr<stem::Series> begin_view() {
    (void)series();
    ++viewers_;
    return series_;
  }
  void end_view() { --viewers_; }

 private:
  std::shared_ptr<stem::Series> series_;
  std::shared_ptr<RunFiles> files_;  // of all items: no result of one replaces another
  std::vector<std::weak_ptr<Scan>> scans_;
  int calls_ = 0, viewers_ = 0;  // loads that run, viewers; changed under the GIL
};

py::list items_of(const ScanSeries& all) {
  py::list items;
  for (const stem::SeriesItem& item : all.series().items()) {
    const Shape& s = item.shape;
    items.append(py::make_tuple(item.path, item.label, py::make_tuple(s[0], s[1], s[2], s[3])));
  }
  return items;
}

py::list skipped_of(const ScanSeries& all) {
  py::list skipped;
  for (const stem::SkippedScan& scan : all.series().skipped()) skipped.append(py::make_tuple(scan.path, scan.reason));
  return skipped;
}

}  // namespace

ViewedSeries::ViewedSeries(py::object series)
    : object_(std::move(series)), series_(object_.cast<ScanSeries&>().begin_view()) {}

ViewedSeries::~ViewedSeries() { object_.cast<ScanSeries&>().end_view(); }

bool is_series(const py::handle& object) { return py::isinstance<ScanSeries>(object); }

py::object open_series(stem::Series series, std::shared_ptr<RunFiles> files) {
  return py::cast(std::make_unique<ScanSeries>(std::move(series), std::move(files)));
}

void add_series(py::module_& module) {
  py::class_<ScanSeries>(module, "Series")
      .def("__len__", [](const ScanSeries& all) { return all.series().size(); })
      .def("item", &ScanSeries::item)
      .def("find_centre", &ScanSeries::find_centre)
      .def("items", items_of)
      .def("skipped", skipped_of)
      .def("held", [](const ScanSeries& all, Index i) { return all.series().held(i); })
      .def("eager",
           [](const ScanSeries& all) { return py::make_tuple(all.series().eager(), all.series().eager_because()); })
      .def("prefetch",
           [](const ScanSeries& all, Index i) {
             const py::gil_scoped_release unlocked;
             all.series().prefetch(i);
           })
      .def_property_readonly("released", &ScanSeries::released)
      .def("release", &ScanSeries::release);
}

}  // namespace sonde::python
