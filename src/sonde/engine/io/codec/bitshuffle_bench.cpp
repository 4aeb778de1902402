// SPDX-License-Identifier: Apache-2.0
// Counting frames as an electron detector gives them: 192x192, a disk of radius 30 px about 95.5 whose edge is logistic
// with 0.8 px and carries 0.85 of the dose, in an exponential halo of decay length 25 px with 0.15; Poisson.
// Rates are decoded bytes per second on one core. Argument: dose in hundredths of a count per pixel.
#include <benchmark/benchmark.h>

#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <random>
#include <vector>

#include "sonde/engine/io/codec/bitshuffle.h"
#include "sonde/engine/io/codec/bitshuffle_kernels.h"

namespace {

using namespace sonde;
using Bytes = std::vector<std::byte>;

constexpr std::size_t side = 192, pixels = side * side;
// 4096 frames of 16 bits are 302 MB: the destination leaves the caches as in a real load.
constexpr std::size_t frames = 4096;

std::vector<double> mean_pattern(double dose) {
  std::vector<double> disk(pixels), halo(pixels), mean(pixels);
  double disk_sum = 0, halo_sum = 0;
  for (std::size_t q = 0; q < pixels; ++q) {
    const double distance = std::hypot(static_cast<double>(q / side) - 95.5, static_cast<double>(q % side) - 95.5);
    disk_sum += disk[q] = 1 / (1 + std::exp((distance - 30) / 0.8));
    halo_sum += halo[q] = std::exp(-distance / 25);
  }
  for (std::size_t q = 0; q < pixels; ++q)
    mean[q] = dose * static_cast<double>(pixels) * (0.85 * disk[q] / disk_sum + 0.15 * halo[q] / halo_sum);
  return mean;
}

struct Acquisition {
  std::vector<Bytes> chunks;
  std::size_t compressed_bytes = 0;
};

Bytes frame(const std::vector<double>& mean, std::size_t element_bytes, std::mt19937_64& random) {
  Bytes elements(pixels * element_bytes);
  for (std::size_t q = 0; q < pixels; ++q) {
    const auto count = std::poisson_distribution<std::uint32_t>(mean[q])(random);
    std::memcpy(&elements[q * element_bytes], &count, element_bytes);  // little endian
  }
  return elements;
}

// 64 different frames in turn.
const Acquisition& acquisition(std::size_t element_bytes, std::int64_t hundredths) {
  static std::map<std::pair<std::size_t, std::int64_t>, Acquisition> made;
  Acquisition& made_here = made[{element_bytes, hundredths}];
  if (!made_here.chunks.empty()) return made_here;
  std::mt19937_64 random(1);
  const std::vector<double> mean = mean_pattern(static_cast<double>(hundredths) / 100);
  for (int i = 0; i < 64; ++i) {
    made_here.chunks.push_back(encode_bitshuffle(frame(mean, element_bytes, random), {element_bytes, 0}));
    made_here.compressed_bytes += made_here.chunks.back().size();
  }
  return made_here;
}

const BitshuffleKernels* kernels_named(const std::string& name) {
  for (const BitshuffleKernels* kernels : usable_bitshuffle_kernels())
    if (name == kernels->name) return kernels;
  return nullptr;
}

void decode(benchmark::State& state, const std::string& name, std::size_t element_bytes) {
  const BitshuffleKernels* kernels = kernels_named(name);
  if (kernels == nullptr) return state.SkipWithError("this processor does not run these kernels");
  const Acquisition& data = acquisition(element_bytes, state.range(0));
  Bytes out(frames * pixels * element_bytes);
  BitshuffleScratch scratch(*kernels);
  for (auto _ : state)
    for (std::size_t f = 0; f < frames; ++f)
      decode_bitshuffle(data.chunks[f % data.chunks.size()], {element_bytes, 0}, scratch,
                        std::span(out).subspan(f * pixels * element_bytes, pixels * element_bytes));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(out.size()));
  state.counters["ratio"] =
      static_cast<double>(64 * pixels * element_bytes) / static_cast<double>(data.compressed_bytes);
}

void visit(benchmark::State& state) {
  const Acquisition& data = acquisition(2, state.range(0));
  BitshuffleScratch scratch;
  for (auto _ : state)
    for (std::size_t f = 0; f < frames; ++f)
      visit_bit_planes(
          data.chunks[f % data.chunks.size()], {2, 0}, 2 * pixels, {}, scratch,
          [](const BitPlanes& block) { benchmark::DoNotOptimize(block.nonzero); }, [](const BitshuffleTail&) {});
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(frames * pixels * 2));
}

// One block of 8 KiB that stays in the first-level cache: only the transposition.
void transpose(benchmark::State& state, const std::string& name, std::size_t element_bytes) {
  const BitshuffleKernels* kernels = kernels_named(name);
  if (kernels == nullptr) return state.SkipWithError("this processor does not run these kernels");
  Bytes planes(8192), out(8192);
  if (state.range(0) != 0) planes.back() = std::byte{1};
  for (auto _ : state) {
    elements_from_planes(*kernels, planes.data(), 8192 / element_bytes, element_bytes, out.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(out.size()));
}

void encode(benchmark::State& state) {
  std::mt19937_64 random(1);
  const Bytes elements = frame(mean_pattern(1), 2, random);
  BitshuffleScratch scratch;
  Bytes chunk;
  for (auto _ : state) {
    chunk.clear();
    encode_bitshuffle(elements, {2, 0}, scratch, chunk);
    benchmark::DoNotOptimize(chunk.data());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(elements.size()));
}

[[maybe_unused]] const bool registered = [] {
  for (const char* name : {"portable", "avx2", "avx512"})
    for (const std::size_t size : {1u, 2u, 4u}) {
      const std::string what = "/" + std::string(name) + "/u" + std::to_string(8 * size);
      benchmark::RegisterBenchmark(("decode" + what).c_str(), decode, name, size)->Arg(100)->Arg(10);
      benchmark::RegisterBenchmark(("transpose" + what).c_str(), transpose, name, size)
          ->ArgName("upper_bytes")
          ->Arg(0)
          ->Arg(1);
    }
  benchmark::RegisterBenchmark("visit_bit_planes", visit)->Arg(100)->Arg(10);
  benchmark::RegisterBenchmark("encode/u16", encode);
  return true;
}();

}  // namespace
