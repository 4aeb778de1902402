// SPDX-License-Identifier: Apache-2.0
#include "apart.h"

#include <semaphore.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <semaphore>
#include <thread>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"

namespace sonde::python {
namespace {

namespace py = pybind11;

/// A semaphore that a signal handler may post.
class Bell {
 public:
  Bell() { sem_init(&semaphore_, 0, 0); }
  Bell(const Bell&) = delete;
  Bell& operator=(const Bell&) = delete;
  ~Bell() { sem_destroy(&semaphore_); }
  void ring() { sem_post(&semaphore_); }
  void wait() {
    while (sem_wait(&semaphore_) != 0 && errno == EINTR) {
    }
  }

 private:
  sem_t semaphore_{};
};

/// A call on its way from one thread to another. Objects of Python, done and abandoned change only under the GIL.
struct Call {
  py::object function, arguments, keywords, result;
  std::exception_ptr error;
  bool done = false;
  Cancel cancel;
  Bell bell;  // for the caller: the call is done, has an errand, or was interrupted again

  std::mutex mutex;  // of these two
  const std::function<void()>* errand = nullptr;
  bool abandoned = false;
  std::exception_ptr errand_error;
  std::binary_semaphore errand_done{0};
};

thread_local Call* call_of_thread = nullptr;  // which this thread runs

// What Python itself does on Ctrl-C. Its handler only notes the signal, and nobody looks at the note while work runs.
struct sigaction pythons {};
constexpr std::int64_t never = -1;
constexpr std::int64_t one_request_ns = 100'000'000;  // as listen_for_interrupts()
std::atomic<std::int64_t> first_signal_ns{never};
std::atomic<bool> interrupted_again{false};
std::atomic<Call*> waited_for{nullptr};

void on_signal(int signal) {
  request_interrupt(signal);
  pythons.sa_handler(signal);
  const std::int64_t now = std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
  std::int64_t first = never;
  if (first_signal_ns.compare_exchange_strong(first, now) || now - first < one_request_ns) return;
  interrupted_again = true;
  if (Call* call = waited_for.load()) call->bell.ring();
}

/// Python's signal handlers run in its main thread; only there a Ctrl-C belongs to the call.
bool in_main_thread() {
  static const py::object* main_thread =
      new py::object(py::module_::import("threading").attr("main_thread")().attr("ident"));
  return py::cast<unsigned long>(*main_thread) == PyThread_get_thread_ident();
}

bool start_listening() {
  if (!in_main_thread()) return false;
  struct sigaction now {};
  sigaction(SIGINT, nullptr, &now);
  if ((now.sa_flags & SA_SIGINFO) != 0 || now.sa_handler == SIG_IGN || now.sa_handler == SIG_DFL ||
      now.sa_handler == on_signal)
    return false;
  pythons = now;
  first_signal_ns = never;
  interrupted_again = false;
  struct sigaction ours = now;
  ours.sa_handler = on_signal;
  ours.sa_flags |= SA_RESTART;
  return sigaction(SIGINT, &ours, nullptr) == 0;
}

std::atomic<int> calls_left_alone{0};

/// A call that nobody waits for must not find the libraries taken down around it at the end of the process.
void leave_at_once_where_calls_run() {
  static const int registered = on_exit(
      [](int status, void*) {
        if (calls_left_alone > 0) _exit(status);
      },
      nullptr);
  static_cast<void>(registered);
}

/// A thread that runs one call after another, and goes when its call was abandoned.
class Helper {
 public:
  Helper() {
    std::thread([this] { work(); }).detach();
  }
  void start(std::shared_ptr<Call> call) {
    next_ = std::move(call);
    bell_.ring();
  }
  [[nodiscard]] bool of_this_process() const { return process_ == getpid(); }

 private:
  void work() {
    for (;;) {
      bell_.wait();
      const std::shared_ptr<Call> call = std::move(next_);
      if (run(*call)) break;
      call->bell.ring();
    }
    --calls_left_alone;
    delete this;
  }

