// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/weights/structure.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "sonde/engine/base/error.h"

namespace sonde::separate {
namespace {

const StoredTensor* find(const Checkpoint& checkpoint, const std::string& name) {
  const auto at = checkpoint.tensors.find(name);
  return at == checkpoint.tensors.end() ? nullptr : &at->second;
}

/// How many of prefix + "0", prefix + "1", ... begin the names of tensors, without a gap.
Index count_of(const Checkpoint& checkpoint, const std::string& prefix) {
  Index count = 0;
  for (;; ++count) {
    const std::string begin = fmt::format("{}{}.", prefix, count);
    const auto at = checkpoint.tensors.lower_bound(begin);
    if (at == checkpoint.tensors.end() || !at->first.starts_with(begin)) return count;
  }
}

/// Compares fields of a configuration with axes of tensors.
class Comparison {
 public:
  explicit Comparison(const Checkpoint& checkpoint) : checkpoint_(checkpoint) {}

  void counts(const char* field, Index value, const std::string& prefix) {
    const Index found = count_of(checkpoint_, prefix);
    if (found != value) say(fmt::format("{} = {}, but the checkpoint has {} of {}*", field, value, found, prefix));
  }
  /// An axis of a tensor against the size that the fields make; `unit` of the axis is one of the field.
  void axis(const char* field, Index value, const std::string& tensor, int axis, Index unit = 1) {
    const StoredTensor* stored = find(checkpoint_, tensor);
    if (stored == nullptr || stored->shape.rank() <= axis) return;  // match() names it
    const Index found = stored->shape[axis];
    if (found == value * unit) return;
    say(found % unit == 0 ? fmt::format("{} = {}, but {} of shape {} needs {}", field, value, tensor,
                                        stored->shape.text(), found / unit)
                          : fmt::format("{} = {}, but {} has shape {}", field, value, tensor, stored->shape.text()));
  }
  void say(std::string text) { found_.push_back(std::move(text)); }
  std::vector<std::string> found() { return std::move(found_); }

