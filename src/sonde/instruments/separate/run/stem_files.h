// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sonde/instruments/separate/audio/audio_writer.h"
#include "sonde/instruments/separate/audio/resampler.h"
#include "sonde/instruments/separate/run/outputs.h"
#include "sonde/instruments/separate/run/spool.h"

namespace sonde::separate {

/// What becomes of samples beyond -1 to 1 where the file would clip them.
enum class Clip {
  warn,      ///< they are clipped and counted
  rescale,   ///< all outputs of the file are made quieter by one factor, so that sums stay sums
  to_float,  ///< the files become floating point
};

struct StemWriteSettings {
  AudioWriteOptions file{};  ///< with the network's rate
  Clip clip = Clip::warn;
  bool keep_rate = false;  ///< written at the input's rate, as long as the input
  ResampleQuality quality = ResampleQuality::very_high;
};

/// What the stems were made of, at its own rate.
struct SourceLength {
  Index rate = 44100, samples = 0;
};

struct WrittenStems {
  struct Stem {
    double peak = 0, rms = 0;  ///< of the file
    Index clipped = 0;
  };
  std::vector<Stem> outputs;
  double gain = 1;        ///< of all outputs
  bool floating = false;  ///< in place of integers
  /// How far all stems together are from the mixture: 10 log10(|sum - mixture|^2 / |mixture|^2).
  double consistency_db = 0;
};

/// What an output is of the numbers of a spool, after any of its passes (as for write_stems()): factors of those of one
/// channel, the mixture, then each stem.
[[nodiscard]] std::vector<double> factors_of(const Output& output, const Spool& spool, Index passes, double gain = 1);
/// That output of what Spool::read() gave: all channels of each sample, one after the other, to `samples`.
void sum_stems(const std::vector<float>& frames, const Spool& spool, const std::vector<double>& factors,
               float* samples);

/// Writes the outputs of a spool after any of its passes, whose stems are means or the sums of `passes` passes, to
/// `paths`. They appear when all of them are complete. Checks for interrupts. Throws what AudioWriter throws.
[[nodiscard]] WrittenStems write_stems(const Spool& spool, Index passes, const std::vector<Output>& outputs,
                                       const std::vector<std::string>& paths, const SourceLength& source,
                                       const StemWriteSettings& settings);

}  // namespace sonde::separate
