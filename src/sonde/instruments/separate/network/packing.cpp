// SPDX-License-Identifier: Apache-2.0
// Weights from the order of the checkpoint into that of the products: done once, for 400 MB of a full-size network,
// while the user waits for the first chunk.
#include <algorithm>
#include <span>

#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/separate/network/panels.h"
#include "sonde/instruments/separate/network/step.h"
#include "sonde/instruments/separate/network/winograd.h"

namespace sonde::separate {
namespace {

// Inputs and outputs that are exchanged together: what they read stays in the first-level cache, and every line of the
// cache is written as a whole.
constexpr Index exchanged_together = 16;
static_assert(panel_columns % exchanged_together == 0);

/// (out, in, taps) as (taps, in, out).
void exchange(std::span<const float> from, Index in, Index out, Index taps, const MatrixPlaces& places, float* to) {
  parallel_for(in, exchanged_together, [&](Index first, Index last, Worker&) {
    for (Index o = 0; o < out; o += exchanged_together) {
      const Index count = std::min(exchanged_together, out - o);
      for (Index i = first; i < last; ++i) {
        for (Index t = 0; t < taps; ++t) {
          const float* source = from.data() + (o * in + i) * taps + t;
          float* const target = to + places.of(t * in + i, o);
          for (Index c = 0; c < count; ++c) target[c] = source[c * in * taps];
        }
      }
    }
  });
}

/// (in, out, a, b) as (a, in, b, out).
void exchange_up(std::span<const float> from, const Step& step, const MatrixPlaces& places, float* to) {
  const Index out = step.out.channels, height = step.scale_rows, width = step.scale_columns;
  parallel_for(step.channels, exchanged_together, [&](Index first, Index last, Worker&) {
    for (Index i = first; i < last; ++i) {
      for (Index a = 0; a < height; ++a) {
        for (Index b = 0; b < width; ++b) {
          const float* source = from.data() + (i * out * height + a) * width + b;
          float* const target = to + a * places.count;
          for (Index o = 0; o < out; ++o) target[places.of(i, b * out + o)] = source[o * height * width];
        }
      }
    }
  });
}

}  // namespace

void pack_weights(Step& step, const ParameterValues& values) {
  if (step.kind == LayerKind::product) return;
  const auto from = elements(values, step.layer.weight);
  step.weights = Array(Device::cpu(), {weight_count(step)}, DType::f32);
  auto* const to = static_cast<float*>(step.weights.data());
  const WeightShape shape = weight_shape(step);
  const MatrixPlaces places = step.in_panels ? in_panels(shape.inner, shape.outer) : in_rows(shape.inner, shape.outer);
  if (shape.outer % panel_columns != 0) std::fill_n(to, step.weights.count(), 0.0F);
  if (step.tiled()) {
    winograd::transform_weights(from, step.out.channels, step.channels, places, to);
  } else if (step.kind == LayerKind::linear) {
    std::copy(from.begin(), from.end(), to);
  } else if (step.kind == LayerKind::up) {
    exchange_up(from, step, places, to);
  } else {
    const Index taps = step.kind == LayerKind::convolution ? step.layer.kernel * step.layer.kernel
                                                           : step.scale_rows * step.scale_columns;
    exchange(from, step.channels, step.out.channels, taps, places, to);
  }
}

}  // namespace sonde::separate
