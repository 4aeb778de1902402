// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/network/reference.h"

#include <cmath>
#include <numbers>

#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/separate/network/spectrum.h"

namespace sonde::separate {
namespace {

double activated(const Config& config, double x) {
  switch (config.activation) {
    case Activation::relu:
      return x > 0 ? x : 0;
    case Activation::gelu:
      return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2));
    case Activation::elu:
      return x > 0 ? x : config.alpha * std::expm1(x);
  }
  return x;
}

/// y(o, r, c) += sum of w(o, i, a, b) x(i, r + a - k / 2, c + b - k / 2), zero outside.
void convolve(std::span<const float> weights, Index kernel, View<const double, 3> x, View<double, 3> y) {
  const Index rows = y.extent[1], columns = y.extent[2], half = kernel / 2;
  parallel_for(y.extent[0], 1, [&](Index first, Index last, Worker&) {
    for (Index o = first; o < last; ++o) {
      for (Index i = 0; i < x.extent[0]; ++i) {
        for (Index a = 0; a < kernel; ++a) {
          for (Index b = 0; b < kernel; ++b) {
            const double w = weights[static_cast<std::size_t>(((o * x.extent[0] + i) * kernel + a) * kernel + b)];
            for (Index r = std::max(Index{0}, half - a); r < std::min(rows, rows + half - a); ++r) {
              const double* from = &x(i, r + a - half, 0) + (b - half);
              double* to = &y(o, r, 0);
              const Index end = std::min(columns, columns + half - b);
              for (Index c = std::max(Index{0}, half - b); c < end; ++c) to[c] += w * from[c];
            }
          }
        }
      }
    }
  });
}

/// y(o, r, c) += sum of w(o, i, a, b) x(i, r height + a, c width + b).
void gather(std::span<const float> weights, Index height, Index width, View<const double, 3> x, View<double, 3> y) {
  parallel_for(y.extent[0], 1, [&](Index first, Index last, Worker&) {
    for (Index o = first; o < last; ++o) {
      for (Index i = 0; i < x.extent[0]; ++i) {
        for (Index a = 0; a < height; ++a) {
          for (Index b = 0; b < width; ++b) {
            const double w = weights[static_cast<std::size_t>(((o * x.extent[0] + i) * height + a) * width + b)];
            for (Index r = 0; r < y.extent[1]; ++r) {
              for (Index c = 0; c < y.extent[2]; ++c) y(o, r, c) += w * x(i, r * height + a, c * width + b);
            }
          }
        }
      }
    }
  });
}

/// y(o, r height + a, c width + b) += sum of w(i, o, a, b) x(i, r, c).
void scatter(std::span<const float> weights, Index height, Index width, View<const double, 3> x, View<double, 3> y) {
  parallel_for(y.extent[0], 1, [&](Index first, Index last, Worker&) {
    for (Index o = first; o < last; ++o) {
      for (Index i = 0; i < x.extent[0]; ++i) {
        for (Index a = 0; a < height; ++a) {
          for (Index b = 0; b < width; ++b) {
            const double w = weights[static_cast<std::size_t>(((i * y.extent[0] + o) * height + a) * width + b)];
            for (Index r = 0; r < x.extent[1]; ++r) {
              for (Index c = 0; c < x.extent[2]; ++c) y(o, r * height + a, c * width + b) += w * x(i, r, c);
            }
          }
        }
      }
    }
  });
}

/// y(i, r, g) += sum of w(g, f) x(i, r, f).
void along_columns(std::span<const float> weights, View<const double, 3> x, View<double, 3> y) {
  parallel_for(y.extent[0], 1, [&](Index first, Index last, Worker&) {
    for (Index i = first; i < last; ++i) {
      for (Index r = 0; r < y.extent[1]; ++r) {
        for (Index g = 0; g < y.extent[2]; ++g) {
          double sum = 0;
          for (Index f = 0; f < x.extent[2]; ++f) {
            sum += static_cast<double>(weights[static_cast<std::size_t>(g * x.extent[2] + f)]) * x(i, r, f);
          }
          y(i, r, g) += sum;
        }
      }
    }
  });
}

}  // namespace

ReferenceNetwork::ReferenceNetwork(const Config& config, const ParameterValues& values)
    : config_(config), list_(layer_list(config)), values_(values), made_(list_.values.size()) {}

View<double, 3> ReferenceNetwork::view(int index) {
  const ValueSize& size = list_.values[static_cast<std::size_t>(index)];
  return {made_[static_cast<std::size_t>(index)].data(), size.channels, size.rows, size.columns};
}

