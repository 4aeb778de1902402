// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/math/dct.h"

#include <cmath>
#include <complex>
#include <numbers>
#include <utility>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/math/fft_plans.h"
#include "sonde/engine/math/lines.h"

namespace sonde {
namespace {

/// exp(-i pi k / (2 N)) of the frequencies.
template <class Real>
std::vector<std::complex<Real>> roots_of(Index length) {
  std::vector<std::complex<Real>> roots;
  for (Index k = 0; k <= length / 2; ++k)
    roots.push_back(static_cast<std::complex<Real>>(
        std::polar(1.0, -std::numbers::pi * static_cast<double>(k) / static_cast<double>(2 * length))));
  return roots;
}

template <class Real>
device::Pair<Real> pair(std::complex<Real> value) {
  return {value.real(), value.imag()};
}

}  // namespace

template <class Real>
struct Dct<Real>::Plans {
  std::unique_ptr<cpu::RealFftPlans<Real>> cpu;
  std::shared_ptr<cuda::RealFftPlans<Real>> cuda;
  std::vector<std::complex<Real>> roots;
  // On a GPU: the same roots, folded lines and their frequencies.
  Array roots_there, real, half;

  /// One line in the order of its real transform, to cosines in their places and back.
  void forward(Real* folded, std::complex<Real>* frequencies, Index n) const {
    cpu->forward(folded, frequencies);
    for (Index k = 0; k <= n / 2; ++k) {
      const auto both = device::cosines_of(pair(frequencies[k]), pair(roots[static_cast<std::size_t>(k)]));
      folded[k] = both.re;
      if (k > 0 && 2 * k < n) folded[n - k] = both.im;
    }
  }
  void inverse(Real* cosines, std::complex<Real>* frequencies, Index n) const {
    for (Index k = 0; k <= n / 2; ++k) {
      const auto frequency =
          device::frequency_of(cosines[k], k > 0 ? cosines[n - k] : Real(0), pair(roots[static_cast<std::size_t>(k)]));
      frequencies[k] = {frequency.re, frequency.im};
    }
    cpu->inverse(frequencies, cosines);
  }
};

template <class Real>
Dct<Real> Dct<Real>::prepare(const LineKey& key, const std::string& wisdom) {
  using Complex = std::complex<Real>;
  require_lines(key);
  auto plans = std::make_unique<Plans>();
  plans->roots = roots_of<Real>(key.length);
  if (key.device.is_cpu()) {
    plans->cpu = std::make_unique<cpu::RealFftPlans<Real>>(key.length, key.effort, wisdom);
  } else if constexpr (built_with_cuda) {
    plans->cuda = std::make_shared<cuda::RealFftPlans<Real>>(key.device, key.length, key.batch);
    const Index frequencies = key.length / 2 + 1;
    Stream stream(key.device);
    plans->roots_there = Array::from(plans->roots, Shape{frequencies}).copy_to(key.device, stream);
    plans->real = Array(key.device, Shape{key.batch, key.length}, dtype_of<Real>);
    plans->half = Array(key.device, Shape{key.batch, frequencies}, dtype_of<Complex>);
  }
  return Dct(key, std::move(plans));
}

template <class Real>
Dct<Real>::Dct(const LineKey& key, std::unique_ptr<Plans> plans) : key_(key), plans_(std::move(plans)) {}
template <class Real>
Dct<Real>::Dct(Dct&&) noexcept = default;
template <class Real>
Dct<Real>& Dct<Real>::operator=(Dct&&) noexcept = default;
template <class Real>
Dct<Real>::~Dct() = default;

template <class Real>
std::size_t Dct<Real>::bytes() const {
  std::size_t total = fft_table_bytes<Real>(key_.length) + plans_->roots.size() * sizeof(std::complex<Real>);
  if constexpr (built_with_cuda)
    if (plans_->cuda)
      total += plans_->cuda->workspace_bytes() + plans_->roots_there.allocated_bytes() +
               plans_->real.allocated_bytes() + plans_->half.allocated_bytes();
  return total;
}

template <class Real>
std::string Dct<Real>::wisdom() const {
  return plans_->cpu ? plans_->cpu->wisdom() : "";
}

template <class Real>
void Dct<Real>::transform(Stream& stream, View<const Real, 2> in, View<Real, 2> out, FftDirection direction) const {
  using Complex = std::complex<Real>;
  require_view(stream, key_, in, key_.length);
  require_view(stream, key_, out, key_.length);
  const Index n = key_.length;
  const bool forward = direction == FftDirection::forward;
  if constexpr (built_with_cuda)
    if (plans_->cuda) {
      const View<Real, 2> real = plans_->real.template view<Real, 2>();
      const View<Complex, 2> half = plans_->half.template view<Complex, 2>();
      const View<const device::Pair<Real>, 1> roots(static_cast<const device::Pair<Real>*>(plans_->roots_there.data()),
                                                    half.extent[1]);
      const LaunchSize of_real = launch_for(real.count()), of_half = launch_for(half.count());
      if (forward) {
        run_on(stream, of_real, device::FoldLines<Real>{in, real});
        plans_->cuda->forward(stream, real.data, half.data);
        run_on(stream, of_half,
               device::CosinesOfFrequencies<Real>{pairs<Real>(View<const Complex, 2>(half)), roots, out});
      } else {
        run_on(stream, of_half, device::FrequenciesOfCosines<Real>{in, roots, pairs<Real>(half)});
        plans_->cuda->inverse(stream, half.data, real.data);
        run_on(stream, of_real, device::UnfoldLines<Real>{real, out});
      }
      return;
    }
  by_groups<RealLinesRoom<Real>>(
      key_, side_by_side(in) || side_by_side(out), [&](const RealLinesRoom<Real>& rooms, Index first, Index lines) {
        const LinesRoom<Real>& real = rooms.real;
        const LinesRoom<Complex>& half = rooms.half;
        if (forward)
          each_element(in, lines, n, [&](Index b, Index i) { real[b][i] = in(first + b, device::folded(i, n)); });
        else
          take(in, first, lines, real);
        for (Index b = 0; b < lines; ++b)
          forward ? plans_->forward(real[b], half[b], n) : plans_->inverse(real[b], half[b], n);
        if (forward)
          give(real, out, first, lines);
        else
          each_element(out, lines, n, [&](Index b, Index i) { out(first + b, device::folded(i, n)) = real[b][i]; });
      });
}

template class Dct<float>;
template class Dct<double>;

}  // namespace sonde
