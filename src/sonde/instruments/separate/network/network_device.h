// SPDX-License-Identifier: Apache-2.0
// Private to the room: what the network does beside matrix products and Fourier transforms, as templates over the
// thread block (engine/device/team.h). Values are pixels of neighbouring channels, as on the CPU. Every number is
// written by one thread from what it reads, and sums have an order that does not depend on the launch: the same bits in
// every run.
#pragma once

#include <cmath>
#include <cstdint>

#include "sonde/engine/base/host_device.h"
#include "sonde/engine/device/team.h"
#include "sonde/instruments/separate/network/config.h"
#include "sonde/instruments/separate/network/spectrum_shape.h"
#include "sonde/instruments/separate/network/winograd.h"
#include "sonde/instruments/separate/network/winograd_lines.h"

namespace sonde::separate::device {

// Elements of a thread block at a time: 16 for each of its threads.
inline constexpr Index piece = 4096;
[[nodiscard]] SONDE_HOST_DEVICE inline Index pieces_of(Index elements) { return (elements + piece - 1) / piece; }

/// Pieces of an index, the last of which runs fastest. In 32 bits: divisions of 64 take ten times as long, and nothing
/// here has that many elements (DevicePlan looks).
class Places {
 public:
  SONDE_DEVICE explicit Places(Index of) : left_(static_cast<std::uint32_t>(of)) {}
  SONDE_DEVICE Index take(Index extent) {
    const auto by = static_cast<std::uint32_t>(extent), quotient = left_ / by, place = left_ - quotient * by;
    left_ = quotient;
    return place;
  }
  [[nodiscard]] SONDE_DEVICE Index rest() const { return left_; }

 private:
  std::uint32_t left_;
};

/// body(i) for i in [0, count).
template <class Block, class Body>
SONDE_DEVICE void each_element(Block& block, Index count, Body&& body) {
  for (Index p = block.index(); p < pieces_of(count); p += block.count()) {
    const Index first = p * piece, left = count - first;
    block.each(left < piece ? left : piece, [&](Index i) { body(first + i); });
  }
}

/// The inputs of a layer, joined on channels, after its norm and activation; 0 outside of the picture.
struct Source {
  const float *first = nullptr, *second = nullptr;
  Index first_channels = 0, channels = 0;  ///< `channels` of both
  Index rows = 0, columns = 0;
  const float *scale = nullptr, *shift = nullptr;  ///< (channels)
  bool activate = false;
  Activation activation = Activation::relu;
  float alpha = 1;

  [[nodiscard]] SONDE_DEVICE float activated(float x) const {
    if (!activate) return x;
    if (activation == Activation::gelu) return 0.5F * x * std::erfc(-0.707106781F * x);
    if (activation == Activation::relu) return x < 0 ? 0.0F : x;
    return x > 0 ? x : alpha * std::expm1(x);
  }
  [[nodiscard]] SONDE_DEVICE float operator()(Index row, Index column, Index channel) const {
    if (row < 0 || row >= rows || column < 0 || column >= columns) return 0;
    const Index pixel = row * columns + column;
    const float x = channel < first_channels ? first[pixel * first_channels + channel]
                                             : second[pixel * (channels - first_channels) + channel - first_channels];
    return activated(scale[channel] * x + shift[channel]);
  }
};

/// What the products of a layer read: for each pixel of output rows [first_row, first_row + rows) the inputs that its
/// weights see, (row, column, kernel row, kernel column, channel).
struct GatherPatches {
  Source source;
  Index first_row = 0, rows = 0, columns = 0;
  Index height = 1, width = 1;          ///< of the kernel
  Index row_step = 1, column_step = 1;  ///< from pixel to pixel
  Index edge = 0;                       ///< pixels in front of the first that are outside
  float* to = nullptr;

  [[nodiscard]] SONDE_HOST_DEVICE Index elements() const { return rows * columns * height * width * source.channels; }

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    each_element(block, elements(), [&](Index i) {
      Places places(i);
      const Index channel = places.take(source.channels), b = places.take(width), a = places.take(height);
      const Index column = places.take(columns), row = first_row + places.rest();
      to[i] = source(row * row_step + a - edge, column * column_step + b - edge, channel);
    });
  }
};

/// The patches of `lines` rows of tiles, transformed (winograd.h): (plane, line, tile, channel).
struct GatherTiles {
  Source source;
  Index first_row = 0, lines = 0, tiles = 0;  ///< `tiles` of a line; first_row of the output
  float* to = nullptr;

