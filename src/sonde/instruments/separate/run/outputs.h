// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace sonde::separate {

/// One file that is written: a sum of stems and of the mixture.
struct Output {
  std::string name;
  std::vector<double> stems;  ///< factor of each stem of the network
  double mixture = 0;         ///< factor of what was separated
};

/// Outputs beside the stems.
struct Sums {
  std::vector<std::string> mixes{};      ///< "drumless = mixture - drums", "cymbals = ride + crash"
  std::vector<std::string> residuals{};  ///< "drums": no_drums, the mixture without it; "all": residual, without all
};

/// The outputs that are asked for: the stems of `names` ("kick, snare"; empty: all), then `sums`. Names are compared
/// without case. Names and sums that are not of this network are ignored where all of their stems are among `others`,
/// those of another network of the same run. Throws Error(bad_input) for unknown names (with the nearest), for a mix
/// that is no sum, and for two outputs of one name.
[[nodiscard]] std::vector<Output> choose_outputs(const std::vector<std::string>& stems, const std::string& names = "",
                                                 const Sums& sums = {}, const std::vector<std::string>& others = {});

/// The output of that name, without case. Throws Error(bad_input), beginning with `where`, for another name.
[[nodiscard]] Output output_named(const std::vector<Output>& outputs, const std::string& name,
                                  const std::string& where);

/// What the words of a pattern stand for.
struct PathWords {
  std::string file{};   ///< {file}: its name without ending
  std::string dir{};    ///< {dir}: folders, "a/b" or empty
  std::string model{};  ///< {model}: its name without ending
  std::string stem{};   ///< {stem}
};

/// Where an output goes, without ending: `pattern` below `folder` with its words replaced; a slash makes folders. Of
/// names only letters, digits, dots, underscores, hyphens and blanks are kept, and no dot in front. Throws
/// Error(bad_input) for other words in braces and for a pattern that leaves the folder.
[[nodiscard]] std::string output_path(const std::string& folder, const std::string& pattern, const PathWords& words);

/// A file that is separated, and where it was found.
struct FoundInput {
  std::string path;
  std::string dir{};  ///< of a file in a named folder: the folders between, "a/b"
};

/// The named files, and of named folders the audio files in them (`recursive`: and below), by name. Throws
/// Error(bad_input) for a folder without any.
[[nodiscard]] std::vector<FoundInput> find_inputs(const std::vector<std::string>& names, bool recursive);

}  // namespace sonde::separate
