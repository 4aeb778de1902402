// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <functional>
#include <initializer_list>

namespace sonde::python {

/// Has these functions of a module, or methods of a class, run on a thread of their own when Python's main thread calls
/// them, which waits meanwhile. So a second Ctrl-C ends a call that does not look for the first: KeyboardInterrupt is
/// raised at once, the thread is asked to stop, and what it uses lives until it does. Costs some 10 microseconds a
/// call: `when` says for which arguments that is worth it.
void run_apart(const pybind11::object& holder, std::initializer_list<const char*> names,
               bool (*when)(const pybind11::args&) = nullptr);

/// On such a thread: has the thread that waits run `errand` with the GIL, and waits for it, so that functions of the
/// caller run where the caller runs. Elsewhere runs it at once. Throws Error(interrupted) when nobody waits any more.
void run_for_caller(const std::function<void()>& errand);

/// While it lives, and `active`, Ctrl-C asks the engine to stop too, and not only Python. Needs the GIL.
class Listening {
 public:
  /// Active in Python's main thread, unless Ctrl-C is ignored or handled by the system, or one lives already.
  Listening();
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;
  ~Listening();
  [[nodiscard]] bool active() const { return active_; }

 private:
  bool active_;
};

}  // namespace sonde::python
