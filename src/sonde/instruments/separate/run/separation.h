// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sonde/instruments/separate/audio/audio_reader.h"
#include "sonde/instruments/separate/audio/audio_writer.h"
#include "sonde/instruments/separate/demix/demixer.h"
#include "sonde/instruments/separate/network/plan.h"
#include "sonde/instruments/separate/run/outputs.h"

namespace sonde::separate {

/// One file and what is made of it.
struct SeparationTask {
  std::string input;
  std::vector<Output> outputs{};
  std::vector<std::string> paths{};  ///< of each output
};

struct SeparationSettings {
  AudioReadOptions reading{};
  AudioWriteOptions writing{};
  Index overlap = 1;
  Policy policy = Policy::fade;
};

/// What was heard while a file was separated.
struct SeparationResult {
  struct Written {
    double peak = 0, rms = 0;
    Index clipped = 0;
  };
  AudioInfo input;
  Index samples = 0;  ///< of each channel, at the network's rate
  Index chunks = 0, unweighted = 0, zeroed = 0;
  std::vector<Written> outputs;
  /// How far all stems together are from the mixture: 10 log10(|sum - mixture|^2 / |mixture|^2).
  double consistency_db = 0;
  double network_s = 0, first_chunk_s = 0;
};

/// How a network joins its chunks in this run.
[[nodiscard]] DemixSettings demix_settings(const Config& config, const SeparationSettings& settings);

/// Separates one file in pieces, with memory that does not depend on its length. Folders are made; files appear when
/// all of them are complete. Checks for interrupts after every chunk. Throws what reader and writer throw.
[[nodiscard]] SeparationResult separate_file(const SeparationTask& task, const SeparationSettings& settings,
                                             const Config& config, Plan& plan);

}  // namespace sonde::separate