  [[nodiscard]] SONDE_HOST_DEVICE Index elements() const { return lines * tiles * source.channels; }

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    const Index all = elements();
    each_element(block, all, [&](Index i) {
      Places places(i);
      const Index channel = places.take(source.channels), left = places.take(tiles) * winograd::tile - 1;
      const Index top = first_row + places.rest() * winograd::tile - 1;
      float between[winograd::patch][winograd::patch];
      for (Index x = 0; x < winograd::patch; ++x) {
        const winograd::SixNumbers line = winograd::patch_line(
            source(top, left + x, channel), source(top + 1, left + x, channel), source(top + 2, left + x, channel),
            source(top + 3, left + x, channel), source(top + 4, left + x, channel), source(top + 5, left + x, channel));
        for (Index y = 0; y < winograd::patch; ++y) between[y][x] = line.at[y];
      }
      for (Index y = 0; y < winograd::patch; ++y) {
        const float* d = between[y];
        const winograd::SixNumbers line = winograd::patch_line(d[0], d[1], d[2], d[3], d[4], d[5]);
        for (Index x = 0; x < winograd::patch; ++x) to[(y * winograd::patch + x) * all + i] = line.at[x];
      }
    });
  }
};

/// Back from products (plane, line, tile, channel) to output rows.
struct SpreadTiles {
  const float* products = nullptr;
  Index first_row = 0, lines = 0, tiles = 0;
  Index rows = 0, columns = 0, channels = 0;  ///< of the whole output
  bool add = false;                           ///< on top of what is there
  float* to = nullptr;                        ///< the whole output

  [[nodiscard]] SONDE_HOST_DEVICE Index elements() const { return lines * tiles * channels; }

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    const Index all = elements();
    each_element(block, all, [&](Index i) {
      Places places(i);
      const Index channel = places.take(channels), left = places.take(tiles) * winograd::tile;
      const Index top = first_row + places.rest() * winograd::tile;
      float between[winograd::tile][winograd::patch];
      for (Index x = 0; x < winograd::patch; ++x) {
        const float* m = products + x * all + i;
        const Index apart = winograd::patch * all;
        const winograd::FourNumbers line =
            winograd::product_line(m[0], m[apart], m[2 * apart], m[3 * apart], m[4 * apart], m[5 * apart]);
        for (Index y = 0; y < winograd::tile; ++y) between[y][x] = line.at[y];
      }
      for (Index y = 0; y < winograd::tile && top + y < rows; ++y) {
        const float* m = between[y];
        const winograd::FourNumbers line = winograd::product_line(m[0], m[1], m[2], m[3], m[4], m[5]);
        for (Index x = 0; x < winograd::tile && left + x < columns; ++x) {
          float& pixel = to[((top + y) * columns + left + x) * channels + channel];
          pixel = add ? pixel + line.at[x] : line.at[x];
        }
      }
    });
  }
};

/// Sums of each channel, and of its squares, over strips of pixels: (strip, 2, channel).
struct SumStrips {
  const float* values = nullptr;
  Index pixels = 0, channels = 0;
  double* sums = nullptr;

  // Strips for 256 thread blocks, or of 64 pixels.
  [[nodiscard]] SONDE_HOST_DEVICE Index strip() const {
    const Index of_many = (pixels + 255) / 256;
    return of_many > 64 ? of_many : 64;
  }
  [[nodiscard]] SONDE_HOST_DEVICE Index strips() const { return (pixels + strip() - 1) / strip(); }

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    const Index length = strip(), count = strips();
    for (Index s = block.index(); s < count; s += block.count()) {
      const Index first = s * length, end = first + length < pixels ? first + length : pixels;
      block.each(channels, [&](Index c) {
        double sum = 0, squares = 0;
        for (Index p = first; p < end; ++p) {
          const double x = static_cast<double>(values[p * channels + c]);
          sum += x;
          squares += x * x;
        }
        sums[2 * s * channels + c] = sum;
        sums[(2 * s + 1) * channels + c] = squares;
      });
    }
  }
};

/// The same over all strips: (2, channel). A thread block for each number.
struct AddStrips {
  const double* strips = nullptr;
  Index count = 0, channels = 0;
  double* sums = nullptr;

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    for (Index i = block.index(); i < 2 * channels; i += block.count()) {
      double sum[1];
      block.sums(count, sum, [&](Index s, double* partial) { partial[0] += strips[2 * s * channels + i]; });
      block.once([&] { sums[i] = sum[0]; });
    }
  }
};

