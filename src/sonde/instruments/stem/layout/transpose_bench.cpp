// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/layout/transpose.h"

#include <benchmark/benchmark.h>

#include <cstring>

#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/stem/layout/resident.h"
#include "sonde/instruments/stem/layout/transpose_kernels.h"

namespace sonde::stem {
namespace {

/// 64 frames of 192 x 192 in a worker's scratch to planes of 4096 positions: what the loading pipeline does.
template <class In, class Out>
void place_scratch(benchmark::State& state) {
  const TransposeKernels& kernels = *usable_transpose_kernels()[static_cast<std::size_t>(state.range(0))];
  state.SetLabel(kernels.name);
  const Index pixels = 192 * 192, positions = 4096;
  Array scratch = Array::zeros(Device::cpu(), {64, pixels}, dtype_of<In>);
  Array planes = make_planes(Device::cpu(), positions, 192, 192, dtype_of<Out>);
  std::memset(planes.data(), 1, planes.allocated_bytes());
  Index position = 0;
  for (auto _ : state) {
    place_rows(kernels, View<const In, 2>(scratch.view<In, 2>()), planes.view<Out, 2>(), position);
    position = (position + 64) % positions;
  }
  state.SetBytesProcessed(state.iterations() * 64 * pixels * static_cast<Index>(sizeof(In) + sizeof(Out)));
}
BENCHMARK(place_scratch<std::uint8_t, std::uint8_t>)
    ->DenseRange(0, static_cast<int>(usable_transpose_kernels().size()) - 1);
BENCHMARK(place_scratch<std::uint16_t, std::uint8_t>)
    ->DenseRange(0, static_cast<int>(usable_transpose_kernels().size()) - 1);
BENCHMARK(place_scratch<std::uint16_t, std::uint16_t>)
    ->DenseRange(0, static_cast<int>(usable_transpose_kernels().size()) - 1);

void whole_array(benchmark::State& state) {
  set_thread_count(static_cast<int>(state.range(0)));
  Stream stream;
  Array frames = make_frames(Device::cpu(), 8192, 192, 192, DType::u16);
  std::memset(frames.data(), 0, frames.allocated_bytes());
  Array planes = make_planes(Device::cpu(), 8192, 192, 192, DType::u8);
  std::memset(planes.data(), 1, planes.allocated_bytes());
  for (auto _ : state) to_pixel_major(stream, frames, planes);
  state.SetBytesProcessed(state.iterations() * frames.count() * 3);
  set_thread_count(0);
}
BENCHMARK(whole_array)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace sonde::stem