void ReferenceNetwork::normalise(const Layer& layer, View<double, 3> x) const {
  const auto gamma = elements(values_, layer.norm + ".weight"), beta = elements(values_, layer.norm + ".bias");
  constexpr double eps = 1e-5;  // of the network's own program, for every kind
  const Index channels = x.extent[0], pixels = x.extent[1] * x.extent[2];
  const Index together = config_.norm == Norm::group ? channels / config_.groups : 1;
  for (Index first = 0; first < channels; first += together) {
    double* const group = x.data + first * pixels;
    const Index count = together * pixels;
    double mean = 0, variance = 0;
    if (config_.norm == Norm::batch) {
      mean = elements(values_, layer.norm + ".running_mean")[static_cast<std::size_t>(first)];
      variance = elements(values_, layer.norm + ".running_var")[static_cast<std::size_t>(first)];
    } else {
      for (Index n = 0; n < count; ++n) mean += group[n] / static_cast<double>(count);
      for (Index n = 0; n < count; ++n) variance += (group[n] - mean) * (group[n] - mean) / static_cast<double>(count);
    }
    const double scale = 1 / std::sqrt(variance + eps);
    for (Index n = 0; n < count; ++n) {
      const auto channel = static_cast<std::size_t>(first + n / pixels);
      group[n] = (group[n] - mean) * scale * static_cast<double>(gamma[channel]) + static_cast<double>(beta[channel]);
    }
  }
}

std::vector<double> ReferenceNetwork::before(const Layer& layer) {
  std::vector<double> joined;
  Index channels = 0;
  for (const int input : layer.inputs) {
    if (input < 0) continue;
    joined.insert(joined.end(), value(input).begin(), value(input).end());
    channels += view(input).extent[0];
  }
  const auto size = view(layer.inputs[0]);
  if (!layer.norm.empty()) normalise(layer, {joined.data(), channels, size.extent[1], size.extent[2]});
  if (layer.activate) {
    for (double& x : joined) x = activated(config_, x);
  }
  return joined;
}

void ReferenceNetwork::apply(const Layer& layer) {
  auto& made = made_[static_cast<std::size_t>(layer.output)];
  const ValueSize& size = list_.values[static_cast<std::size_t>(layer.output)];
  if (layer.kind == LayerKind::product) {
    made = value(layer.inputs[0]);
    for (std::size_t n = 0; n < made.size(); ++n) made[n] *= value(layer.inputs[1])[n];
    return;
  }
  if (layer.add >= 0) {
    made = value(layer.add);
  } else {
    made.assign(static_cast<std::size_t>(size.count()), 0);
  }
  const std::vector<double> joined = before(layer);
  const ValueSize& in = list_.values[static_cast<std::size_t>(layer.inputs[0])];
  const View<const double, 3> x(joined.data(), static_cast<Index>(joined.size()) / (in.rows * in.columns), in.rows,
                                in.columns);
  const auto weights = elements(values_, layer.weight);
  const View<double, 3> y = view(layer.output);
  switch (layer.kind) {
    case LayerKind::convolution:
      convolve(weights, layer.kernel, x, y);
      break;
    case LayerKind::down:
      gather(weights, config_.scale_time, config_.scale_frequency, x, y);
      break;
    case LayerKind::up:
      scatter(weights, config_.scale_time, config_.scale_frequency, x, y);
      break;
    case LayerKind::linear:
      along_columns(weights, x, y);
      break;
    case LayerKind::product:
      break;
  }
}

std::vector<double> ReferenceNetwork::run(View<const double, 2> samples) {
  Stream stream(Device::cpu());
  auto spectrum = Spectrum<double>::prepare(config_);
  made_[0].resize(static_cast<std::size_t>(list_.values[0].count()));
  spectrum.forward(stream, samples, view(0));
  for (const Layer& layer : list_.layers) apply(layer);

  const auto out = view(static_cast<int>(list_.values.size()) - 1);
  const auto stems = static_cast<Index>(config_.stems().size());
  const Index per_stem = config_.audio_channels * config_.chunk;
  std::vector<double> separated(static_cast<std::size_t>(stems * per_stem));
  for (Index stem = 0; stem < stems; ++stem) {
    const View<const double, 3> part(&out(stem * config_.input_channels(), 0, 0), config_.input_channels(),
                                     out.extent[1], out.extent[2]);
    spectrum.inverse(stream, part, {separated.data() + stem * per_stem, config_.audio_channels, config_.chunk});
  }
  return separated;
}

}  // namespace sonde::separate
