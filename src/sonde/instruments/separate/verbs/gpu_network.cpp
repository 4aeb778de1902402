// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/verbs/gpu_network.h"

#include <fmt/format.h>

namespace sonde::separate {

GpuNetwork plan_on_gpu(const Config& config, Precision precision, Run& run, const std::string& whose) {
  const Device device = run.device();
  const auto products = precision == Precision::tf32 ? dense::FloatProducts::tf32 : dense::FloatProducts::f32;
  const std::size_t limit = run.budget().available_bytes();
  DevicePlanOptions options;
  DevicePlan::Bytes bytes;
  for (const auto method : {ConvolutionMethod::automatic, ConvolutionMethod::direct}) {
    for (const Index scratch : {Index{1} << 26, Index{1} << 23}) {
      options = {.method = method, .products = products, .scratch = scratch};
      bytes = DevicePlan::bytes_for(device, config, options);
      if (bytes.on_device() <= limit) break;
    }
    if (bytes.on_device() <= limit) break;
  }
  const bool first = options.method == ConvolutionMethod::automatic;
  run.report().add_choice("convolutions" + whose,
                          fmt::format("{}, in pieces of {} MiB", first ? "by Winograd's transforms" : "direct",
                                      (sizeof(float) * static_cast<std::size_t>(options.scratch)) >> 20),
                          first ? "where a layer has 256 tiles or more" : "transforms would not fit the GPU's memory");
  GpuNetwork made{.options = options, .host_bytes = bytes.host};
  MemoryPlan& memory = made.memory;
  memory.peak_bytes = memory.add("weights", bytes.weights, "as the products want them") +
                      memory.add("values", bytes.values, "between layers, sharing memory") +
                      memory.add("pieces", bytes.scratch, "what products read and give, sums of norms") +
                      memory.add("spectra", bytes.spectrum, "all channels, samples in and out") +
                      memory.add("cuBLAS", bytes.library, "its workspace");
  memory.loading_bytes = memory.lasting_bytes = memory.peak_bytes;
  return made;
}

}  // namespace sonde::separate
