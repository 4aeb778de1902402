// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sonde/engine/array/view.h"
#include "sonde/instruments/separate/network/layers.h"

namespace sonde::separate {

/// The network in float64 by plain loops: what every faster path is compared with. Takes minutes where that takes
/// seconds, and memory for every value.
class ReferenceNetwork {
 public:
  /// `values` holds all of parameters(config, layer_list(config)).
  ReferenceNetwork(const Config& config, const ParameterValues& values);

  /// One chunk (audio channels, chunk) to (stems, audio channels, chunk).
  [[nodiscard]] std::vector<double> run(View<const double, 2> samples);
  /// Value `index` of the layer list (channels, frames, band) in the last run.
  [[nodiscard]] const std::vector<double>& value(int index) const { return made_[static_cast<std::size_t>(index)]; }
  [[nodiscard]] const LayerList& layers() const { return list_; }

 private:
  [[nodiscard]] View<double, 3> view(int index);
  /// The inputs of a layer, joined, normalised and activated.
  [[nodiscard]] std::vector<double> before(const Layer& layer);
  void normalise(const Layer& layer, View<double, 3> x) const;
  void apply(const Layer& layer);

  Config config_;
  LayerList list_;
  const ParameterValues& values_;
  std::vector<std::vector<double>> made_;
};

}  // namespace sonde::separate
