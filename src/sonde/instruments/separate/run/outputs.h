// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sonde/instruments/separate/audio/audio_writer.h"

namespace sonde::separate {

/// One file that is written: a sum of stems and of the mixture.
struct Output {
  std::string name;
  std::vector<double> stems;  ///< factor of each stem of the network
  double mixture = 0;         ///< factor of what was separated
};

/// The outputs that are asked for: the stems of `names` ("kick, snare"; empty: all), then one for each of `mixes`
/// ("drumless = mixture - drums", "cymbals = ride + crash"). Names are compared without case. Throws Error(bad_input)
/// for unknown names (with the nearest), for a mix that is no sum, and for two outputs of one name.
[[nodiscard]] std::vector<Output> choose_outputs(const std::vector<std::string>& stems, const std::string& names,
                                                 const std::vector<std::string>& mixes);

/// Where an output goes: `pattern` below `folder`, with {file} the input's name without ending, {stem} the output's and
/// {model} the checkpoint's; a slash makes folders. Of names only letters, digits, dots, underscores, hyphens and
/// blanks are kept, and no dot in front. Throws Error(bad_input) for other words in braces and for a pattern that
/// leaves the folder.
[[nodiscard]] std::string output_path(const std::string& folder, const std::string& pattern, const std::string& input,
                                      const std::string& model, const std::string& stem, AudioFormat format);

}  // namespace sonde::separate
