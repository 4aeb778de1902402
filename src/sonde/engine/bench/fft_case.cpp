// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/bench/fft_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <numbers>

#include "sonde/engine/array/array.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/math/fft.h"

namespace sonde {
namespace {

constexpr Index elements_each_call = Index{1} << 22;  // of a thread: milliseconds, far above the cost of a loop

Index side_of(const std::string& size) {
  Index side = 0;
  const auto [end, status] = std::from_chars(size.data(), size.data() + size.size(), side);
  if (status != std::errc() || end != size.data() + size.size() || side < 8 || side > 16384)
    throw Error(ErrorKind::usage, fmt::format("size \"{}\" is not a side of 8 to 16384 elements", size));
  return side;
}

double flops_of(Index side) {
  const double elements = static_cast<double>(side) * static_cast<double>(side);
  return 5 * elements * std::log2(elements);
}

/// exp(2 pi i (3 r + 5 c) / side), whose transform is side^2 at (3, 5) and nothing elsewhere.
template <class Real>
Array plane_wave(Index side) {
  using Complex = std::complex<Real>;
  Array wave(Device::cpu(), {1, side, side}, dtype_of<Complex>);
  const auto values = wave.view<Complex, 3>();
  for (Index r = 0; r < side; ++r)
    for (Index c = 0; c < side; ++c)
      values(0, r, c) = Complex(std::polar(
          1.0, 2 * std::numbers::pi * static_cast<double>((3 * r + 5 * c) % side) / static_cast<double>(side)));
  return wave;
}

template <class Real>
double distance_from_peak(Array wave, Index side) {
  const auto values = wave.view<std::complex<Real>, 3>();
  const double peak = static_cast<double>(side) * static_cast<double>(side);
  double largest = 0;
  for (Index r = 0; r < side; ++r)
    for (Index c = 0; c < side; ++c)
      largest = std::max(largest, std::abs(std::complex<double>(values(0, r, c)) - (r == 3 && c == 5 ? peak : 0.0)));
  return largest / peak;
}

template <class Real>
Operation on_cpu(Index side, int workers, const char* type) {
  using Complex = std::complex<Real>;
  struct Held {
    Fft2d<Real> fft;
    std::vector<Array> waves;
  };
  auto held = std::make_shared<Held>(
      Held{Fft2d<Real>::prepare({.rows = side, .cols = side, .effort = FftEffort::measured}), {}});
  // Zeros stay zeros, so nothing overflows; the time does not depend on the values.
  for (int i = 0; i < workers; ++i) held->waves.push_back(Array::zeros(Device::cpu(), {side, side}, dtype_of<Complex>));
  const Index each = std::max<Index>(1, elements_each_call / (side * side));
  return {.name = fmt::format("{} transforms, {}", each * workers, type),
          .run =
              [=] {
                parallel_for(workers, 1, [&](Index first, Index last, Worker&) {
                  for (Index w = first; w < last; ++w)
                    for (Index i = 0; i < each; ++i)
                      held->fft.transform(static_cast<Complex*>(held->waves[static_cast<std::size_t>(w)].data()),
                                          FftDirection::forward);
                });
              },
          .flops = flops_of(side) * static_cast<double>(each * workers),
          .difference =
              [=] {
                Array wave = plane_wave<Real>(side);
                held->fft.transform(static_cast<Complex*>(wave.data()), FftDirection::forward);
                return distance_from_peak<Real>(std::move(wave), side);
              }};
}

template <class Real>
Operation on_gpu(Index side, Device device, const char* type) {
  using Complex = std::complex<Real>;
  struct Held {
    Stream stream;
    Fft2d<Real> fft;
    Array waves;
  };
  const Index batch = std::max<Index>(1, 16 * elements_each_call / (side * side));
  auto held = std::make_shared<Held>(
      Held{Stream(device), Fft2d<Real>::prepare({.rows = side, .cols = side, .batch = batch, .device = device}),
           Array::zeros(device, {batch, side, side}, dtype_of<Complex>)});
  return {.name = fmt::format("{} transforms, {}", batch, type),
          .run =
              [=] {
                const View<Complex, 3> all(static_cast<Complex*>(held->waves.data()), batch, side, side);
                held->fft.transform(held->stream, all, all, FftDirection::forward);
                held->stream.synchronise();
              },
          .flops = flops_of(side) * static_cast<double>(batch),
          .difference =
              [=] {
                const auto fft = Fft2d<Real>::prepare({.rows = side, .cols = side, .device = device});
                Array wave = plane_wave<Real>(side).copy_to(device, held->stream);
                const View<Complex, 3> one(static_cast<Complex*>(wave.data()), 1, side, side);
                fft.transform(held->stream, one, one, FftDirection::forward);
                return distance_from_peak<Real>(wave.copy_to(Device::cpu(), held->stream), side);
              }};
}

PreparedCase prepare_fft(const BenchPoint& point) {
  const Index side = side_of(point.size);
  PreparedCase prepared;
  prepared.input =
      fmt::format("{} x {} complex, {}", side, side,
                  point.device.is_cpu() ? "one pattern of each thread in its cache" : "batches on one stream");
  if (point.device.is_cpu())
    prepared.operations = {on_cpu<float>(side, point.workers, "f32"), on_cpu<double>(side, point.workers, "f64")};
  else
    prepared.operations = {on_gpu<float>(side, point.device, "f32"), on_gpu<double>(side, point.device, "f64")};
  return prepared;
}

}  // namespace

BenchCase fft_bench_case() {
  return {.name = "fft",
          .summary = "Two-dimensional Fourier transforms: the floor of work on patterns",
          .sizes = {"64", "128", "256", "512"},
          .devices = {DeviceKind::cpu, DeviceKind::cuda},
          .prepare = prepare_fft};
}

}  // namespace sonde
