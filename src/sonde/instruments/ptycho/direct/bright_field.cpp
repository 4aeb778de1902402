// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/direct/bright_field.h"

#include <fmt/format.h>

#include <algorithm>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/ptycho/optics/fourier.h"

namespace sonde::ptycho {
namespace {

// Frames that are turned into pieces of images at once: each piece is a cache line or more when it is written.
constexpr Index block = 64;

Point frequency_of(const Sampling& sampling, Index row, Index col) {
  return {frequency(row, sampling.rows) / sampling.pixel_row(), frequency(col, sampling.cols) / sampling.pixel_col()};
}

/// The indices of the pixels in the disk, zero frequency at [0,0].
template <class Measured>
std::vector<Index> disk_pixels(const Sampling& sampling, const Lens& lens, Measured&& measured) {
  std::vector<Index> pixels;
  for (Index row = 0; row < sampling.rows; ++row)
    for (Index col = 0; col < sampling.cols; ++col)
      if (lens.amplitude(frequency_of(sampling, row, col)) > 0 && measured(row, col))
        pixels.push_back(row * sampling.cols + col);
  return pixels;
}

}  // namespace

Index bright_field_pixels(const Sampling& sampling, const Lens& lens, std::span<const std::uint8_t> good) {
  // The mask of a file has its zero frequency anywhere; which pixels are missing hardly changes their number.
  const Index all = static_cast<Index>(disk_pixels(sampling, lens, [](Index, Index) { return true; }).size());
  return good.empty() ? all
                      : std::min<Index>(all, std::count_if(good.begin(), good.end(), [](auto g) { return g != 0; }));
}

std::size_t bright_field_bytes(Index pixels, const ScanLattice& lattice) {
  return static_cast<std::size_t>(pixels) *
         (static_cast<std::size_t>(lattice.count() + worker_limit() * block) * sizeof(float) + 40);
}

BrightField bright_field(const Measurement& measurement, const Sampling& sampling, const Lens& lens,
                         const ScanLattice& lattice, std::span<const Index> skip) {
  const Index frames = lattice.count();
  if (measurement.count() != frames)
    throw Error(ErrorKind::bad_input,
                fmt::format("{} patterns for a raster of {} x {}", measurement.count(), lattice.rows, lattice.cols));
  const double* weights = measurement.weights<double>();
  const std::vector<Index> pixels = disk_pixels(sampling, lens, [&](Index row, Index col) {
    return weights == nullptr || weights[row * sampling.cols + col] != 0;
  });

  BrightField field;
  field.lattice = lattice;
  for (const Index pixel : pixels) {
    field.frequency.push_back(frequency_of(sampling, pixel / sampling.cols, pixel % sampling.cols));
    field.amplitude.push_back(lens.amplitude(field.frequency.back()));
  }
  const Index count = field.count();
  field.images = Array(Device::cpu(), Shape{count, lattice.rows, lattice.cols}, DType::f32);
  auto* images = static_cast<float*>(field.images.data());
  struct Room {
    std::vector<float> frame, tile;
  };
  PerWorker<Room> rooms([&] {
    return Room{std::vector<float>(static_cast<std::size_t>(measurement.pixels())),
                std::vector<float>(static_cast<std::size_t>(count * block))};
  });
  parallel_for(frames, block, [&](Index first, Index last, Worker& worker) {
    Room& room = rooms[worker];
    for (Index j = first; j < last; ++j) {
      check_interrupt();
      const float* amplitude = measurement.amplitudes<float>(j, room.frame.data());
      for (Index i = 0; i < count; ++i) {
        const float root = amplitude[pixels[static_cast<std::size_t>(i)]];
        room.tile[static_cast<std::size_t>(i * block + j - first)] = root * root;
      }
    }
    for (Index i = 0; i < count; ++i)
      std::copy_n(room.tile.data() + i * block, last - first, images + i * frames + first);
  });

  const double taking_part = static_cast<double>(frames - static_cast<Index>(skip.size()));
  field.mean.resize(static_cast<std::size_t>(count));
  double total = 0;
  parallel_for(count, 1, [&](Index first, Index last, Worker&) {
    for (Index i = first; i < last; ++i) {
      check_interrupt();
      float* image = images + i * frames;
      for (const Index j : skip) image[j] = 0;
      double sum = 0;
      for (Index j = 0; j < frames; ++j) sum += static_cast<double>(image[j]);
      const double mean = taking_part > 0 ? sum / taking_part : 0;
      for (const Index j : skip) image[j] = static_cast<float>(mean);
      field.mean[static_cast<std::size_t>(i)] = mean;
    }
  });
  for (const double mean : field.mean) total += mean;
  if (!(total > 0))
    throw Error(ErrorKind::bad_input, "the bright-field disk has no counts")
        .hint("check semiangle_mrad, detector_mrad_per_px and zero_frequency");
  return field;
}

}  // namespace sonde::ptycho
