// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "sonde/engine/array/dtype.h"
#include "sonde/engine/device/multiversion.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/stem/image/mask.h"
#include "sonde/instruments/stem/image/masked_sum_kernels.h"

namespace sonde::stem::cpu {
namespace {

// One frame's sum with accumulators of 32 bits, where those are provably enough, or of 64.
template <class Sum, class T>
SONDE_MULTIVERSION std::uint64_t sum_with(const T* frame, const PixelRun* runs, std::size_t count) {
  Sum sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const T* run = frame + runs[i].offset;
    for (Index k = 0; k < runs[i].length; ++k) sum += run[k];
  }
  return sum;
}

Index area(std::span<const PixelRun> runs) {
  Index pixels = 0;
  for (const PixelRun& run : runs) pixels += run.length;
  return pixels;
}

template <class T>
std::uint64_t sum_runs(const T* frame, std::span<const PixelRun> runs, DType accumulators) {
  if (runs.empty()) return 0;
  return accumulators == DType::u32 ? sum_with<std::uint32_t>(frame, runs.data(), runs.size())
                                    : sum_with<std::uint64_t>(frame, runs.data(), runs.size());
}

template <class T>
double weighted_runs(const T* frame, std::span<const PixelRun> runs, const float* weights) {
  double partial[8] = {};
  for (const PixelRun& run : runs) {
    const T* first = frame + run.offset;
    for (Index k = 0; k < run.length; ++k)
      partial[k % 8] += (weights == nullptr ? 1.0 : static_cast<double>(*weights++)) * static_cast<double>(first[k]);
  }
  return ((partial[0] + partial[1]) + (partial[2] + partial[3])) +
         ((partial[4] + partial[5]) + (partial[6] + partial[7]));
}

/// Frames per task: about 64 KiB of masked pixels, so that scheduling costs little and small scans still spread.
Index frames_per_task(Index pixels) { return std::max<Index>(1, (Index{1} << 16) / std::max<Index>(1, pixels)); }

}  // namespace

template <class T>
void masked_update(View<const T, 3> frames, std::span<const PixelRun> added, std::span<const PixelRun> removed,
                   View<const std::uint64_t, 1> base, View<std::uint64_t, 1> image) {
  const Index plus = area(added), minus = area(removed);
  const DType plus_type = accumulator(dtype_of<T>, plus), minus_type = accumulator(dtype_of<T>, minus);
  parallel_for(frames.extent[0], frames_per_task(plus + minus), [&](Index first, Index last, Worker&) {
    for (Index position = first; position < last; ++position) {
      const T* frame = frames.data + position * frames.stride[0];
      const std::uint64_t start = base.data == nullptr ? 0 : base.data[position];
      image.data[position] = start + sum_runs(frame, added, plus_type) - sum_runs(frame, removed, minus_type);
    }
  });
}

template <class T>
void weighted_masked_sum(View<const T, 3> frames, std::span<const PixelRun> runs, std::span<const float> weights,
                         View<double, 1> image) {
  parallel_for(frames.extent[0], frames_per_task(area(runs)), [&](Index first, Index last, Worker&) {
    for (Index position = first; position < last; ++position)
      image.data[position] =
          weighted_runs(frames.data + position * frames.stride[0], runs, weights.empty() ? nullptr : weights.data());
  });
}

#define SONDE_INSTANTIATE(T)                                                                                \
  template void masked_update<T>(View<const T, 3>, std::span<const PixelRun>, std::span<const PixelRun>,    \
                                 View<const std::uint64_t, 1>, View<std::uint64_t, 1>);                     \
  template void weighted_masked_sum<T>(View<const T, 3>, std::span<const PixelRun>, std::span<const float>, \
                                       View<double, 1>)
SONDE_INSTANTIATE(std::uint8_t);
SONDE_INSTANTIATE(std::uint16_t);
SONDE_INSTANTIATE(std::uint32_t);
#undef SONDE_INSTANTIATE
template void weighted_masked_sum<float>(View<const float, 3>, std::span<const PixelRun>, std::span<const float>,
                                         View<double, 1>);

}  // namespace sonde::stem::cpu
