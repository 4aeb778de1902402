// SPDX-License-Identifier: Apache-2.0
// Virtual images of 256 x 256 positions and 96 x 96 pixels of u8 (604 MB). "warm" repeats one detector, whose planes
// may sit in the last cache; "cold" reads 1 GiB of something else in between.
#include <benchmark/benchmark.h>

#include <cstring>
#include <vector>

#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/stem/image/imager.h"
#include "sonde/instruments/stem/image/masked_sum.h"
#include "sonde/instruments/stem/image/plane_sum.h"
#include "sonde/instruments/stem/layout/resident.h"

namespace sonde::stem {
namespace {

constexpr Index positions = 256 * 256, rows = 96, cols = 96;

const Array& planes() {
  static const Array made = [] {
    Array array = make_planes(Device::cpu(), positions, rows, cols, DType::u8);
    parallel_for(rows * cols, 16, [&](Index first, Index last, Worker&) {
      std::memset(static_cast<std::uint8_t*>(array.data()) + first * positions, 1,
                  static_cast<std::size_t>((last - first) * positions));
    });
    return array;
  }();
  return made;
}

/// Pixels with r_in <= d < r_out about the centre plus a shift in columns.
std::vector<Index> ring(double r_in, double r_out, double shift = 0) {
  std::vector<Index> pixels;
  for (Index row = 0; row < rows; ++row)
    for (Index col = 0; col < cols; ++col) {
      const double y = static_cast<double>(row) - 47.5, x = static_cast<double>(col) - 47.5 - shift;
      const double d2 = y * y + x * x;
      if (d2 >= r_in * r_in && d2 < r_out * r_out) pixels.push_back(row * cols + col);
    }
  return pixels;
}

void evict() {
  static const std::vector<std::uint64_t> other(std::size_t{1} << 27, 1);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < other.size(); i += 8) sum += other[i];
  benchmark::DoNotOptimize(sum);
}

void plane_image(benchmark::State& state, double r_in, double r_out, bool cold) {
  set_thread_count(static_cast<int>(state.range(0)));
  Stream stream;
  Array image(Device::cpu(), {positions}, DType::u64);
  const Array& source = planes();
  const std::vector<Index> pixels = ring(r_in, r_out);
  for (auto _ : state) {
    if (cold) {
      state.PauseTiming();
      evict();
      state.ResumeTiming();
    }
    plane_sum(stream, source, pixels, image);
  }
  state.counters["pixels"] = static_cast<double>(pixels.size());
  state.SetBytesProcessed(state.iterations() * static_cast<Index>(pixels.size()) * positions);
  set_thread_count(0);
}
BENCHMARK_CAPTURE(plane_image, bf_warm, 0, 10, false)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(plane_image, bf_cold, 0, 10, true)
    ->Arg(1)
    ->Arg(2)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond)
    ->Iterations(10);
BENCHMARK_CAPTURE(plane_image, adf_warm, 10, 19.7, false)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(plane_image, adf_cold, 10, 19.7, true)
    ->Arg(1)
    ->Arg(2)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond)
    ->Iterations(10);

/// A disk of radius 10 that moves by one pixel along a path that never comes back: about 40 planes a step.
void drag_step(benchmark::State& state) {
  set_thread_count(static_cast<int>(state.range(0)));
  Stream stream;
  VirtualImager imager({rows, cols, &planes(), nullptr, nullptr, {}});
  std::vector<Mask> masks;
  for (int step = -30; step <= 30; ++step) masks.push_back(make_mask(rows, cols, ring(0, 10, step)));
  std::size_t step = 0;
  Index read = 0;
  for (auto _ : state) {
    if (step == 0) {
      state.PauseTiming();
      imager.reset();
      (void)imager.compute(stream, masks[0]);
      state.ResumeTiming();
    }
    read = imager.compute(stream, masks[step + 1]).pixels_read;
    step = (step + 1) % (masks.size() - 1);
  }
  state.counters["pixels"] = static_cast<double>(read);
  set_thread_count(0);
}
BENCHMARK(drag_step)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

/// An annulus whose outer radius moves along the grid of the radial prefix planes.
void radius_step(benchmark::State& state) {
  set_thread_count(static_cast<int>(state.range(0)));
  Stream stream;
  VirtualImager imager({rows, cols, &planes(), nullptr, nullptr, {}});
  imager.build_prefix(stream, 47.5, 47.5);
  std::vector<Mask> masks;
  for (int step = 0; step < 20; ++step) masks.push_back(make_mask(rows, cols, ring(10, 20 + step)));
  std::size_t step = 0;
  for (auto _ : state) {
    imager.reset();
    benchmark::DoNotOptimize(imager.compute(stream, masks[step]).image);
    step = (step + 1) % masks.size();
  }
  set_thread_count(0);
}
BENCHMARK(radius_step)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

void frame_image(benchmark::State& state) {
  set_thread_count(static_cast<int>(state.range(0)));
  Stream stream;
  static const Array frames = [] {
    Array array = make_frames(Device::cpu(), positions, rows, cols, DType::u8);
    std::memset(array.data(), 1, array.allocated_bytes());  // untouched pages would all be one
    return array;
  }();
  Array image(Device::cpu(), {positions}, DType::u64);
  const Mask mask = make_mask(rows, cols, ring(0, 10));
  for (auto _ : state) masked_sum(stream, frames, mask, image);
  set_thread_count(0);
}
BENCHMARK(frame_image)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace sonde::stem
