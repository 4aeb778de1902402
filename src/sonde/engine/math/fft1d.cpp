// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/math/fft1d.h"

#include <optional>
#include <utility>

#include "sonde/engine/array/array.h"
#include "sonde/engine/math/fft_plans.h"
#include "sonde/engine/math/lines.h"

namespace sonde {
namespace {

/// A batch on a GPU as one contiguous array, allocated when it is first asked for.
template <class T>
View<T, 2> contiguous_room(std::optional<Array>& room, const LineKey& key, Index length) {
  if (!room) room.emplace(key.device, Shape{key.batch, length}, dtype_of<T>);
  return room->view<T, 2>();
}

}  // namespace

template <class Real>
struct Fft1d<Real>::Plans {
  // One of the two; shared for the reason that fft.cpp has.
  std::unique_ptr<cpu::FftPlans<Real>> cpu;
  std::shared_ptr<cuda::FftPlans<Real>> cuda;
  mutable std::optional<Array> room;  // on a GPU, for lines that are not contiguous
};

template <class Real>
Fft1d<Real> Fft1d<Real>::prepare(const LineKey& key, const std::string& wisdom) {
  require_lines(key);
  auto plans = std::make_unique<Plans>();
  const FftKey row{
      .rows = 1, .cols = key.length, .batch = key.batch, .effort = key.effort, .device = key.device};  // of a line
  if (key.device.is_cpu())
    plans->cpu = std::make_unique<cpu::FftPlans<Real>>(row, wisdom);
  else if constexpr (built_with_cuda)
    plans->cuda = std::make_shared<cuda::FftPlans<Real>>(row);
  return Fft1d(key, std::move(plans));
}

template <class Real>
Fft1d<Real>::Fft1d(const LineKey& key, std::unique_ptr<Plans> plans) : key_(key), plans_(std::move(plans)) {}
template <class Real>
Fft1d<Real>::Fft1d(Fft1d&&) noexcept = default;
template <class Real>
Fft1d<Real>& Fft1d<Real>::operator=(Fft1d&&) noexcept = default;
template <class Real>
Fft1d<Real>::~Fft1d() = default;

template <class Real>
std::size_t Fft1d<Real>::bytes() const {
  std::size_t total = fft_table_bytes<Real>(key_.length);
  if constexpr (built_with_cuda)
    if (plans_->cuda) total += plans_->cuda->workspace_bytes();
  return total + (plans_->room ? plans_->room->allocated_bytes() : 0);
}

template <class Real>
std::string Fft1d<Real>::wisdom() const {
  return plans_->cpu ? plans_->cpu->wisdom() : "";
}

template <class Real>
void Fft1d<Real>::transform(Stream& stream, View<const Complex, 2> in, View<Complex, 2> out,
                            FftDirection direction) const {
  require_view(stream, key_, in, key_.length);
  require_view(stream, key_, out, key_.length);
  if constexpr (built_with_cuda)
    if (plans_->cuda) {
      const bool straight = in.contiguous() && out.contiguous();
      const View<Complex, 2> room = straight ? out : contiguous_room<Complex>(plans_->room, key_, key_.length);
      using Copy = device::CopyLines<device::Pair<Real>>;
      const LaunchSize size = launch_for(room.count());
      if (!straight) run_on(stream, size, Copy{pairs<Real>(in), pairs<Real>(room)});
      plans_->cuda->run(stream, straight ? in.data : room.data, room.data, direction);
      if (!straight) run_on(stream, size, Copy{pairs<Real>(View<const Complex, 2>(room)), pairs<Real>(out)});
      return;
    }
  by_groups<LinesRoom<Complex>>(key_, side_by_side(in) || side_by_side(out),
                                [&](const LinesRoom<Complex>& room, Index first, Index lines) {
                                  take(in, first, lines, room);
                                  for (Index b = 0; b < lines; ++b) plans_->cpu->run(room[b], direction);
                                  give(room, out, first, lines);
                                });
}

template class Fft1d<float>;
template class Fft1d<double>;

template <class Real>
struct RealFft1d<Real>::Plans {
  std::unique_ptr<cpu::RealFftPlans<Real>> cpu;
  std::shared_ptr<cuda::RealFftPlans<Real>> cuda;
  mutable std::optional<Array> real, half;  // on a GPU, for lines that are not contiguous and for inverses
};

template <class Real>
RealFft1d<Real> RealFft1d<Real>::prepare(const LineKey& key, const std::string& wisdom) {
  require_lines(key);
  auto plans = std::make_unique<Plans>();
  if (key.device.is_cpu())
    plans->cpu = std::make_unique<cpu::RealFftPlans<Real>>(key.length, key.effort, wisdom);
  else if constexpr (built_with_cuda)
    plans->cuda = std::make_shared<cuda::RealFftPlans<Real>>(key.device, key.length, key.batch);
  return RealFft1d(key, std::move(plans));
}

template <class Real>
RealFft1d<Real>::RealFft1d(const LineKey& key, std::unique_ptr<Plans> plans) : key_(key), plans_(std::move(plans)) {}
template <class Real>
RealFft1d<Real>::RealFft1d(RealFft1d&&) noexcept = default;
template <class Real>
RealFft1d<Real>& RealFft1d<Real>::operator=(RealFft1d&&) noexcept = default;
template <class Real>
RealFft1d<Real>::~RealFft1d() = default;

template <class Real>
std::size_t RealFft1d<Real>::bytes() const {
  std::size_t total = fft_table_bytes<Real>(key_.length);
  if constexpr (built_with_cuda)
    if (plans_->cuda) total += plans_->cuda->workspace_bytes();
  for (const auto* room : {&plans_->real, &plans_->half})
    if (*room) total += (*room)->allocated_bytes();
  return total;
}

template <class Real>
std::string RealFft1d<Real>::wisdom() const {
  return plans_->cpu ? plans_->cpu->wisdom() : "";
}

template <class Real>
void RealFft1d<Real>::forward(Stream& stream, View<const Real, 2> in, View<Complex, 2> out) const {
  require_view(stream, key_, in, key_.length);
  require_view(stream, key_, out, frequencies());
  if constexpr (built_with_cuda)
    if (plans_->cuda) {
      const Real* from = in.data;
      Complex* to = out.data;
      if (!in.contiguous()) {
        const View<Real, 2> room = contiguous_room<Real>(plans_->real, key_, key_.length);
        run_on(stream, launch_for(room.count()), device::CopyLines<Real>{in, room});
        from = room.data;
      }
      if (out.contiguous()) return plans_->cuda->forward(stream, from, to);
      const View<Complex, 2> room = contiguous_room<Complex>(plans_->half, key_, frequencies());
      plans_->cuda->forward(stream, from, room.data);
      return run_on(stream, launch_for(room.count()),
                    device::CopyLines<device::Pair<Real>>{pairs<Real>(View<const Complex, 2>(room)), pairs<Real>(out)});
    }
  by_groups<RealLinesRoom<Real>>(key_, side_by_side(in) || side_by_side(out),
                                 [&](const RealLinesRoom<Real>& rooms, Index first, Index lines) {
                                   const LinesRoom<Real>& real = rooms.real;
                                   const LinesRoom<Complex>& half = rooms.half;
                                   take(in, first, lines, real);
                                   for (Index b = 0; b < lines; ++b) plans_->cpu->forward(real[b], half[b]);
                                   give(half, out, first, lines);
                                 });
}

template <class Real>
void RealFft1d<Real>::inverse(Stream& stream, View<const Complex, 2> in, View<Real, 2> out) const {
  require_view(stream, key_, in, frequencies());
  require_view(stream, key_, out, key_.length);
  if constexpr (built_with_cuda)
    if (plans_->cuda) {
      // cuFFT overwrites what it reads on this way.
      const View<Complex, 2> half = contiguous_room<Complex>(plans_->half, key_, frequencies());
      run_on(stream, launch_for(half.count()),
             device::CopyLines<device::Pair<Real>>{pairs<Real>(in), pairs<Real>(half)});
      if (out.contiguous()) return plans_->cuda->inverse(stream, half.data, out.data);
      const View<Real, 2> real = contiguous_room<Real>(plans_->real, key_, key_.length);
      plans_->cuda->inverse(stream, half.data, real.data);
      return run_on(stream, launch_for(real.count()), device::CopyLines<Real>{real, out});
    }
  by_groups<RealLinesRoom<Real>>(key_, side_by_side(in) || side_by_side(out),
                                 [&](const RealLinesRoom<Real>& rooms, Index first, Index lines) {
                                   const LinesRoom<Real>& real = rooms.real;
                                   const LinesRoom<Complex>& half = rooms.half;
                                   take(in, first, lines, half);
                                   for (Index b = 0; b < lines; ++b) plans_->cpu->inverse(half[b], real[b]);
                                   give(real, out, first, lines);
                                 });
}

template class RealFft1d<float>;
template class RealFft1d<double>;

}  // namespace sonde
