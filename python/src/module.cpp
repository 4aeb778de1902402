// SPDX-License-Identifier: Apache-2.0
// The compiled half of `import sonde`. Names, documentation and defaults for people are in python/sonde/*.py.
#include <pybind11/stl.h>

#include <string>

#include "apart.h"
#include "bindings.h"
#include "convert.h"
#include "errors.h"
#include "sonde/app/serve/options.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/base/log.h"
#include "sonde/engine/base/version.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/memory/budget.h"
#include "sonde/engine/memory/host_memory.h"
#include "verbs.h"
#include "viewer.h"

namespace sonde::python {
namespace {

py::list fields_of(const std::string& call) {
  if (call == "view") {
    serve::ServeOptions options;
    return describe_fields(Fields(options));
  }
  for (const Bindings* each : bindings())
    if (auto fields = each->fields(call)) return *std::move(fields);
  throw Error(ErrorKind::internal, "no options of " + call);
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

}  // namespace
}  // namespace sonde::python

PYBIND11_MODULE(_sonde, module) {
  using namespace sonde::python;
  add_errors(module);
  add_verbs(module);
  add_viewer(module);
  module.def("fields_of", fields_of);
  module.def("process_memory", process_memory);
  module.def("devices", devices);
  module.def("build_info", build);
  module.def("log_to", log_to);
  module.def("thread_count", sonde::thread_count);
  module.def("set_thread_count", sonde::set_thread_count);
  run_apart(module, {"run_verb"});
  for (const Bindings* each : bindings()) each->add(module);
}
