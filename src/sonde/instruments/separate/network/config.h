// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sonde/engine/base/index.h"

namespace sonde::separate {

/// Normalisation before an activation. `none` also stands for every name that the network's own program does not know.
enum class Norm { none, instance, batch, group };
enum class Activation { relu, gelu, elu };

/// What a TFC-TDF v3 network (Kim and Lee 2023, arXiv 2306.09382) is, and how its authors apply it: the numbers of a
/// YAML file in the form of Music-Source-Separation-Training. Names in quotes are those of that file.
struct Config {
  // audio
  Index sample_rate = 44100;
  Index audio_channels = 2;  ///< "num_channels" of audio
  Index n_fft = 0, hop = 0;
  Index dim_f = 0;  ///< frequencies that the network sees, the lowest of n_fft / 2 + 1
  Index chunk = 0;  ///< samples of one pass through the network, a multiple of hop

  // model
  Index subbands = 1;                         ///< "num_subbands"
  Index scales = 1;                           ///< "num_scales": halvings on the way to the bottleneck
  Index blocks = 1;                           ///< "num_blocks_per_scale"
  Index channels = 0;                         ///< "num_channels" of model, on the first level
  Index growth = 0;                           ///< more channels with each level
  Index bottleneck = 1;                       ///< "bottleneck_factor" of the layers along frequency
  Index scale_time = 2, scale_frequency = 2;  ///< "scale"
  Norm norm = Norm::none;
  Index groups = 1;  ///< of Norm::group: the number behind "GroupNorm"
  Activation activation = Activation::relu;
  double alpha = 1;  ///< of Activation::elu: the number behind "elu"

  // training
  std::vector<std::string> instruments{};
  std::string target{};  ///< "target_instrument"; empty: the network separates all instruments

  // inference
  Index overlap = 1;  ///< "num_overlap": chunks that cover a sample
  Index batch = 1;
  bool normalize = false;  ///< the mixture has mean 0 and deviation 1 before it is separated

  /// Frames of a chunk, T.
  [[nodiscard]] Index frames() const { return chunk / hop + 1; }
  /// Frequencies of a sub-band, F.
  [[nodiscard]] Index band() const { return dim_f / subbands; }
  /// Real and imaginary part of each audio channel and sub-band: the channels of the network's input.
  [[nodiscard]] Index input_channels() const { return 2 * audio_channels * subbands; }
  /// What the network separates: the target, or all instruments.
  [[nodiscard]] std::vector<std::string> stems() const;
};

/// Throws Error(bad_input), with all of them, for numbers that make no network or do not fit each other, each by its
/// field of the YAML file ("audio.chunk_size = 3967; expected a multiple of audio.hop_length = 128").
void check(const Config& config);

/// The word of the YAML file: "InstanceNorm", "GroupNorm4", "none"; "gelu", "elu0.7".
[[nodiscard]] std::string norm_name(const Config& config);
[[nodiscard]] std::string activation_name(const Config& config);
/// Sets norm and groups, or activation and alpha, from that word. Throws Error(bad_input) for an unknown activation and
/// for numbers that make none.
void set_norm(Config& config, const std::string& word);
void set_activation(Config& config, const std::string& word);

}  // namespace sonde::separate
