// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "sonde/engine/device/device.h"
#include "sonde/engine/math/dense/batched.h"
#include "sonde/instruments/separate/network/plan.h"

namespace sonde::separate {

struct DevicePlanOptions {
  ConvolutionMethod method = ConvolutionMethod::automatic;
  dense::FloatProducts products = dense::FloatProducts::f32;
  /// Numbers that products read and write at a time where these are no values of the network: 256 MiB of them.
  Index scratch = Index{1} << 26;
};

/// The network on a GPU: the layers of Plan, each as products by cuBLAS between kernels that gather its inputs, with
/// norm and activation, and those that spread its output. Samples go in and come out, everything between stays there;
/// values, sums and Fourier transforms are float32 and the moments of norms float64. All memory is taken when the plan
/// is made, and the work is replayed as a graph.
///
/// One chunk at a time, whatever the batch, so that results do not depend on it; the same bits in every run on one kind
/// of device. On the CPU one thread plays the kernels, for tests. One run at a time.
class DevicePlan : public Network {
 public:
  /// `values` holds all of parameters(config, layer_list(config)) and is not needed afterwards. Runs two chunks of
  /// silence: the first loads what the libraries need, the second is measured. Throws Error(budget) where the device
  /// has no memory for it.
  static DevicePlan prepare(Device device, const Config& config, const ParameterValues& values,
                            const DevicePlanOptions& options = {});
  DevicePlan(DevicePlan&&) noexcept;
  DevicePlan& operator=(DevicePlan&&) noexcept;
  ~DevicePlan() override;

  void run(View<const float, 2> samples, View<float, 3> stems) override;
  /// The seconds of each layer are those of the measured chunk of silence, in `total_s` once for each run.
  [[nodiscard]] std::vector<Time> times() const override;

  struct Bytes {
    std::size_t weights = 0, values = 0, scratch = 0, spectrum = 0, library = 0;  ///< on the device
    std::size_t host = 0;                                                         ///< for copies to and from it
    [[nodiscard]] std::size_t on_device() const { return weights + values + scratch + spectrum + library; }
  };
  [[nodiscard]] const Bytes& bytes() const;
  /// The same before a plan is made; of cuFFT's workspace an estimate.
  [[nodiscard]] static Bytes bytes_for(Device device, const Config& config, const DevicePlanOptions& options = {});

  /// As of Plan, copied to the host.
  [[nodiscard]] std::vector<float> value(int index) const;
  static DevicePlan prepare_to_look(Device device, const Config& config, const ParameterValues& values,
                                    const DevicePlanOptions& options = {});

 private:
  struct Parts;
  explicit DevicePlan(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace sonde::separate
