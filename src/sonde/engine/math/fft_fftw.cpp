// SPDX-License-Identifier: Apache-2.0
#include <fftw3.h>
#include <fmt/format.h>

#include <cstdlib>
#include <mutex>

#include "sonde/engine/base/error.h"
#include "sonde/engine/device/pool.h"
#include "sonde/engine/math/fft_plans.h"

namespace sonde {
namespace {

/// FFTW's planner keeps state of its own; executing plans does not.
std::mutex& planner() {
  static std::mutex mutex;
  return mutex;
}

/// The two libraries behind one set of names.
template <class Real>
struct Fftw;
template <>
struct Fftw<double> {
  using Plan = fftw_plan;
  static fftw_complex* raw(std::complex<double>* data) { return reinterpret_cast<fftw_complex*>(data); }
  static Plan plan(int rows, int cols, std::complex<double>* data, int sign, unsigned flags) {
    return fftw_plan_dft_2d(rows, cols, raw(data), raw(data), sign, flags);
  }
  static void run(Plan plan, std::complex<double>* data) { fftw_execute_dft(plan, raw(data), raw(data)); }
  static void destroy(Plan plan) { fftw_destroy_plan(plan); }
  static char* wisdom() { return fftw_export_wisdom_to_string(); }
  static bool import_wisdom(const char* text) { return fftw_import_wisdom_from_string(text) != 0; }
};
template <>
struct Fftw<float> {
  using Plan = fftwf_plan;
  static fftwf_complex* raw(std::complex<float>* data) { return reinterpret_cast<fftwf_complex*>(data); }
  static Plan plan(int rows, int cols, std::complex<float>* data, int sign, unsigned flags) {
    return fftwf_plan_dft_2d(rows, cols, raw(data), raw(data), sign, flags);
  }
  static void run(Plan plan, std::complex<float>* data) { fftwf_execute_dft(plan, raw(data), raw(data)); }
  static void destroy(Plan plan) { fftwf_destroy_plan(plan); }
  static char* wisdom() { return fftwf_export_wisdom_to_string(); }
  static bool import_wisdom(const char* text) { return fftwf_import_wisdom_from_string(text) != 0; }
};

/// Where planning measures: on a 64-byte boundary, like the data of those who care for speed.
template <class Real>
class Scratch {
 public:
  explicit Scratch(Index count) : bytes_(static_cast<std::size_t>(count) * sizeof(std::complex<Real>)) {
    data_ = Pool::of(Device::cpu()).allocate(bytes_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { Pool::of(Device::cpu()).deallocate(data_, bytes_); }
  [[nodiscard]] std::complex<Real>* data() const { return static_cast<std::complex<Real>*>(data_); }

 private:
  std::size_t bytes_;
  void* data_;
};

template <class Real>
std::string wisdom_of() {
  char* const text = Fftw<Real>::wisdom();
  const std::string copy = text == nullptr ? "" : text;
  std::free(text);
  return copy;
}

}  // namespace

/// Plans of one transform in place; a batch is many of them, each on one thread.
template <class Real>
struct cpu::FftPlans<Real>::Tables {
  typename Fftw<Real>::Plan forward{}, inverse{};
};

template <class Real>
cpu::FftPlans<Real>::FftPlans(const FftKey& key) : tables_(std::make_unique<Tables>()) {
  const Scratch<Real> scratch(key.rows * key.cols);
  // Where transforms follow each other (a batch, the modes of a probe), the next one lies on a 16-byte boundary again
  // only when the elements of one are a multiple of 16 bytes: FFTW_UNALIGNED for float transforms of odd size.
  const bool aligned = static_cast<std::size_t>(key.rows * key.cols) * sizeof(std::complex<Real>) % 16 == 0;
  const unsigned flags =
      (key.effort == FftEffort::measured ? FFTW_MEASURE : FFTW_ESTIMATE) | (aligned ? 0u : FFTW_UNALIGNED);
  const std::lock_guard lock(planner());
  const auto rows = static_cast<int>(key.rows), cols = static_cast<int>(key.cols);
  tables_->forward = Fftw<Real>::plan(rows, cols, scratch.data(), FFTW_FORWARD, flags);
  tables_->inverse = Fftw<Real>::plan(rows, cols, scratch.data(), FFTW_BACKWARD, flags);
  if (tables_->forward != nullptr && tables_->inverse != nullptr) return;
  if (tables_->forward != nullptr) Fftw<Real>::destroy(tables_->forward);
  if (tables_->inverse != nullptr) Fftw<Real>::destroy(tables_->inverse);
  throw Error(ErrorKind::internal, fmt::format("FFTW made no plan for {} x {}", key.rows, key.cols));
}

template <class Real>
cpu::FftPlans<Real>::~FftPlans() {
  const std::lock_guard lock(planner());
  Fftw<Real>::destroy(tables_->forward);
  Fftw<Real>::destroy(tables_->inverse);
}

template <class Real>
void cpu::FftPlans<Real>::run(std::complex<Real>* data, FftDirection direction) const {
  Fftw<Real>::run(direction == FftDirection::forward ? tables_->forward : tables_->inverse, data);
}

template class cpu::FftPlans<float>;
template class cpu::FftPlans<double>;

const char* fft_library() { return "fftw"; }

// Both precisions in one text, one after the other; each begins with "(fftw-".
std::string fft_wisdom() {
  const std::lock_guard lock(planner());
  return wisdom_of<double>() + wisdom_of<float>();
}

bool import_fft_wisdom(const std::string& text) {
  const std::lock_guard lock(planner());
  const auto forget = [] {
    fftw_forget_wisdom();
    fftwf_forget_wisdom();
  };
  forget();
  const std::size_t second = text.find("(fftw-", 1);
  if (second != std::string::npos && Fftw<double>::import_wisdom(text.substr(0, second).c_str()) &&
      Fftw<float>::import_wisdom(text.substr(second).c_str()))
    return true;
  forget();
  return false;
}

}  // namespace sonde
