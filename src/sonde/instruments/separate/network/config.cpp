// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/network/config.h"

#include <charconv>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "sonde/engine/base/error.h"

namespace sonde::separate {
namespace {

/// Collects what is wrong with a configuration.
class Findings {
 public:
  /// Whether `value` is at least `least` and small enough that products of a few such numbers fit into Index.
  bool at_least(const char* field, Index value, Index least) {
    if (value >= least && value <= most) return true;
    add(value < least ? fmt::format("{} = {}; expected at least {}", field, value, least)
                      : fmt::format("{} = {}; expected at most {}", field, value, most));
    return false;
  }
  bool divides(const std::string& field, Index value, const std::string& divisor_field, Index divisor) {
    if (value % divisor == 0) return true;
    add(fmt::format("{} = {}; expected a multiple of {} = {}", field, value, divisor_field, divisor));
    return false;
  }
  void add(std::string text) { problems_.emplace_back(ErrorKind::bad_input, std::move(text)); }
  void report() {
    if (problems_.size() == 1) throw problems_.front();
    if (!problems_.empty()) throw Error::several("the configuration has several faults", std::move(problems_));
  }

 private:
  // Far above every network: 2^26 samples of a chunk are 25 minutes.
  static constexpr Index most = Index{1} << 26;
  std::vector<Error> problems_;
};

/// base^exponent, or a number far above all sizes where that is larger.
Index power(Index base, Index exponent) {
  constexpr Index most = Index{1} << 40;
  Index product = 1;
  for (Index i = 0; i < exponent; ++i) {
    if (product > most / base) return most;
    product *= base;
  }
  return product;
}

void check_groups(const Config& config, Findings& findings) {
  for (Index level = 0; level <= config.scales; ++level) {
    const Index channels = config.channels + level * config.growth;
    if (channels % config.groups != 0) {
      findings.add(fmt::format("model.norm = GroupNorm{}: level {} has {} channels; expected a multiple of {}",
                               config.groups, level, channels, config.groups));
    }
  }
}

void check_times(const Config& config, Findings& findings) {
  // Of odd windows one frame fewer fits into a chunk, and the last one reaches behind what is reflected.
  if (config.n_fft % 2 != 0) findings.add(fmt::format("audio.n_fft = {}; expected an even number", config.n_fft));
  if (config.n_fft / 2 >= config.chunk) {
    findings.add(fmt::format("audio.chunk_size = {}; expected more than audio.n_fft / 2 = {}, which is reflected",
                             config.chunk, config.n_fft / 2));
  }
  if (!findings.divides("audio.chunk_size", config.chunk, "audio.hop_length", config.hop)) return;
  findings.divides("frames of a chunk, audio.chunk_size / audio.hop_length + 1,", config.frames(),
                   "first model.scale to the power of model.num_scales", power(config.scale_time, config.scales));
}

void check_frequencies(const Config& config, Findings& findings) {
  const Index available = config.n_fft / 2 + 1;
  if (config.dim_f > available) {
    findings.add(fmt::format("audio.dim_f = {}; expected at most audio.n_fft / 2 + 1 = {}", config.dim_f, available));
    return;
  }
  if (!findings.divides("audio.dim_f", config.dim_f, "model.num_subbands", config.subbands)) return;
  const Index bands = power(config.scale_frequency, config.scales);
  if (!findings.divides("frequencies of a sub-band, audio.dim_f / model.num_subbands,", config.band(),
                        "second model.scale to the power of model.num_scales", bands)) {
    return;
  }
  if (config.band() / bands < config.bottleneck) {
    findings.add(fmt::format("model.bottleneck_factor = {}; expected at most the {} frequencies of the deepest level",
                             config.bottleneck, config.band() / bands));
  }
}

/// What numbers that make sense by themselves must be to each other.
void check_fit(const Config& config, Findings& findings) {
  check_times(config, findings);
  check_frequencies(config, findings);
  if (config.norm == Norm::group) check_groups(config, findings);
}

}  // namespace

std::vector<std::string> Config::stems() const {
  return target.empty() ? instruments : std::vector<std::string>{target};
}

void check(const Config& config) {
  Findings findings;
  bool sized = true;
  const auto need = [&](const char* field, Index value, Index least) {
    sized = findings.at_least(field, value, least) && sized;
  };
  need("audio.sample_rate", config.sample_rate, 1);
  need("audio.num_channels", config.audio_channels, 1);
  need("audio.n_fft", config.n_fft, 2);
  need("audio.hop_length", config.hop, 1);
  need("audio.dim_f", config.dim_f, 1);
  need("audio.chunk_size", config.chunk, 20);  // a tenth of it is faded at each end
  need("model.num_subbands", config.subbands, 1);
  need("model.num_scales", config.scales, 0);
  need("model.num_blocks_per_scale", config.blocks, 1);
  need("model.num_channels", config.channels, 1);
  need("model.growth", config.growth, 0);
  need("model.bottleneck_factor", config.bottleneck, 1);
  need("model.scale, first", config.scale_time, 1);
  need("model.scale, second", config.scale_frequency, 1);
  need("inference.num_overlap", config.overlap, 1);
  need("inference.batch_size", config.batch, 1);
  if (config.norm == Norm::group) need("model.norm, groups", config.groups, 1);
  if (config.scales > 20) findings.add(fmt::format("model.num_scales = {}; expected at most 20", config.scales));
  // Published networks have two; without a limit a wrong number makes a list of layers that fills the memory.
  if (config.blocks > 100)
    findings.add(fmt::format("model.num_blocks_per_scale = {}; expected at most 100", config.blocks));
  if (config.stems().empty()) findings.add("training.instruments is empty; expected at least one name");
  if (!std::isfinite(config.alpha)) findings.add(fmt::format("model.act = elu{}; expected a number", config.alpha));
  if (sized && config.scales <= 20) check_fit(config, findings);
  findings.report();
}

std::string norm_name(const Config& config) {
  switch (config.norm) {
    case Norm::none:
      return "none";
    case Norm::instance:
      return "InstanceNorm";
    case Norm::batch:
      return "BatchNorm";
    case Norm::group:
      return fmt::format("GroupNorm{}", config.groups);
  }
  return "";
}

std::string activation_name(const Config& config) {
  switch (config.activation) {
    case Activation::relu:
      return "relu";
    case Activation::gelu:
      return "gelu";
    case Activation::elu:
      return fmt::format("elu{}", config.alpha);
  }
  return "";
}

void set_norm(Config& config, const std::string& word) {
  constexpr std::string_view group = "GroupNorm";
  config.norm = word == "InstanceNorm"    ? Norm::instance
                : word == "BatchNorm"     ? Norm::batch
                : word.starts_with(group) ? Norm::group
                                          : Norm::none;
  if (config.norm != Norm::group) return;
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data() + group.size(), end, config.groups);
  if (error != std::errc() || stop != end || config.groups < 1) {
    throw Error(ErrorKind::bad_input,
                fmt::format("model.norm = {}; expected a number of groups as in GroupNorm4", word));
  }
}

void set_activation(Config& config, const std::string& word) {
  constexpr std::string_view elu = "elu";
  config.activation = word == "gelu" ? Activation::gelu : word == "relu" ? Activation::relu : Activation::elu;
  if (config.activation != Activation::elu) return;
  const char* const end = word.data() + word.size();
  const bool is_elu = word.starts_with(elu);
  const auto [stop, error] = std::from_chars(word.data() + (is_elu ? elu.size() : 0), end, config.alpha);
  if (!is_elu || error != std::errc() || stop != end || !std::isfinite(config.alpha)) {
    throw Error(ErrorKind::bad_input,
                fmt::format("model.act = {}; expected gelu, relu or elu with a number, as in elu0.7", word));
  }
}

}  // namespace sonde::separate
