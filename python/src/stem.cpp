// SPDX-License-Identifier: Apache-2.0
// What of 4D-STEM is offered to Python by hand; python/sonde/stem.py gives it its names and documentation.
#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apart.h"
#include "bindings.h"
#include "convert.h"
#include "imager.h"
#include "scan.h"
#include "series.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/memory/budget.h"
#include "sonde/engine/options/compute_options.h"
#include "sonde/instruments/stem/correct/centre.h"
#include "sonde/instruments/stem/load/in_place.h"
#include "sonde/instruments/stem/results/describe.h"
#include "sonde/instruments/stem/results/detector_images.h"
#include "sonde/instruments/stem/simulate/simulate.h"
#include "view.h"
#include "work.h"

namespace sonde::python {
namespace {

struct LoadCall {
  ComputeOptions compute{.device = "cpu", .memory = {}};  // NumPy reads host memory; a GPU is asked for
  stem::LoadOptions load;
  void describe(Fields& fields) {
    load.describe(fields);
    compute.describe(fields);
  }
  [[nodiscard]] Device device() const { return Device::parse(compute.device).value; }
  [[nodiscard]] Budget budget() const { return Budget::automatic(device(), compute.memory_bytes()); }
};

struct SeriesCall : LoadCall {
  stem::SeriesOptions series;
  void describe(Fields& fields) {
    series.describe(fields);
    LoadCall::describe(fields);
  }
};

/// The options of a call, without the ones that Python passes by position.
template <class Options>
py::list described() {
  Options options;
  return describe_fields(Fields(options));
}

std::optional<py::list> fields(const std::string& call) {
  if (call == "load") return described<LoadCall>();
  if (call == "load_folder") return described<SeriesCall>();
  if (call == "image") return described<stem::DetectorOptions>();
  if (call == "save_image") return save_image_fields();
  if (call == "simulate") return described<stem::SimulateOptions>();
  return std::nullopt;
}

std::shared_ptr<Scan> load(const std::string& path, const py::dict& keywords, const py::object& progress) {
  const auto call = options_of<LoadCall>(keywords, "load()");
  Work work(progress);
  auto scan =
      std::make_shared<Scan>(work.run([&] { return stem::load(path, call.load, call.budget(), call.device()); }));
  scan->read_by(work);
  return scan;
}

/// `in_place`: the array's own elements are the data set's, else a load makes new ones from them.
std::shared_ptr<Scan> from_array(const py::array& array, bool in_place, const py::dict& keywords,
                                 const py::object& progress) {
  const std::string name = "array";
  const auto call = options_of<LoadCall>(keywords, "from_array()");
  if (in_place && !call.device().is_cpu())
    throw Error(ErrorKind::bad_input, "array: an array that is used in place stays in host memory")
        .hint("leave device out, or give copy=True");
  Array scan = borrow(array, name);
  Work work(progress);
  note_mapped_file(array, *work.files());
  auto made = std::make_shared<Scan>(work.run([&] {
    if (in_place) return stem::load_in_place(std::move(scan), name, call.load, call.budget());
    return stem::load(stem::open_array(std::move(scan), name, call.load), call.load, call.budget(), call.device());
  }));
  made->read_by(work);
  return made;
}

py::object load_folder(const std::vector<std::string>& paths, const py::dict& keywords) {
  const auto call = options_of<SeriesCall>(keywords, "load_folder()");
  Work work;
  return open_series(
      work.run([&] { return stem::Series::open(paths, call.series, call.load, call.budget(), call.device()); }),
      work.files());
}

py::object info(const std::string& path, const py::dict& keywords) {
  const auto call = options_of<LoadCall>(keywords, "info()");
  const stem::LoadPreview preview = Work().run([&] { return stem::preview_load(path, call.load, call.budget()); });
  Value value = stem::preview_value(preview);
  value["metadata"] = stem::metadata_value(preview.acquisition);
  return to_python(value);
}

py::object validate(const std::vector<std::string>& paths, bool decode, const py::dict& keywords,
                    const py::object& progress) {
  const auto call = options_of<SeriesCall>(keywords, "validate()");
  return to_python(Work(progress).run([&] {
    Problems problems;
    Value scans = Value::list();
    for (const std::string& path : stem::find_scans(paths, call.series))
      scans.push_back(stem::validate(path, call.load, decode, call.budget(), call.device(), problems));
    problems.throw_if_any(std::to_string(problems.errors().size()) + " problems found");
    return scans;
  }));
}

py::object simulate(const std::string& path, const py::dict& keywords, const py::object& progress) {
  auto options = options_of<stem::SimulateOptions>(keywords, "simulate()");
  options.output = path;
  const stem::Simulated made = Work(progress).run([&] { return stem::simulate(options); });
  Value value;
  value["files"] = made.files;
  value["frames"] = made.frames;
  value["counts_per_frame"] = made.counts_per_frame;
  value["compression"] = made.ratio;
  return to_python(value);
}

/// (row, col, radius, residual_rms, confidence, method, notes) of a pattern of f64; `good` may be empty.
py::tuple find_centre(const py::array_t<double, py::array::c_style>& pattern,
                      const py::array_t<std::uint8_t, py::array::c_style>& good, const std::string& method) {
  const stem::CentreMethod chosen = stem::parse_centre_method(method);
  if (pattern.ndim() != 2)
    throw Error(ErrorKind::bad_input,
                "a pattern has two dimensions, not " + std::to_string(static_cast<long>(pattern.ndim())));
  const View<const double, 2> view(pattern.data(), pattern.shape(0), pattern.shape(1));
  const std::span<const std::uint8_t> usable(good.data(), static_cast<std::size_t>(good.size()));
  const stem::Centre found = Work().run([&] { return stem::find_centre(view, usable, chosen); });
  return py::make_tuple(found.row, found.col, found.radius, found.residual_rms, found.confidence,
                        std::string(name(found.method)), found.notes);
}

/// Images of scans in memory take microseconds, and look for Ctrl-C.
bool reads_a_file(const py::args& arguments) {
  const auto& scan = arguments[0].cast<const Scan&>();
  return !scan.released() && scan.dataset().layout() == stem::LayoutChoice::file;
}

void add(py::module_& module) {
  add_dataset(module);
  add_series(module);
  add_imager(module);
  add_view(module);
  module.def("load", load);
  module.def("from_array", from_array);
  module.def("load_folder", load_folder);
  module.def("info", info);
  module.def("validate", validate);
  module.def("simulate", simulate);
  module.def("find_centre", find_centre);
  run_apart(module, {"load", "from_array", "load_folder", "info", "validate", "simulate"});
  run_apart(module.attr("Dataset"), {"save_image", "convert", "map", "map_with_c"});
  run_apart(module.attr("Dataset"), {"images", "image_of_weights"}, reads_a_file);
  run_apart(module.attr("Series"), {"item"});
}

}  // namespace

extern const Bindings stem_bindings;
const Bindings stem_bindings{.add = add, .fields = fields};

}  // namespace sonde::python