  /// Whether it was abandoned.
  static bool run(Call& call) {
    while (_Py_IsFinalizing()) pause();  // the interpreter would end this thread in the middle of C++
    const py::gil_scoped_acquire locked;
    {
      const CancelScope scope(&call.cancel);
      call_of_thread = &call;
      try {
        call.result = call.function(*py::reinterpret_borrow<py::tuple>(call.arguments),
                                    **py::reinterpret_borrow<py::dict>(call.keywords));
      } catch (...) {
        call.error = std::current_exception();
      }
      call_of_thread = nullptr;
    }
    call.done = true;
    if (!call.abandoned) return false;
    call.function = call.arguments = call.keywords = call.result = py::object();
    call.error = nullptr;
    return true;
  }

  const pid_t process_ = getpid();
  Bell bell_;
  std::shared_ptr<Call> next_;
};

/// The helper that waits for a call, when there is one. Under the GIL. Those of a parent process are not there.
Helper*& idle_helper() {
  static Helper* helper = nullptr;
  return helper;
}

void run_errand(Call& call) {
  const std::function<void()>* errand = nullptr;
  {
    const std::lock_guard lock(call.mutex);
    errand = std::exchange(call.errand, nullptr);
  }
  if (errand == nullptr) return;
  try {
    (*errand)();
  } catch (...) {
    call.errand_error = std::current_exception();
  }
  call.errand_done.release();
}

/// From here on nobody waits for the call.
void abandon(Call& call) {
  call.cancel.request();
  ++calls_left_alone;
  leave_at_once_where_calls_run();
  const std::lock_guard lock(call.mutex);
  call.abandoned = true;
  if (std::exchange(call.errand, nullptr) != nullptr) call.errand_done.release();
}

py::object call_apart(const py::object& function, const py::args& arguments, const py::kwargs& keywords) {
  const Listening listening;
  if (!listening.active()) return function(*arguments, **keywords);
  const auto call = std::make_shared<Call>();
  call->function = function;
  call->arguments = arguments;
  call->keywords = keywords;
  Helper* helper = std::exchange(idle_helper(), nullptr);
  if (helper == nullptr || !helper->of_this_process()) helper = new Helper;
  waited_for = call.get();
  helper->start(call);
  for (;;) {
    {
      const py::gil_scoped_release unlocked;
      call->bell.wait();
    }
    run_errand(*call);
    if (call->done || interrupted_again) break;
  }
  waited_for = nullptr;
  if (!call->done) {
    abandon(*call);
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    throw Error(ErrorKind::interrupted, "interrupted twice: the call was left, and ends when it next looks");
  }
  idle_helper() = helper;
  py::object result = std::move(call->result);
  const std::exception_ptr error = std::exchange(call->error, nullptr);
  call->function = call->arguments = call->keywords = py::object();
  if (!error) return result;
  if (first_signal_ns != never && PyErr_CheckSignals() != 0) throw py::error_already_set();
  std::rethrow_exception(error);
}

}  // namespace

Listening::Listening() : active_(start_listening()) {}

Listening::~Listening() {
  if (!active_) return;
  sigaction(SIGINT, &pythons, nullptr);
  clear_interrupt();
}

void run_for_caller(const std::function<void()>& errand) {
  Call* const call = call_of_thread;
  if (call == nullptr) {
    const py::gil_scoped_acquire locked;
    return errand();
  }
  {
    const std::lock_guard lock(call->mutex);
    if (call->abandoned) throw Error(ErrorKind::interrupted, "interrupted: no caller waits for the call any more");
    call->errand_error = nullptr;
    call->errand = &errand;
  }
  call->bell.ring();
  call->errand_done.acquire();
  if (call->errand_error) std::rethrow_exception(std::exchange(call->errand_error, nullptr));
}

void run_apart(const py::object& holder, std::initializer_list<const char*> names, bool (*when)(const py::args&)) {
  const bool is_class = PyType_Check(holder.ptr()) != 0;
  for (const char* name : names) {
    const py::object function = holder.attr(name);
    const auto apart = [function, when](const py::args& arguments, const py::kwargs& keywords) -> py::object {
      if (when != nullptr && !when(arguments)) return function(*arguments, **keywords);
      return call_apart(function, arguments, keywords);
    };
    holder.attr(name) = is_class ? py::cpp_function(apart, py::name(name), py::is_method(holder))
                                 : py::cpp_function(apart, py::name(name), py::scope(holder));
  }
}

}  // namespace sonde::python
