// SPDX-License-Identifier: Apache-2.0
#include <fftw3.h>

#include <mutex>
#include <vector>

#include "sonde/engine/math/fft_common.h"

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
};

}  // namespace

/// Plans of one transform in place; a batch is many of them, each on one thread.
template <class Real>
struct Fft2d<Real>::Plans {
  typename Fftw<Real>::Plan forward{}, inverse{};

  Plans(Index rows, Index cols, FftEffort effort) {
    // Measuring writes into the array. One transform further every array lies on a 16-byte boundary again only when the
    // elements of one are a multiple of 16 bytes: FFTW_UNALIGNED where float transforms of odd size follow each other.
    std::vector<std::complex<Real>> scratch(static_cast<std::size_t>(rows * cols));
    const bool aligned = static_cast<std::size_t>(rows * cols) * sizeof(std::complex<Real>) % 16 == 0;
    const unsigned flags =
        (effort == FftEffort::measured ? FFTW_MEASURE : FFTW_ESTIMATE) | (aligned ? 0u : FFTW_UNALIGNED);
    const std::lock_guard lock(planner());
    const auto r = static_cast<int>(rows), c = static_cast<int>(cols);
    forward = Fftw<Real>::plan(r, c, scratch.data(), FFTW_FORWARD, flags);
    inverse = Fftw<Real>::plan(r, c, scratch.data(), FFTW_BACKWARD, flags);
    if (forward == nullptr || inverse == nullptr) {
      release();
      throw Error(ErrorKind::internal, fmt::format("FFTW made no plan for {} x {}", rows, cols));
    }
  }
  Plans(const Plans&) = delete;
  Plans& operator=(const Plans&) = delete;
  ~Plans() {
    const std::lock_guard lock(planner());
    release();
  }
  void release() {
    if (forward != nullptr) Fftw<Real>::destroy(forward);
    if (inverse != nullptr) Fftw<Real>::destroy(inverse);
  }
};

const char* fft_library() { return "fftw"; }

template <class Real>
Fft2d<Real> Fft2d<Real>::prepare(Index batch, Index rows, Index cols, FftEffort effort) {
  check_fft_extents(batch, rows, cols);
  return Fft2d(batch, rows, cols, std::make_unique<Plans>(rows, cols, effort));
}

template <class Real>
void Fft2d<Real>::forward(View<const Complex, 3> in, View<Complex, 3> out) const {
  bring(in, out);
  const Index piece = rows_ * cols_;
  parallel_for(batch_, 1, [&](Index first, Index last, Worker&) {
    for (Index i = first; i < last; ++i) Fftw<Real>::run(plans_->forward, out.data + i * piece);
  });
}

template <class Real>
void Fft2d<Real>::inverse(View<const Complex, 3> in, View<Complex, 3> out) const {
  bring(in, out);
  const Index piece = rows_ * cols_;
  const Real scale = Real(1) / static_cast<Real>(piece);
  parallel_for(batch_, 1, [&](Index first, Index last, Worker&) {
    for (Index i = first; i < last; ++i) {
      Complex* data = out.data + i * piece;
      Fftw<Real>::run(plans_->inverse, data);
      for (Index k = 0; k < piece; ++k) data[k] *= scale;
    }
  });
}

template class Fft2d<float>;
template class Fft2d<double>;

}  // namespace sonde
