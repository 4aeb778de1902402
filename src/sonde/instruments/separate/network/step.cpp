// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/network/step.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <span>

#include "sonde/engine/device/parallel.h"
#include "sonde/engine/math/dense/blas.h"
#include "sonde/instruments/separate/network/panels.h"
#include "sonde/instruments/separate/network/pixels.h"
#include "sonde/instruments/separate/network/winograd.h"

namespace sonde::separate {
namespace {

using dense::Form;

// Pixels of one matrix product: fewer, and the weights are read too often; more, and what is between two steps leaves
// the cache.
constexpr Index pixels_of_product = 256;
// Tiles of one product of Winograd's: 36 matrices of them, twice. From so many channels on, what is between two steps
// is beyond the nearer caches in any case, and twice as many tiles halve what is read of the weights.
constexpr Index tiles_of_product = 64, many_channels = 256;
// Bands of a layer, where it has rows enough: work for as many cores, and two rows more for each.
constexpr Index wanted_bands = 16;

Index rounded_up(Index value, Index step) { return (value + step - 1) / step * step; }
Index tile_columns(const Step& step) { return (step.out.columns + winograd::tile - 1) / winograd::tile; }
/// Pixels of a row of activated inputs with what a 3 x 3 kernel sees beyond its ends.
Index padded_columns(const Step& step) { return tile_columns(step) * winograd::tile + 2; }

const float* numbers(const Step& step) { return static_cast<const float*>(step.weights.data()); }

/// One of the matrices of weights.
Panels weights(const Step& step, Index matrix = 0) {
  const WeightShape shape = weight_shape(step);
  return {.first = numbers(step) + matrix * panel_count(shape.inner, shape.outer),
          .rows = shape.inner,
          .columns = shape.outer,
          .apart = shape.inner * panel_columns};
}

/// Rows of the inputs, joined, normalised and activated, pixel after pixel.
void activated_rows(const Step& step, Index first, Index rows, float* to) {
  const Index pixels = rows * step.in.columns;
  Index at = 0;
  for (const Input& input : step.inputs) {
    const float* from = input.data + first * step.in.columns * input.channels;
    const float *scale = step.scale.data() + at, *shift = step.shift.data() + at;
    if (step.layer.activate) {
      activate(step.activation, step.alpha, from, pixels, input.channels, scale, shift, to + at, step.channels);
    } else {
      scale_and_shift(from, pixels, input.channels, scale, shift, to + at, step.channels);
    }
    at += input.channels;
  }
}

float* output_row(const Step& step, Index row) { return step.output + row * step.out.columns * step.out.channels; }

// Each of the following makes `rows` rows, from `first` on.

void pointwise(const Step& step, Index first, Index rows, const Scratch& scratch) {
  const Index pixels = rows * step.out.columns, outputs = step.out.channels;
  const dense::Matrix<float> out(output_row(step, first), pixels, outputs);
  const bool add = step.layer.add >= 0;
  if (step.changes_inputs()) {
    activated_rows(step, first, rows, scratch.inputs);
    multiply({scratch.inputs, pixels, step.channels}, weights(step), add, out);
    return;
  }
  Index at = 0;
  for (const Input& input : step.inputs) {
    multiply({input.data + first * step.in.columns * input.channels, pixels, input.channels},
             weights(step).part(at, input.channels), add || at > 0, out);
    at += input.channels;
  }
}

void down(const Step& step, Index first, Index rows, const Scratch& scratch) {
  const Index inner = step.scale_columns * step.channels, outputs = step.out.channels;
  const Index row_count = step.in.columns * step.channels;
  for (Index a = 0; a < step.scale_rows; ++a) {
    for (Index r = 0; r < rows; ++r) {
      activated_rows(step, (first + r) * step.scale_rows + a, 1, scratch.inputs + r * row_count);
    }
    multiply({scratch.inputs, rows * step.out.columns, inner}, weights(step).part(a * inner, inner), a > 0,
             {output_row(step, first), rows * step.out.columns, outputs});
  }
}

void up(const Step& step, Index first, Index rows, const Scratch& scratch) {
  const Index outer = step.scale_columns * step.out.channels;
  activated_rows(step, first, rows, scratch.inputs);
  for (Index a = 0; a < step.scale_rows; ++a) {
    multiply({scratch.inputs, rows * step.in.columns, step.channels}, weights(step, a), false,
             {scratch.products, rows * step.in.columns, outer});
    for (Index r = 0; r < rows; ++r) {
      const float* from = scratch.products + r * step.in.columns * outer;
      std::copy_n(from, step.in.columns * outer, output_row(step, (first + r) * step.scale_rows + a));
    }
  }
}

void linear(const Step& step, Index first, Index rows, const Scratch& scratch) {
  for (Index r = first; r < first + rows; ++r) {
    activated_rows(step, r, 1, scratch.inputs);
    dense::multiply(1.0F, {numbers(step), step.out.columns, step.in.columns}, Form::plain,
                    {scratch.inputs, step.in.columns, step.channels}, Form::plain, step.layer.add >= 0 ? 1.0F : 0.0F,
                    {output_row(step, r), step.out.columns, step.out.channels});
  }
}

void product(const Step& step, Index first, Index rows) {
  const Index at = first * step.out.columns * step.out.channels;
  multiply_elements(step.inputs[0].data + at, step.inputs[1].data + at, rows * step.out.columns * step.out.channels,
                    step.output + at);
}

/// The padded rows that output rows [first, first + rows) see, the first of them that of row first - 1. The last two of
/// the group before are there already where `follows`.
void padded_rows(const Step& step, Index first, Index rows, bool follows, float* to) {
  const Index columns = step.in.columns, row_count = padded_columns(step) * step.channels;
  Index done = 0;
  if (follows) {
    const float* last = to + step.group_rows * row_count;
    std::copy(last, last + 2 * row_count, to);
    done = 2;
  }
  for (Index r = done; r < rows + 2; ++r) {
    float* const row = to + r * row_count;
    const Index from = first - 1 + r;
    if (from < 0 || from >= step.in.rows) {
      std::fill_n(row, row_count, 0.0F);
      continue;
    }
    std::fill_n(row, step.channels, 0.0F);
    activated_rows(step, from, 1, row + step.channels);
    std::fill(row + (1 + columns) * step.channels, row + row_count, 0.0F);
  }
}

void direct(const Step& step, Index first, Index rows, const Scratch& scratch) {
  const Index columns = step.out.columns, line = 3 * step.channels, row_count = padded_columns(step) * step.channels;
  float* to = scratch.patches;
  for (Index r = 0; r < rows; ++r) {
    for (Index c = 0; c < columns; ++c) {
      for (Index a = 0; a < 3; ++a, to += line) {
        std::copy_n(scratch.inputs + (r + a) * row_count + c * step.channels, line, to);
      }
    }
  }
  multiply({scratch.patches, rows * columns, 3 * line}, weights(step), step.layer.add >= 0,
           {output_row(step, first), rows * columns, step.out.channels});
}

void in_tiles(const Step& step, Index first, Index rows, const Scratch& scratch) {
  const Index tiles = tile_columns(step), outputs = step.out.channels, inputs = step.channels;
  const Index lines = (rows + winograd::tile - 1) / winograd::tile, all = lines * tiles;
  const Index row_count = padded_columns(step) * inputs;
  for (Index line = 0; line < lines; ++line) {
    std::array<const float*, winograd::patch> from{};
    for (std::size_t i = 0; i < from.size(); ++i) {
      // Beyond the last row of a picture that is no multiple of four: what is there does not reach what is kept.
      const Index row = std::min(line * winograd::tile + static_cast<Index>(i), rows + 1);
      from[i] = scratch.inputs + row * row_count;
    }
    winograd::transform_patches(from.data(), tiles, inputs, scratch.patches + line * tiles * inputs, all * inputs);
  }
  for (Index k = 0; k < winograd::planes; ++k) {
    multiply({scratch.patches + k * all * inputs, all, inputs}, weights(step, k), false,
             {scratch.products + k * all * outputs, all, outputs});
  }
  for (Index line = 0; line < lines; ++line) {
    std::array<float*, winograd::tile> to{};
    for (std::size_t i = 0; i < to.size(); ++i) {
      const Index row = line * winograd::tile + static_cast<Index>(i);
      to[i] = row < rows ? output_row(step, first + row) : nullptr;
    }
    winograd::transform_products(scratch.products + line * tiles * outputs, all * outputs, tiles, outputs,
                                 step.out.columns, to.data(), step.layer.add >= 0);
  }
}

void run_group(const Step& step, Index first, Index rows, bool follows, const Scratch& scratch) {
  switch (step.kind) {
    case LayerKind::convolution:
      if (step.layer.kernel == 1) return pointwise(step, first, rows, scratch);
      padded_rows(step, first, rows, follows, scratch.inputs);
      return step.method == ConvolutionMethod::winograd ? in_tiles(step, first, rows, scratch)
                                                        : direct(step, first, rows, scratch);
    case LayerKind::down:
      return down(step, first, rows, scratch);
    case LayerKind::up:
      return up(step, first, rows, scratch);
    case LayerKind::linear:
      return linear(step, first, rows, scratch);
    case LayerKind::product:
      return product(step, first, rows);
  }
}

/// Winograd where the tiles of a layer fill its products; with fewer its weights, four times as many, take longer to
/// read than the multiplications saved.
ConvolutionMethod choose_method(const Step& step) {
  const Index tiles = tile_columns(step) * ((step.out.rows + winograd::tile - 1) / winograd::tile);
  return tiles >= 4 * tiles_of_product ? ConvolutionMethod::winograd : ConvolutionMethod::direct;
}

void choose_rows(Step& step) {
  const Index rows = step.shared_rows();
  const bool tiled = step.tiled();
  Index wanted = tiled ? winograd::tile * std::max(Index{1}, tiles_of_product / tile_columns(step))
                       : std::max(Index{1}, pixels_of_product / step.in.columns);
  if (tiled && step.channels >= many_channels && 8 * wanted <= rows) wanted *= 2;  // four groups stay, for four cores
  const Index all = tiled ? rounded_up(rows, winograd::tile) : rows;
  step.group_rows = std::min(wanted, all);
  step.band_rows = std::max(rounded_up((rows + wanted_bands - 1) / wanted_bands, step.group_rows), step.group_rows);
}

}  // namespace

void ScratchSizes::cover(const ScratchSizes& other) {
  inputs = std::max(inputs, other.inputs);
  patches = std::max(patches, other.patches);
  products = std::max(products, other.products);
}

Step shaped_step(const Layer& layer, const LayerList& list, const Config& config, ConvolutionMethod method) {
  Step step;
  step.layer = layer;
  step.kind = layer.kind;
  step.in = list.values[static_cast<std::size_t>(layer.inputs[0])];
  step.out = list.values[static_cast<std::size_t>(layer.output)];
  for (const int input : layer.inputs) {
    if (input < 0 || layer.kind == LayerKind::product) continue;
    step.channels += list.values[static_cast<std::size_t>(input)].channels;
  }
  step.activation = config.activation;
  step.alpha = static_cast<float>(config.alpha);
  step.scale_rows = config.scale_time, step.scale_columns = config.scale_frequency;
  step.method = method == ConvolutionMethod::automatic ? choose_method(step) : method;
  choose_rows(step);
  return step;
}

Index WeightShape::count(bool panels) const { return matrices * (panels ? panel_count(inner, outer) : inner * outer); }

WeightShape weight_shape(const Step& step) {
  const Index inputs = step.channels, outputs = step.out.channels;
  switch (step.kind) {
    case LayerKind::convolution:
      if (step.tiled()) return {.matrices = winograd::planes, .inner = inputs, .outer = outputs};
      return {.inner = step.layer.kernel * step.layer.kernel * inputs, .outer = outputs};
    case LayerKind::down:
      return {.inner = step.scale_rows * step.scale_columns * inputs, .outer = outputs};
    case LayerKind::up:
      return {.matrices = step.scale_rows, .inner = inputs, .outer = step.scale_columns * outputs};
    case LayerKind::linear:
      return {.inner = step.in.columns, .outer = step.out.columns};
    case LayerKind::product:
      return {};
  }
  return {};
}

Index weight_count(const Step& step) {
  return weight_shape(step).count(step.in_panels && step.kind != LayerKind::linear);
}

const char* method_name(const Step& step) {
  if (step.layer.kernel != 3) return "product";
  return step.method == ConvolutionMethod::winograd ? "winograd" : "direct";
}

NormOfStep prepare_norm(Step& step, const Config& config, const ParameterValues& values) {
  if (!step.changes_inputs()) return {};
  const auto channels = static_cast<std::size_t>(step.channels);
  step.scale.assign(channels, 1);
  step.shift.assign(channels, 0);
  if (step.layer.norm.empty()) return {};
  const auto gamma = elements(values, step.layer.norm + ".weight");
  const auto beta = elements(values, step.layer.norm + ".bias");
  if (config.norm == Norm::batch) {
    const auto mean = elements(values, step.layer.norm + ".running_mean");
    const auto variance = elements(values, step.layer.norm + ".running_var");
    for (std::size_t c = 0; c < channels; ++c) {
      const double scale = static_cast<double>(gamma[c]) / std::sqrt(static_cast<double>(variance[c]) + 1e-5);
      step.scale[c] = static_cast<float>(scale);
      step.shift[c] = static_cast<float>(static_cast<double>(beta[c]) - static_cast<double>(mean[c]) * scale);
    }
    return {};
  }
  return {.gamma = {gamma.begin(), gamma.end()},
          .beta = {beta.begin(), beta.end()},
          .together = config.norm == Norm::group ? step.channels / config.groups : 1};
}

ScratchSizes scratch_sizes(const Step& step) {
  const Index input_row = step.in.columns * step.channels, rows = step.group_rows;
  switch (step.kind) {
    case LayerKind::down:
      return {.inputs = rows * input_row};
    case LayerKind::up:
      return {.inputs = rows * input_row, .products = rows * step.in.columns * step.scale_columns * step.out.channels};
    case LayerKind::linear:
      return {.inputs = input_row};
    case LayerKind::product:
      return {};
    case LayerKind::convolution:
      break;
  }
  if (step.layer.kernel == 1) return {.inputs = step.changes_inputs() ? rows * input_row : 0};
  const Index padded = (rows + 2) * padded_columns(step) * step.channels;
  if (step.method == ConvolutionMethod::direct) {
    return {.inputs = padded, .patches = rows * step.out.columns * 9 * step.channels};
  }
  const Index tiles = rows / winograd::tile * tile_columns(step) * winograd::planes;
  return {.inputs = padded, .patches = tiles * step.channels, .products = tiles * step.out.channels};
}

std::vector<Scratch> scratch_of_workers(float* first, const ScratchSizes& sizes) {
  std::vector<Scratch> scratch;
  for (int i = 0; i < worker_limit(); ++i, first += sizes.sum()) {
    float* const patches = first + sizes.inputs;
    scratch.push_back({.inputs = first, .patches = patches, .products = patches + sizes.patches});
  }
  return scratch;
}

void run_step(Step& step, std::vector<Scratch>& scratch) {
  const Index rows = step.shared_rows(), outputs = step.out.channels;
  const Index made = step.kind == LayerKind::up ? step.scale_rows : 1;  // rows of the output for each
  parallel_for(step.bands(), 1, [&](Index first_band, Index last_band, Worker& worker) {
    for (Index band = first_band; band < last_band; ++band) {
      double* const moments = step.sums_output ? step.band_moments.data() + band * 2 * outputs : nullptr;
      if (moments != nullptr) std::fill_n(moments, 2 * outputs, 0.0);
      const Index begin = band * step.band_rows, end = std::min(rows, begin + step.band_rows);
      for (Index first = begin; first < end; first += step.group_rows) {
        const Index count = std::min(step.group_rows, end - first);
        run_group(step, first, count, first > begin, scratch[static_cast<std::size_t>(worker.index)]);
        if (moments != nullptr) {
          add_moments(output_row(step, first * made), count * made * step.out.columns, outputs, moments);
        }
      }
    }
  });
}

}  // namespace sonde::separate
