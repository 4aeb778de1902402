// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "sonde/instruments/separate/network/layers.h"
#include "sonde/instruments/separate/network/network.h"

namespace sonde::separate {

/// How 3 x 3 convolutions are computed in float32.
enum class ConvolutionMethod {
  automatic,  ///< by the rule of choose_method()
  direct,     ///< one matrix product of patches and weights
  winograd,   ///< 36 smaller ones (winograd.h): a quarter of the multiplications, four times the weights
};

struct PlanOptions {
  ConvolutionMethod method = ConvolutionMethod::automatic;
  std::vector<ConvolutionMethod> methods{};  ///< of each layer of the list; empty: `method` for all
  [[nodiscard]] ConvolutionMethod of(std::size_t layer) const { return methods.empty() ? method : methods[layer]; }
};

/// The network in float32 on the CPU, prepared for one configuration: weights in the form that its products want, all
/// memory taken. Every layer is a matrix product (OpenBLAS, one thread) on the pixels of some rows, between what its
/// norm and activation make of its inputs and what becomes of its output; rows are shared out to the workers.
///
/// Results are the same bits for every number of threads: what is computed together, and the order of sums, is decided
/// when the plan is made. One run at a time.
class Plan : public Network {
 public:
  /// `values` holds all of parameters(config, layer_list(config)) and is not needed afterwards.
  static Plan prepare(const Config& config, const ParameterValues& values, const PlanOptions& options = {});
  Plan(Plan&&) noexcept;
  Plan& operator=(Plan&&) noexcept;
  ~Plan() override;

  void run(View<const float, 2> samples, View<float, 3> stems) override;
  [[nodiscard]] std::vector<Time> times() const override;

  struct Bytes {
    std::size_t weights = 0, values = 0, scratch = 0, spectrum = 0;
    [[nodiscard]] std::size_t sum() const { return weights + values + scratch + spectrum; }
  };
  [[nodiscard]] Bytes bytes() const;
  /// The same before a plan is made, on as many threads as now.
  [[nodiscard]] static Bytes bytes_for(const Config& config, const PlanOptions& options = {});

  /// What value `index` of the layer list, (rows, columns, channels), was computed to be: of the last run of a plan
  /// that was made with prepare_to_look(), which lets no value take the place of another.
  [[nodiscard]] View<const float, 3> value(int index) const;
  static Plan prepare_to_look(const Config& config, const ParameterValues& values, const PlanOptions& options = {});

 private:
  struct Parts;
  explicit Plan(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace sonde::separate
