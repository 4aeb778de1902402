// SPDX-License-Identifier: Apache-2.0
// The compiled half of `import sonde`. Names, documentation and defaults for people are in python/sonde/*.py.
#include <pybind11/stl.h>

#include <optional>
#include <string_view>
#include <utility>

#include "apart.h"
#include "convert.h"
#include "errors.h"
#include "imager.h"
#ifdef SONDE_WITH_NEOCLASSICAL
#include "neoclassical.h"
#endif
#ifdef SONDE_WITH_PTYCHO
#include "ptycho.h"
#endif
#include "scan.h"
#include "series.h"
#include "sonde/app/serve/options.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/base/log.h"
#include "sonde/engine/base/version.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/memory/budget.h"
#include "sonde/engine/memory/host_memory.h"
#include "sonde/engine/options/compute_options.h"
#include "sonde/instruments/stem/correct/centre.h"
#include "sonde/instruments/stem/load/in_place.h"
#include "sonde/instruments/stem/results/describe.h"
#include "sonde/instruments/stem/results/detector_images.h"
#include "sonde/instruments/stem/simulate/simulate.h"
#include "verbs.h"
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

/// What `fields_of` knows: the options of a call, without the ones that Python passes by position.
template <class Options>
py::list described() {
  Options options;
  return describe_fields(Fields(options));
}

py::list fields_of(const std::string& call) {
  if (call == "load") return described<LoadCall>();
  if (call == "load_folder") return described<SeriesCall>();
  if (call == "image") return described<stem::DetectorOptions>();
  if (call == "save_image") return save_image_fields();
  if (call == "view") return described<serve::ServeOptions>();
  if (call == "simulate") return described<stem::SimulateOptions>();
#ifdef SONDE_WITH_PTYCHO
  if (call == "ptycho_simulate") return ptycho_simulate_fields();
#endif
#ifdef SONDE_WITH_NEOCLASSICAL
  if (constexpr std::string_view of = "neoclassical_"; call.starts_with(of))
    return neoclassical_fields(call.substr(of.size()));
#endif
  throw Error(ErrorKind::internal, "no options of " + call);
}

std::shared_ptr<Scan> load(const std::string& path, const py::dict& keywords, const py::object& progress) {
  const auto call = options_of<LoadCall>(keywords, "load()");
  Work work(progress);
  auto scan =
      std::make_shared<Scan>(work.run([&] { return stem::load(path, call.load, call.budget(), call.device()); }));
  scan->read_by(work);
  return scan;
}

/// The file that an array or what it is a view of maps (numpy.memmap) is an input like any other.
void note_mapped_file(const py::array& array, RunFiles& files) {
  for (py::object from = array; !from.is_none(); from = py::getattr(from, "base", py::none()))
    if (const py::object file = py::getattr(from, "filename", py::none()); !file.is_none())
      files.add_input(py::str(file).cast<std::string>());
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
    return stem::load(stem::open_array(std::move(scan), name), call.load, call.budget(), call.device());
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

py::object process_memory() {
  const ResidentMemory now = resident_memory();
  const Budget budget = Budget::automatic(Device::cpu());
  Value value;
  value["process"]["resident"] = now.now;
  value["process"]["peak"] = now.peak;
  value["host"]["free"] = Device::cpu().memory_free();
  value["host"]["budget"] = budget.limit_bytes();
  value["host"]["budget_because"] = budget.because();
  return to_python(value);
}

py::object devices() {
  Value all = Value::list();
  for (const Device& device : Device::all()) {
    Value entry;
    entry["device"] = device.name();
    entry["name"] = device.info().name;
    entry["memory_bytes"] = device.info().memory_bytes;
    entry["compute_units"] = device.info().compute_units;
    all.push_back(std::move(entry));
  }
  return to_python(all);
}

py::object build() {
  const BuildInfo& info = build_info();
  Value value;
  value["version"] = info.version;
  value["revision"] = info.revision;
  value["compiler"] = info.compiler;
  value["build_type"] = info.build_type;
  value["cuda"] = info.cuda;
  value["licence"] = info.licence;
  return to_python(value);
}

/// log(level, message) receives what the engine has to say; it is called from any thread. None ends that.
void log_to(const py::object& log) {
  if (log.is_none()) return static_cast<void>(set_log_sink({}));
  set_log_sink([sink = log.ptr()](LogLevel level, const std::string& marked) {
    const std::string message = spelled(marked, Spelling::python);
    const py::gil_scoped_acquire locked;
    const char* word = level == LogLevel::warning ? "warning" : level == LogLevel::note ? "info" : "debug";
    try {
      py::reinterpret_borrow<py::object>(sink)(word, message);
    } catch (py::error_already_set& error) {
      error.discard_as_unraisable("sonde's log");
    }
  });
  log.inc_ref();  // as long as the process
}

/// Images of scans in memory take microseconds, and look for Ctrl-C.
bool reads_a_file(const py::args& arguments) {
  const auto& scan = arguments[0].cast<const Scan&>();
  return !scan.released() && scan.dataset().layout() == stem::LayoutChoice::file;
}

}  // namespace
}  // namespace sonde::python

PYBIND11_MODULE(_sonde, module) {
  using namespace sonde::python;
  add_errors(module);
  add_dataset(module);
  add_series(module);
  add_imager(module);
  add_viewer(module);
  add_verbs(module);
#ifdef SONDE_WITH_NEOCLASSICAL
  add_neoclassical_surface(module);
  add_neoclassical_plan(module);
  add_neoclassical_convert(module);
  add_neoclassical_database(module);
#endif
#ifdef SONDE_WITH_PTYCHO
  add_ptycho_run(module);
  add_ptycho_model(module);
#endif
  module.def("fields_of", fields_of);
  module.def("load", load);
  module.def("from_array", from_array);
  module.def("load_folder", load_folder);
  module.def("info", info);
  module.def("validate", validate);
  module.def("simulate", simulate);
  module.def("find_centre", find_centre);
  module.def("process_memory", process_memory);
  module.def("devices", devices);
  module.def("build_info", build);
  module.def("log_to", log_to);
  module.def("thread_count", sonde::thread_count);
  module.def("set_thread_count", sonde::set_thread_count);

  run_apart(module, {"load", "from_array", "load_folder", "info", "validate", "simulate", "run_verb"});
  run_apart(module.attr("Dataset"), {"save_image", "convert"});
  run_apart(module.attr("Dataset"), {"images", "image_of_weights"}, reads_a_file);
  run_apart(module.attr("Series"), {"item"});
#ifdef SONDE_WITH_NEOCLASSICAL
  run_apart(module, {"neoclassical_convergence", "neoclassical_convert", "neoclassical_load_database",
                     "neoclassical_build_database", "neoclassical_profiles", "neoclassical_boozer"});
  run_apart(module.attr("NeoclassicalPlan"), {"solve", "scan"});
  run_apart(module.attr("NeoclassicalDatabase"), {"save", "profiles"});
#endif
#ifdef SONDE_WITH_PTYCHO
  run_apart(module, {"ptycho_forward", "ptycho_gradient", "ptycho_simulate", "ptycho_simulate_file"});
  run_apart(module.attr("PtychoRun"), {"open", "prepare", "iterate", "iterate_many", "save", "write_result"});
#endif
}
