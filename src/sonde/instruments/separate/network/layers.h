// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/base/index.h"
#include "sonde/instruments/separate/network/config.h"

namespace sonde::separate {

/// An array between two layers: (channels, rows, columns). Rows are frames and columns frequencies throughout; where
/// the network's own program has them the other way round, nothing but the names of axes changes.
struct ValueSize {
  Index channels = 0, rows = 0, columns = 0;
  [[nodiscard]] Index count() const { return channels * rows * columns; }
};

/// How a layer's weights act.
enum class LayerKind {
  convolution,  ///< kernel x kernel, stride 1, zeros around: weights (out, in, kernel, kernel)
  down,         ///< kernel = stride = (scale_time, scale_frequency): weights (out, in, scale_time, scale_frequency)
  up,           ///< its transpose: weights (in, out, scale_time, scale_frequency)
  linear,       ///< along the columns, equal for all channels and rows: weights (columns out, columns in)
  product,      ///< element by element of its two inputs; no weights
};

/// output = weights * act(norm(inputs)) + add. Nothing has a bias.
struct Layer {
  LayerKind kind = LayerKind::convolution;
  std::string stage{};   ///< of the report: "encoder0", "down0", "bottleneck", "up0", "decoder0", "first", "final"
  std::string weight{};  ///< the parameter's full name
  std::string norm{};    ///< its parameters are norm + ".weight" and so on; empty: no normalisation
  bool activate = false;
  std::array<int, 2> inputs{-1, -1};  ///< values, one after the other on channels; the second may be absent (-1)
  int add = -1;                       ///< value, or -1
  int output = -1;
  Index kernel = 1;  ///< of a convolution
};

/// The network as data: values are made once, by the layers in their order. Value 0 is the input (input_channels,
/// frames, band), the last value the output (stems * input_channels, frames, band).
struct LayerList {
  std::vector<ValueSize> values;
  std::vector<Layer> layers;
};

/// The layers of TFC-TDF v3 (Kim and Lee 2023, arXiv 2306.09382). `config` has passed check().
[[nodiscard]] LayerList layer_list(const Config& config);

/// Multiplications with weights in one pass through a layer, and through all layers.
[[nodiscard]] double multiplications(const LayerList& list, const Layer& layer);
[[nodiscard]] double multiplications(const LayerList& list);

/// One array of the checkpoint.
struct Parameter {
  std::string name;
  Shape shape;
  std::string field;  ///< of the YAML file, by which its shape is decided: "model.num_channels"
};

/// All that a checkpoint must hold, in the order of the layers; with Norm::batch also `running_mean` and `running_var`.
[[nodiscard]] std::vector<Parameter> parameters(const Config& config, const LayerList& list);

/// Values by full name: float32, contiguous, C order, on the host.
using ParameterValues = std::map<std::string, Array, std::less<>>;
/// Those of one parameter, which `values` has.
[[nodiscard]] std::span<const float> elements(const ParameterValues& values, const std::string& name);

/// Values made from their names and a seed only, so that a network of any size is the same on every machine: bits of
/// splitmix64 (Steele, Lea and Flood 2014) from the FNV-1a hash of the name, scaled so that variances stay near one.
[[nodiscard]] Array formula_values(const Parameter& parameter, std::uint64_t seed);
[[nodiscard]] ParameterValues formula_values(const Config& config, std::uint64_t seed);

}  // namespace sonde::separate