 private:
  const Checkpoint& checkpoint_;
  std::vector<std::string> found_;
};

Config drum_network(Index chunk, std::vector<std::string> instruments) {
  return {.n_fft = 2048,
          .hop = 512,
          .dim_f = 1024,
          .chunk = chunk,
          .subbands = 4,
          .scales = 5,
          .blocks = 2,
          .channels = 128,
          .growth = 128,
          .bottleneck = 4,
          .norm = Norm::instance,
          .activation = Activation::gelu,
          .instruments = std::move(instruments),
          .overlap = 4};
}

std::vector<KnownConfig> published() {
  std::vector<KnownConfig> all;
  all.push_back(
      {"the drum network of five stems", drum_network(523776, {"kick", "snare", "toms", "hh", "cymbals"}), 5});
  all.push_back(
      {"the drum network of six stems", drum_network(130560, {"Kick", "Snare", "Toms", "Hh", "Ride", "Crash"}), 6});
  Config full_band = drum_network(261120, {"vocals", "bass", "drums", "other"});
  full_band.n_fft = 8192, full_band.hop = 1024, full_band.dim_f = 4096;
  all.push_back({"the full-band network of four stems", full_band, 4});
  Config first = drum_network(260096, {});
  first.n_fft = 12288, first.hop = 2048, first.dim_f = 6144, first.subbands = 6, first.growth = 64;
  all.push_back({"the first full-band network of two stems", first, 2});
  Config film = drum_network(261120, {});
  film.hop = 1024, film.channels = 64, film.growth = 64;
  all.push_back({"the network for music, speech and effects", film, 3});
  return all;
}

}  // namespace

void require_tfc_tdf(const Checkpoint& checkpoint) {
  const auto any = [&](auto&& of_name) {
    return std::any_of(checkpoint.tensors.begin(), checkpoint.tensors.end(),
                       [&](const auto& each) { return of_name(std::string_view(each.first)); });
  };
  const auto begins = [&](std::string_view prefix) {
    return any([&](std::string_view name) { return name.starts_with(prefix); });
  };
  if (begins("first_conv.weight") || begins("encoder_blocks.") || begins("bottleneck_block.") ||
      checkpoint.others.contains("first_conv.weight"))
    return;
  const bool of_demucs =
      begins("crosstransformer.") || begins("tencoder.") || begins("encoder.0.conv.") || begins("models.0.encoder.");
  const char* const found = begins("band_split.to_features.") || begins("mask_estimators.") ? "RoFormer"
                            : of_demucs                                                     ? "Demucs"
                            : begins("first_conv.0.") || begins("encoding_blocks.")         ? "ConvTDFNet (MDX-Net)"
                            : begins("bandsplit") || begins("sd.")                          ? "SCNet"
                                                                                            : nullptr;
  if (found == nullptr)
    throw Error(ErrorKind::bad_file,
                fmt::format("{}: its {} tensors are not those of a TFC-TDF v3 network (MDX23C): first_conv.weight is "
                            "missing",
                            checkpoint.path, checkpoint.tensors.size()));
  throw Error(ErrorKind::not_supported,
              fmt::format("{}: is a checkpoint of {}; supported: MDX23C (TFC-TDF v3)", checkpoint.path, found))
      .hint("use the program that the network was made for, or an MDX23C checkpoint");
}

std::vector<std::string> contradictions(const Config& config, const Checkpoint& checkpoint) {
  Comparison comparison(checkpoint);
  comparison.counts("model.num_scales", config.scales, "encoder_blocks.");
  comparison.counts("model.num_blocks_per_scale", config.blocks, "bottleneck_block.blocks.");
  comparison.axis("model.num_channels", config.channels, "first_conv.weight", 0);
  comparison.axis("audio.num_channels x model.num_subbands", config.audio_channels * config.subbands,
                  "first_conv.weight", 1, 2);
  const std::string down = "encoder_blocks.0.downscale.conv.2.weight";
  if (const StoredTensor* stored = find(checkpoint, down); stored != nullptr && stored->shape.rank() == 4) {
    const Index growth = stored->shape[0] - stored->shape[1];
    if (growth != config.growth)
      comparison.say(fmt::format("model.growth = {}, but {} of shape {} needs {}", config.growth, down,
                                 stored->shape.text(), growth));
    comparison.axis("model.scale, first,", config.scale_time, down, 2);
    comparison.axis("model.scale, second,", config.scale_frequency, down, 3);
  }
  Index deepest = config.band();
  for (Index i = 0; i < config.scales; ++i) deepest /= config.scale_frequency;
  const std::string narrow = "bottleneck_block.blocks.0.tdf.2.weight";
  if (const StoredTensor* stored = find(checkpoint, narrow); stored != nullptr && stored->shape.rank() == 2) {
    if (stored->shape[1] != deepest)
      comparison.say(fmt::format("audio.dim_f / model.num_subbands = {}, which {} scales make {}, but {} has shape {}",
                                 config.band(), config.scales, deepest, narrow, stored->shape.text()));
    else if (stored->shape[0] != deepest / config.bottleneck)
      comparison.say(fmt::format("model.bottleneck_factor = {}, but {} has shape {}", config.bottleneck, narrow,
                                 stored->shape.text()));
  }
  const std::string norm = "bottleneck_block.blocks.0.tfc1.0.";
  const bool batch = find(checkpoint, norm + "running_mean") != nullptr;
  const bool any = find(checkpoint, norm + "weight") != nullptr;
  if (any != (config.norm != Norm::none) || batch != (config.norm == Norm::batch))
    comparison.say(fmt::format("model.norm = {}, but the checkpoint has {}", norm_name(config),
                               batch ? norm + "running_mean, that of BatchNorm"
                               : any ? norm + "weight without running statistics, those of InstanceNorm or GroupNorm"
                                     : "no " + norm + "weight"));
  // Outputs, only where the inputs agree: they are counted in these.
  const auto stems = static_cast<Index>(config.stems().size());
  const std::string last = "final_conv.2.weight";
  if (const StoredTensor* stored = find(checkpoint, last); stored != nullptr && stored->shape.rank() == 4) {
    const Index each = config.input_channels(), found = stored->shape[0];
    if (found != stems * each)
      comparison.say(fmt::format("{}, but {} of shape {} has outputs for {}",
                                 config.target.empty() ? fmt::format("training.instruments has {} names", stems)
                                                       : "training.target_instrument makes one stem",
                                 last, stored->shape.text(),
                                 found % each == 0 ? fmt::format("{} stems of {} channels", found / each, each)
                                                   : fmt::format("{} channels, no multiple of {}", found, each)));
  }
  return comparison.found();
}

const std::vector<KnownConfig>& known_configs() {
  static const std::vector<KnownConfig> known = published();
  return known;
}

}  // namespace sonde::separate
