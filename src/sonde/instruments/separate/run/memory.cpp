// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/run/memory.h"

#include <algorithm>

namespace sonde::separate {
namespace {

std::size_t bytes_of(Index numbers) { return sizeof(float) * static_cast<std::size_t>(numbers); }

}  // namespace

MemoryPlan memory_of(const Config& config, const SeparationSettings& settings, const Plan::Bytes& network) {
  Index parameter_count = 0;
  for (const Parameter& each : parameters(config, layer_list(config))) parameter_count += each.shape.count();
  // Of a chunk the stems as they come, the sums of those that cover it, and what of them is finished.
  const DemixSettings joining = demix_settings(config, settings);
  const std::size_t stems = bytes_of(3 * joining.stems * joining.channels * joining.chunk);
  MemoryPlan memory;
  const std::size_t weights = memory.add("weights", network.weights, "as the products want them"),
                    libraries = memory.add("libraries", std::size_t{48} << 20, "OpenBLAS, audio, program");
  memory.loading_bytes =
      weights + libraries +
      memory.add("parameters", bytes_of(parameter_count), "of the checkpoint, until the weights are made");
  memory.lasting_bytes = weights + libraries +
                         memory.add("activations", network.values, "between layers, sharing memory") +
                         memory.add("scratch", network.scratch + network.spectrum, "of each thread, and spectra") +
                         memory.add("audio", bytes_for(config, settings) - stems, "what is read ahead and separated") +
                         memory.add("output", stems, "stems of a chunk, their sums, and what is finished");
  memory.peak_bytes = std::max(memory.loading_bytes, memory.lasting_bytes);
  return memory;
}

}  // namespace sonde::separate
