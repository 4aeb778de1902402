// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "sonde/instruments/separate/audio/audio_reader.h"

namespace sonde::separate {

/// What becomes of one sample of several estimates of a stem.
enum class Blend {
  mean,
  median,
  smallest,  ///< the sample of least magnitude
  largest,   ///< the sample of greatest magnitude
};

/// A value with the weight that it counts with: in the mean, and in the median, which half of all weight is below and
/// half above (the mean of the two nearest where that is between them). `order` is space for as many numbers.
[[nodiscard]] float blended(Blend how, std::span<const float> values, std::span<const double> weights,
                            std::vector<std::size_t>& order);

/// The files of one stem, and what they become.
struct EnsembleTask {
  std::string stem;
  std::vector<std::string> paths{};  ///< one of each folder
  std::string output{};
};

/// What EnsembleTask needs of audio files in `folders`: a stem for each name, without ending and case, that all of them
/// have; of others those names are added to `left_out`. Names are those of the first folder.
[[nodiscard]] std::vector<EnsembleTask> ensemble_tasks(const std::vector<std::string>& folders,
                                                       const std::string& output, std::vector<std::string>& left_out);

/// What the files of a task are alike in. Throws Error(bad_input), naming two files, where they have other rates,
/// lengths or channels.
[[nodiscard]] AudioInfo require_alike(const EnsembleTask& task);

/// What blend_files() holds of so many files, whatever their length.
[[nodiscard]] std::size_t blend_bytes(std::size_t files, const AudioInfo& info);

/// Blends the files sample by sample, in pieces, to a WAV file of float32. Returns the largest magnitude.
double blend_files(const EnsembleTask& task, Blend how, std::span<const double> weights);

}  // namespace sonde::separate
