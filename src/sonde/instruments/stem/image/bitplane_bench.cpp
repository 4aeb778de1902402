// SPDX-License-Identifier: Apache-2.0
// Images straight from compressed frames of 192 x 192 u16: a disk of radius 30 with 0.85 of one count per pixel, the
// rest in a halo. Bytes are those of the frames that are never built.
#include <benchmark/benchmark.h>

#include <cmath>
#include <random>

#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/stem/image/bitplane.h"

namespace sonde::stem {
namespace {

constexpr Index size = 192;
constexpr BitshuffleFormat format{2, 0, BitshuffleCodec::lz4};

/// 64 frames, which with their scratch fit the second-level cache once compressed.
const std::vector<std::vector<std::byte>>& chunks() {
  static const auto made = [] {
    std::vector<double> rates(size * size);
    double disk = 0, halo = 0;
    const auto radius = [](Index pixel) {
      return std::hypot(static_cast<double>(pixel / size) - 95.5, static_cast<double>(pixel % size) - 95.5);
    };
    const auto disk_at = [&](Index pixel) { return 1 / (1 + std::exp((radius(pixel) - 30) / 0.8)); };
    const auto halo_at = [&](Index pixel) { return std::exp(-radius(pixel) / 25); };
    for (Index pixel = 0; pixel < size * size; ++pixel) {
      disk += disk_at(pixel);
      halo += halo_at(pixel);
    }
    const double dose = size * size;
    for (Index pixel = 0; pixel < size * size; ++pixel)
      rates[static_cast<std::size_t>(pixel)] = dose * (0.85 * disk_at(pixel) / disk + 0.15 * halo_at(pixel) / halo);
    std::mt19937_64 random(1);
    std::vector<std::vector<std::byte>> encoded;
    for (int frame = 0; frame < 64; ++frame) {
      std::vector<std::uint16_t> counts;
      for (const double rate : rates)
        counts.push_back(static_cast<std::uint16_t>(std::poisson_distribution<int>(rate)(random)));
      encoded.push_back(encode_bitshuffle(std::as_bytes(std::span(counts)), format));
    }
    return encoded;
  }();
  return made;
}

std::vector<Mask> rings(int count) {
  std::vector<Mask> masks;
  for (int i = 0; i < count; ++i) {
    std::vector<Index> pixels;
    for (Index pixel = 0; pixel < size * size; ++pixel) {
      const double d = std::hypot(static_cast<double>(pixel / size) - 95.5, static_cast<double>(pixel % size) - 95.5);
      if (d >= 30.0 * i && d < 30.0 * (i + 1)) pixels.push_back(pixel);
    }
    masks.push_back(make_mask(size, size, pixels));
  }
  return masks;
}

void images(benchmark::State& state, int masks, bool moments) {
  set_thread_count(static_cast<int>(state.range(0)));
  BitplaneMasks::Options options;
  options.sentinel = 65535;
  options.moments = moments;
  const BitplaneMasks prepared = BitplaneMasks::prepare(size, size, 2, rings(masks), options);
  PerWorker<BitshuffleScratch> scratch;
  const auto& frames = chunks();
  const Index repeat = 16;
  for (auto _ : state)
    parallel_for(repeat * static_cast<Index>(frames.size()), 16, [&](Index first, Index last, Worker& worker) {
      BitplaneSums sums;
      for (Index i = first; i < last; ++i) {
        const auto frame = static_cast<std::size_t>(i) % frames.size();
        prepared.evaluate(frames[frame], format, scratch[worker], sums);
        benchmark::DoNotOptimize(sums);
      }
    });
  state.SetBytesProcessed(state.iterations() * repeat * static_cast<Index>(frames.size()) * size * size * 2);
  std::size_t compressed = 0;
  for (const auto& chunk : frames) compressed += chunk.size();
  state.counters["ratio"] = static_cast<double>(frames.size()) * size * size * 2 / static_cast<double>(compressed);
  set_thread_count(0);
}
BENCHMARK_CAPTURE(images, bf, 1, false)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(images, four, 4, false)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(images, bf_and_moments, 1, true)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace sonde::stem
