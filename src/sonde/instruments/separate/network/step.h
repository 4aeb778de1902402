// SPDX-License-Identifier: Apache-2.0
// Private to the room: one layer as it runs.
#pragma once

#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/instruments/separate/network/layers.h"
#include "sonde/instruments/separate/network/plan.h"

namespace sonde::separate {

/// The memory of one worker, for whatever layer it works on.
struct Scratch {
  float* inputs = nullptr;    ///< rows of activated inputs
  float* patches = nullptr;   ///< what the products read, where that is not the inputs
  float* products = nullptr;  ///< what they give, where that is not the output
};

struct ScratchSizes {
  Index inputs = 0, patches = 0, products = 0;
  void cover(const ScratchSizes& other);
  [[nodiscard]] Index sum() const { return inputs + patches + products; }
};

struct StepTime {
  double last_s = 0, total_s = 0;
  Index calls = 0;
  void add(double seconds) { last_s = seconds, total_s += seconds, ++calls; }
};

/// An input of a layer: (rows, columns, channels).
struct Input {
  const float* data = nullptr;
  Index channels = 0;
};

/// A layer with its weights, and what changes with each run.
struct Step {
  Layer layer;
  LayerKind kind = LayerKind::convolution;
  ConvolutionMethod method = ConvolutionMethod::direct;  ///< of 3 x 3 convolutions
  Activation activation = Activation::relu;
  float alpha = 1;
  ValueSize in, out;                        ///< `in` of the first input
  Index channels = 0;                       ///< of all inputs
  Index scale_rows = 1, scale_columns = 1;  ///< of down and up
  Index group_rows = 1;                     ///< rows that one product takes: of the output, of `up` those of the input
  Index band_rows = 1;                      ///< rows that a worker takes, a multiple of group_rows
  Array weights;                            ///< as the method wants them (WeightShape)
  bool in_panels = true;                    ///< weights are Panels, but for `linear`; else row after row
  std::vector<Input> inputs;
  float* output = nullptr;
  std::vector<float> scale, shift;   ///< (channels): the norm; empty without norm and activation
  bool sums_output = false;          ///< a later norm needs the moments of the output
  std::vector<double> band_moments;  ///< (bands, 2, output channels)
  StepTime time{};

  /// Whether products read something else than the inputs themselves.
  [[nodiscard]] bool changes_inputs() const { return !layer.norm.empty() || layer.activate; }
  [[nodiscard]] bool tiled() const { return layer.kernel == 3 && method == ConvolutionMethod::winograd; }
  [[nodiscard]] Index shared_rows() const { return kind == LayerKind::up ? in.rows : out.rows; }
  [[nodiscard]] Index bands() const { return (shared_rows() + band_rows - 1) / band_rows; }
};

/// "product", "direct" or "winograd".
[[nodiscard]] const char* method_name(const Step& step);

/// A norm that looks at the values (not at running statistics), and what it needs of them; empty without one.
struct NormOfStep {
  std::vector<float> gamma, beta;
  Index together = 1;  ///< channels with one mean and deviation
};

/// A layer by its sizes: method, groups and bands are chosen.
[[nodiscard]] Step shaped_step(const Layer& layer, const LayerList& list, const Config& config,
                               ConvolutionMethod method);
/// Numbers of its weights as the method wants them.
[[nodiscard]] Index weight_count(const Step& step);

/// Weights as matrices, one behind the other.
struct WeightShape {
  Index matrices = 1, inner = 0, outer = 0;
  [[nodiscard]] Index count(bool panels) const;  ///< of all numbers
};
[[nodiscard]] WeightShape weight_shape(const Step& step);
/// Takes and fills the memory of the weights.
void pack_weights(Step& step, const ParameterValues& values);
/// Sets the scale and shift of a step that changes its inputs: those of running statistics, else ones and zeros.
[[nodiscard]] NormOfStep prepare_norm(Step& step, const Config& config, const ParameterValues& values);
[[nodiscard]] ScratchSizes scratch_sizes(const Step& step);
/// That of all workers, one behind the other from `first` on.
[[nodiscard]] std::vector<Scratch> scratch_of_workers(float* first, const ScratchSizes& sizes);
/// The whole layer, bands in parallel.
void run_step(Step& step, std::vector<Scratch>& scratch);

}  // namespace sonde::separate