/// Scale and shift of a norm from the sums of its inputs, in float64.
struct NormaliseChannels {
  const double *first = nullptr, *second = nullptr;  ///< (2, channel) of each input
  Index first_channels = 0, channels = 0, together = 1;
  Index pixels = 0;
  const float *gamma = nullptr, *beta = nullptr;
  float *scale = nullptr, *shift = nullptr;

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    each_element(block, channels / together, [&](Index group) {
      double sum = 0, squares = 0;
      for (Index c = group * together; c < (group + 1) * together; ++c) {
        const bool in_first = c < first_channels;
        const double* of = in_first ? first + c : second + c - first_channels;
        sum += of[0];
        squares += of[in_first ? first_channels : channels - first_channels];
      }
      const double count = static_cast<double>(together * pixels);
      const double mean = sum / count, spread = squares / count - mean * mean;
      const double deviation = std::sqrt((spread < 0 ? 0 : spread) + 1e-5);
      for (Index c = group * together; c < (group + 1) * together; ++c) {
        const double factor = static_cast<double>(gamma[c]) / deviation;
        scale[c] = static_cast<float>(factor);
        shift[c] = static_cast<float>(static_cast<double>(beta[c]) - mean * factor);
      }
    });
  }
};

struct MultiplyElements {
  const float *a = nullptr, *b = nullptr;
  Index count = 0;
  float* to = nullptr;

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    each_element(block, count, [&](Index i) { to[i] = a[i] * b[i]; });
  }
};

// The spectrum: spectrum.h, all audio channels together. Complex numbers are two floats.

/// Samples (audio channel, chunk) to windowed frames (audio channel, frame, n_fft).
struct TakeFrames {
  SpectrumShape shape;
  const float *samples = nullptr, *window = nullptr;
  float* to = nullptr;

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    each_element(block, shape.audio_channels * shape.frames * shape.n_fft, [&](Index i) {
      Places places(i);
      const Index n = places.take(shape.n_fft), frame = places.take(shape.frames), channel = places.rest();
      to[i] = window[n] * samples[channel * shape.chunk + shape.sample(frame, n)];
    });
  }
};

/// Frequencies (audio channel, frame, n_fft / 2 + 1) to the input of the network, (frame, band, channel).
struct PackSpectra {
  SpectrumShape shape;
  const float* spectra = nullptr;
  float* to = nullptr;

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    each_element(block, shape.frames * shape.band * 2 * shape.audio_channels * shape.subbands, [&](Index i) {
      Places places(i);
      const Index subband = places.take(shape.subbands), part = places.take(2);
      const Index channel = places.take(shape.audio_channels), f = subband * shape.band + places.take(shape.band);
      to[i] = spectra[2 * ((channel * shape.frames + places.rest()) * shape.frequencies() + f) + part];
    });
  }
};

/// The way back from one stem of the network's output; frequencies that the network does not see are 0.
struct UnpackSpectra {
  SpectrumShape shape;
  const float* values = nullptr;  ///< (frame, band, channels) from the first channel of the stem on
  Index channels = 0;             ///< of all stems
  float* to = nullptr;

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    each_element(block, shape.audio_channels * shape.frames * shape.frequencies() * 2, [&](Index i) {
      Places places(i);
      const Index part = places.take(2), f = places.take(shape.frequencies()), frame = places.take(shape.frames);
      const Index subband = f / shape.band, pixel = frame * shape.band + f % shape.band;
      to[i] = subband < shape.subbands
                  ? values[pixel * channels + (2 * places.rest() + part) * shape.subbands + subband]
                  : 0.0F;
    });
  }
};

/// Frames (audio channel, frame, n_fft) to samples (audio channel, chunk): each sample gathers the frames that cover
/// it.
struct OverlapFrames {
  SpectrumShape shape;
  const float *frames = nullptr, *window = nullptr, *weights = nullptr;
  float* to = nullptr;

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    each_element(block, shape.audio_channels * shape.chunk, [&](Index i) {
      Places places(i);
      const Index at = places.take(shape.chunk), p = at + shape.n_fft / 2;
      const float* of = frames + places.rest() * shape.frames * shape.n_fft;
      const Index last = shape.last_covering(p);
      float sum = 0;
      for (Index t = shape.first_covering(p); t <= last; ++t) {
        const Index n = p - t * shape.hop;
        sum += window[n] * of[t * shape.n_fft + n];
      }
      to[i] = sum * weights[at];
    });
  }
};

}  // namespace sonde::separate::device
