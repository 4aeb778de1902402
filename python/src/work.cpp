// SPDX-License-Identifier: Apache-2.0
#include "work.h"

#include <algorithm>
#include <utility>

#include "sonde/engine/base/interrupt.h"

namespace sonde::python {
namespace {

// What Python itself does on Ctrl-C. Its handler only notes the signal, and nobody looks at the note while work runs.
struct sigaction pythons {};

void on_signal(int signal) {
  request_interrupt(signal);
  pythons.sa_handler(signal);
}

/// Python's signal handlers run in its main thread; only there a Ctrl-C belongs to the call.
bool in_main_thread() {
  static const py::object* main_thread =
      new py::object(py::module_::import("threading").attr("main_thread")().attr("ident"));
  return py::cast<unsigned long>(*main_thread) == PyThread_get_thread_ident();
}

/// False when Ctrl-C is ignored, or handled by the system: it then stays as it is.
bool start_listening() {
  if (!in_main_thread()) return false;
  struct sigaction now {};
  sigaction(SIGINT, nullptr, &now);
  if ((now.sa_flags & SA_SIGINFO) != 0 || now.sa_handler == SIG_IGN || now.sa_handler == SIG_DFL ||
      now.sa_handler == on_signal)
    return false;
  pythons = now;
  struct sigaction ours = now;
  ours.sa_handler = on_signal;
  ours.sa_flags |= SA_RESTART;
  return sigaction(SIGINT, &ours, nullptr) == 0;
}

}  // namespace

Work::Work(py::object progress) : listens_(start_listening()) {
  if (!progress.is_none()) progress_ = std::move(progress);
}

Work::~Work() {
  if (!listens_) return;
  sigaction(SIGINT, &pythons, nullptr);
  clear_interrupt();
}

void Work::tell(const Progress& progress) {
  const py::gil_scoped_acquire locked;
  if (failure_) throw Error(ErrorKind::interrupted, "the progress function failed");
  const double fraction = progress.total > 0
                              ? std::min(1.0, static_cast<double>(progress.done) / static_cast<double>(progress.total))
                              : 0.0;
  py::dict detail;
  detail["done"] = progress.done;
  detail["total"] = progress.total;
  detail["unit"] = progress.unit;
  detail["rate"] = progress.rate;
  detail["elapsed_s"] = progress.elapsed_s;
  detail["finished"] = progress.finished;
  try {
    progress_(progress.stage, fraction, detail);
  } catch (py::error_already_set& error) {
    failure_.emplace(error);
    throw Error(ErrorKind::interrupted, "the progress function failed");
  }
}

void Work::raise_failure_of_progress() {
  if (failure_) throw *std::exchange(failure_, std::nullopt);
}

void Work::raise_signal() {
  if (listens_ && PyErr_CheckSignals() != 0) throw py::error_already_set();
}

}  // namespace sonde::python
