// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/math/fft.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <limits>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/math/fft_plans.h"

namespace sonde {

template <class Real>
struct Fft2d<Real>::Plans {
  // One of the two. Without CUDA nothing may refer to the other's destructor; a shared pointer asks for it where it is
  // made.
  std::unique_ptr<cpu::FftPlans<Real>> cpu;
  std::shared_ptr<cuda::FftPlans<Real>> cuda;
};

template <class Real>
Fft2d<Real> Fft2d<Real>::prepare(const FftKey& key, const std::string& wisdom) {
  constexpr Index most = std::numeric_limits<std::int32_t>::max();
  if (key.batch < 1 || key.rows < 1 || key.cols < 1 || key.rows > most || key.cols > most)
    throw Error(ErrorKind::bad_input,
                fmt::format("no Fourier transform of {} x {} x {} elements", key.batch, key.rows, key.cols));
  auto plans = std::make_unique<Plans>();
  if (key.device.is_cpu())
    plans->cpu = std::make_unique<cpu::FftPlans<Real>>(key, wisdom);
  else if constexpr (built_with_cuda)
    plans->cuda = std::make_shared<cuda::FftPlans<Real>>(key);
  return Fft2d(key, std::move(plans));
}

template <class Real>
Fft2d<Real>::Fft2d(const FftKey& key, std::unique_ptr<Plans> plans) : key_(key), plans_(std::move(plans)) {}
template <class Real>
Fft2d<Real>::Fft2d(Fft2d&&) noexcept = default;
template <class Real>
Fft2d<Real>& Fft2d<Real>::operator=(Fft2d&&) noexcept = default;
template <class Real>
Fft2d<Real>::~Fft2d() = default;

template <class Real>
std::size_t Fft2d<Real>::bytes() const {
  const auto tables = fft_table_bytes<Real>(key_.rows + key_.cols);
  if constexpr (built_with_cuda)
    if (plans_->cuda) return tables + plans_->cuda->workspace_bytes();
  return tables;
}

template <class Real>
std::string Fft2d<Real>::wisdom() const {
  return plans_->cpu ? plans_->cpu->wisdom() : "";
}

template <class Real>
void Fft2d<Real>::transform(Complex* data, FftDirection direction) const {
  assert(plans_->cpu);
  assert(reinterpret_cast<std::uintptr_t>(data) % 16 == 0 ||
         static_cast<std::size_t>(key_.rows * key_.cols) * sizeof(Complex) % 16 != 0);
  plans_->cpu->run(data, direction);
}

template <class Real>
void Fft2d<Real>::check(const Stream& stream, View<const Complex, 3> in, View<const Complex, 3> out) const {
  const auto fits = [&](const auto& view) {
    return view.extent[0] == key_.batch && view.extent[1] == key_.rows && view.extent[2] == key_.cols &&
           view.contiguous() && reinterpret_cast<std::uintptr_t>(view.data) % 16 == 0;
  };
  if (!fits(in) || !fits(out))
    throw Error(ErrorKind::bad_input,
                fmt::format("a Fourier transform prepared for contiguous {} x {} x {} was given {} x {} x {}",
                            key_.batch, key_.rows, key_.cols, in.extent[0], in.extent[1], in.extent[2]));
  if (stream.device() != key_.device)
    throw Error(ErrorKind::internal, fmt::format("a Fourier transform prepared for {} was given a stream of {}",
                                                 key_.device.name(), stream.device().name()));
  const Index count = in.count();
  if (in.data != out.data && in.data < out.data + count && out.data < in.data + count)
    throw Error(ErrorKind::bad_input, "input and output of a Fourier transform overlap");
}

template <class Real>
void Fft2d<Real>::transform(Stream& stream, View<const Complex, 3> in, View<Complex, 3> out,
                            FftDirection direction) const {
  check(stream, in, out);
  if constexpr (built_with_cuda)
    if (plans_->cuda) return plans_->cuda->run(stream, in.data, out.data, direction);
  const Index piece = key_.rows * key_.cols;
  parallel_for(key_.batch, 1, [&](Index first, Index last, Worker&) {
    for (Index i = first; i < last; ++i) {
      if (in.data != out.data) std::copy(in.data + i * piece, in.data + (i + 1) * piece, out.data + i * piece);
      plans_->cpu->run(out.data + i * piece, direction);
    }
  });
}

template class Fft2d<float>;
template class Fft2d<double>;

Index next_fast_size(Index n) {
  const auto fast = [](Index m) {
    for (const Index factor : {2, 3, 5, 7})
      while (m % factor == 0) m /= factor;
    return m == 1;
  };
  while (!fast(n)) ++n;
  return n;
}

}  // namespace sonde
