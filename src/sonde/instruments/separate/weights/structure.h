// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sonde/instruments/separate/network/config.h"
#include "sonde/instruments/separate/weights/checkpoint.h"

namespace sonde::separate {

/// Throws Error(not_supported) when the checkpoint is that of another kind of network, by its name where its tensors
/// are known (RoFormer, Demucs, ConvTDFNet of MDX-Net), and Error(bad_file) when it is none at all.
void require_tfc_tdf(const Checkpoint& checkpoint);

/// What the shapes of the checkpoint's tensors decide and the configuration says otherwise: channels, growth, scales,
/// blocks, bottleneck factor, frequencies, sub-bands times audio channels, number of stems, and whether there is a
/// normalisation. Each is a sentence with the field, the tensor and both values; empty: they agree. n_fft, hop, chunk,
/// activation and InstanceNorm against GroupNorm do not follow from shapes. require_tfc_tdf() has passed.
[[nodiscard]] std::vector<std::string> contradictions(const Config& config, const Checkpoint& checkpoint);

/// A configuration that is known by its name.
struct KnownConfig {
  std::string name;
  Config config;          ///< without instruments where their order is not known
  std::size_t stems = 0;  ///< how many
};
/// Published TFC-TDF v3 networks.
[[nodiscard]] const std::vector<KnownConfig>& known_configs();

}  // namespace sonde::separate
