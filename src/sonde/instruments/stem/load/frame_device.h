// SPDX-License-Identifier: Apache-2.0
// Private to the room: what a GPU does with decoded frames, as templates over the thread block (engine/device/team.h).
// Frames lie in scratch that the second-level cache holds, (frame, pixel), so that each step may be a kernel of its
// own: clean, statistics of pixels, bins, placing. All sums are of integers and so do not depend on their order.
#pragma once

#include <cstdint>

#include "sonde/engine/array/view.h"
#include "sonde/engine/device/stream.h"
#include "sonde/engine/device/team.h"

namespace sonde::stem::device {

/// What a pass counts besides the moments; one list of u64.
enum Counter : int {
  clipped,
  clipped_counts,
  sentinels,
  sentinel_frames,
  masked_sentinels,
  masked_counts,
  saturated,
  suspects_largest,
  counters
};

/// What a pass knows of a stored pixel: suspects are zeroed like bad ones, but their own sums are kept.
enum PixelState : std::uint8_t { good_pixel, bad_pixel, suspect_pixel };

/// Zeroes bad pixels and sentinels and counts both and saturated values.
template <class T>
struct CleanFrames {
  View<T, 2> frames;
  View<const std::uint8_t, 1> present;  // (frame) 0: there is none, its zeros mean nothing
  View<const std::uint8_t, 1> state;    // (pixel) PixelState
  bool has_sentinel = false, has_saturation = false;
  T sentinel = 0, saturation = 0;
  std::uint64_t* input_sum = nullptr;  // (pixel), of suspects
  std::uint64_t* sentinels_per_pixel = nullptr;
  std::uint64_t* counts = nullptr;

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    for (Index frame = block.index(); frame < frames.extent[0]; frame += block.count()) {
      if (present.data[frame] == 0) continue;
      T* elements = frames.data + frame * frames.stride[0];
      std::uint64_t found[4];  // sentinels, sentinels in bad pixels, saturated values, counts of bad pixels
      block.template sums<4>(frames.extent[1], found, [&](Index pixel, std::uint64_t(&partial)[4]) {
        const T stored = elements[pixel];
        const bool masked = state.data[pixel] == bad_pixel;
        T value = masked ? T(0) : stored;
        if (state.data[pixel] == suspect_pixel && !(has_sentinel && stored == sentinel)) {
          shared_add(input_sum + pixel, stored);
          shared_max(counts + suspects_largest, stored);
          value = 0;
        }
        const bool is_sentinel = has_sentinel && value == sentinel;  // after masking, as on the CPU
        if (is_sentinel) shared_add(sentinels_per_pixel + pixel, 1);
        partial[0] += is_sentinel ? 1 : 0;
        const bool no_data = has_sentinel && masked && stored == sentinel;
        partial[1] += no_data ? 1 : 0;
        partial[3] += masked && !no_data ? stored : T(0);
        partial[2] += has_saturation && !is_sentinel && value > saturation ? 1 : 0;
        if (is_sentinel) value = 0;
        if (value != stored) elements[pixel] = value;
      });
      block.once([&] {
        if (found[0] != 0) {
          shared_add(counts + sentinels, found[0]);
          shared_add(counts + sentinel_frames, 1);
        }
        if (found[3] != 0) shared_add(counts + masked_counts, found[3]);
        if (found[1] != 0) shared_add(counts + masked_sentinels, found[1]);
        if (found[2] != 0) shared_add(counts + saturated, found[2]);
      });
    }
  }
};

/// A thread block's share in the kernels that follow pixels or positions.
inline constexpr Index tile_pixels = 256, slice_frames = 64;

/// Adds frames to the sums of every pixel: S, and the largest value and the number of values that are not zero where
/// these are asked for. A thread follows one pixel through a slice of frames; neighbouring threads read neighbours.
template <class T>
struct PixelStatistics {
  View<const T, 2> frames;
  std::uint64_t* sum = nullptr;
  std::uint64_t* most = nullptr;     // may be null
  std::uint64_t* nonzero = nullptr;  // with `most`

  [[nodiscard]] Index pieces() const { return tiles() * slices(); }

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    const Index all = tiles() * slices();
    for (Index piece = block.index(); piece < all; piece += block.count()) {
      const Index first_pixel = piece % tiles() * tile_pixels, first = piece / tiles() * slice_frames;
      const Index last = first + slice_frames < frames.extent[0] ? first + slice_frames : frames.extent[0];
      block.each(tile_pixels, [&](Index i) {
        const Index pixel = first_pixel + i;
        if (pixel >= frames.extent[1]) return;
        std::uint64_t total = 0, hits = 0;
        T top = 0;
        for (Index frame = first; frame < last; ++frame) {
          const T value = frames.data[frame * frames.stride[0] + pixel];
          total += value;
          hits += value != 0 ? 1 : 0;
          top = value > top ? value : top;
        }
        if (total == 0) return;
        shared_add(sum + pixel, total);
        if (most == nullptr) return;
        shared_max(most + pixel, top);
        shared_add(nonzero + pixel, hits);
      });
    }
  }

 private:
  [[nodiscard]] SONDE_HOST_DEVICE Index tiles() const { return (frames.extent[1] + tile_pixels - 1) / tile_pixels; }
  [[nodiscard]] SONDE_HOST_DEVICE Index slices() const { return (frames.extent[0] + slice_frames - 1) / slice_frames; }
};

