// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/instruments/separate/score/bss_eval.h"
#include "sonde/instruments/separate/score/ratios.h"

namespace sonde::separate {

/// A true stem and what was made of it.
struct StemPair {
  std::string name, reference, estimate;
};

struct StemPairs {
  std::vector<StemPair> pairs;                             ///< in the order of their names
  std::optional<std::string> mixture;                      ///< of the stems
  std::vector<std::string> only_reference, only_estimate;  ///< files that nothing is compared with
};

/// Two files, or the audio files of two folders whose names without ending are equal but for case. A file `mixture`
/// among the references is the mixture. Throws Error(bad_input) for a file and a folder, where no names are equal (with
/// those that are there), and for two files of one name in a folder.
[[nodiscard]] StemPairs pair_stems(const std::string& references, const std::string& estimates);

/// What becomes of stems of other lengths.
enum class Lengths { refuse, shortest };

/// As what all files are read.
struct CommonAudio {
  Index rate = 0, channels = 0, samples = 0;
};

/// The sample rate that all files have, unless `rate` says to which they are resampled; the largest number of channels,
/// a single one being put into each; and the length that all have, or the shortest. Throws Error(bad_input) naming the
/// file that differs, and what AudioReader throws.
[[nodiscard]] CommonAudio common_audio(const StemPairs& pairs, std::optional<Index> rate, Lengths lengths);

struct ScoreSettings {
  Frames frames{};  ///< of framewise scores
  bool bss_eval = false;
};

/// The parts of BSS-Eval in dB.
struct BssScore {
  double sdr_db = 0, sir_db = 0, sar_db = 0;
};

struct StemScore {
  std::string name;
  double sdr_db = 0, si_sdr_db = 0;
  std::vector<double> frames_sdr_db{};     ///< framewise_sdr_db()
  std::optional<double> mixture_sdr_db{};  ///< of the mixture taken as the estimate
  std::optional<BssScore> bss{};           ///< of the means of the channels, Pairing::best
  std::string bss_estimate{};              ///< the stem whose estimate that pairing takes
  std::vector<BssScore> bss_frames{};      ///< framewise_bss_eval() of the same
};

/// Scores of every pair, in order.
[[nodiscard]] std::vector<StemScore> score_stems(const StemPairs& pairs, const CommonAudio& audio,
                                                 const ScoreSettings& settings);
/// The memory that score_stems() takes.
[[nodiscard]] std::size_t score_bytes(const StemPairs& pairs, const CommonAudio& audio, const ScoreSettings& settings);

}  // namespace sonde::separate