/// How the pixels of a stored frame fall into bins.
struct BinShape {
  std::uint32_t rows = 0, cols = 0, bin = 1, out_rows = 0, out_cols = 0;
};

/// binned(frame, bin) = sum over the bin's pixels; a thread gathers one bin.
template <class T, class Sum>
struct BinFrames {
  View<const T, 2> frames;
  BinShape shape;
  View<Sum, 2> binned;

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    for (Index frame = block.index(); frame < frames.extent[0]; frame += block.count()) {
      const T* from = frames.data + frame * frames.stride[0];
      Sum* to = binned.data + frame * binned.stride[0];
      block.each(Index{shape.out_rows} * shape.out_cols, [&](Index i) {
        const auto out = static_cast<std::uint32_t>(i);
        const std::uint32_t row = out / shape.out_cols * shape.bin, col = out % shape.out_cols * shape.bin;
        const std::uint32_t row_end = row + shape.bin < shape.rows ? row + shape.bin : shape.rows;
        const std::uint32_t col_end = col + shape.bin < shape.cols ? col + shape.bin : shape.cols;
        Sum sum = 0;
        for (std::uint32_t r = row; r < row_end; ++r)
          for (std::uint32_t c = col; c < col_end; ++c) sum += from[static_cast<Index>(r) * shape.cols + c];
        to[i] = sum;
      });
    }
  }
};

/// The moments of finished frames, and their elements in the resident type at their place. Values beyond `limit` are
/// set to it and counted.
template <class T, class Out>
struct PlaceFrames {
  View<const T, 2> frames;
  std::uint32_t cols = 1;
  View<const Index, 1> positions;                                                // (frame) scan position
  std::uint64_t *total = nullptr, *moment_row = nullptr, *moment_col = nullptr;  // (position)
  std::uint64_t* counts = nullptr;
  T limit = 0;                   // the largest value that Out holds, or that of T
  const float* scale = nullptr;  // (pixel) for means; may be null
  View<Out, 2> out;              // no data: nothing is stored
  bool by_position = false;      // rows of `out` are positions, not frames

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    for (Index frame = block.index(); frame < frames.extent[0]; frame += block.count()) {
      const T* from = frames.data + frame * frames.stride[0];
      const Index position = positions.data[frame];
      Out* to = out.data == nullptr ? nullptr : out.data + (by_position ? position : frame) * out.stride[0];
      std::uint64_t found[5];  // T, Mr, Mc, clipped, and by how much
      block.template sums<5>(frames.extent[1], found, [&](Index i, std::uint64_t(&partial)[5]) {
        const auto pixel = static_cast<std::uint32_t>(i);
        const T value = from[pixel];
        partial[0] += value;
        partial[1] += static_cast<std::uint64_t>(pixel / cols) * value;
        partial[2] += static_cast<std::uint64_t>(pixel % cols) * value;
        partial[3] += value > limit ? 1 : 0;
        partial[4] += value > limit ? value - limit : T(0);
        if (to == nullptr) return;
        const T kept = value > limit ? limit : value;
        to[pixel] =
            scale == nullptr ? static_cast<Out>(kept) : static_cast<Out>(static_cast<float>(kept) * scale[pixel]);
      });
      block.once([&] {
        total[position] = found[0];
        moment_row[position] = found[1];
        moment_col[position] = found[2];
        if (found[3] == 0) return;
        shared_add(counts + clipped, found[3]);
        shared_add(counts + clipped_counts, found[4]);
      });
    }
  }
};

/// Takes pixels out of resident counts and of the moments of their positions, as if they had been masked while loading.
/// A thread follows one position.
template <class T>
struct ZeroPixels {
  T* elements = nullptr;
  Index step = 1, pixel_step = 1;  // from one position, one pixel, to the next
  Index positions = 0, cols = 1;
  View<const Index, 1> pixels;
  std::uint64_t *total = nullptr, *moment_row = nullptr, *moment_col = nullptr;

  [[nodiscard]] Index pieces() const { return (positions + tile_pixels - 1) / tile_pixels; }

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    const Index all = (positions + tile_pixels - 1) / tile_pixels;
    for (Index piece = block.index(); piece < all; piece += block.count())
      block.each(tile_pixels, [&](Index i) {
        const Index position = piece * tile_pixels + i;
        if (position >= positions) return;
        std::uint64_t sum = 0, sum_row = 0, sum_col = 0;
        for (Index k = 0; k < pixels.extent[0]; ++k) {
          const Index pixel = pixels.data[k];
          T& element = elements[position * step + pixel * pixel_step];
          sum += element;
          sum_row += static_cast<std::uint64_t>(pixel / cols) * element;
          sum_col += static_cast<std::uint64_t>(pixel % cols) * element;
          element = 0;
        }
        total[position] -= sum;
        moment_row[position] -= sum_row;
        moment_col[position] -= sum_col;
      });
  }
};

}  // namespace sonde::stem::device

namespace sonde::stem::cpu {
template <class Body>
void run_body(const LaunchSize& size, const Body& body) {
  run_serially(size, body);
}
}  // namespace sonde::stem::cpu

namespace sonde::stem::cuda {
/// Instantiated for the bodies above.
template <class Body>
void run_body(Stream& stream, const LaunchSize& size, const Body& body);
}  // namespace sonde::stem::cuda
