// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/verbs/network_identity.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "sonde/engine/base/paths.h"
#include "sonde/engine/base/sha256.h"
#include "sonde/engine/base/version.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/io/file.h"

namespace sonde::separate {
namespace {

/// Of the hashes of each MiB, so that all cores work on them: the whole of a checkpoint in sequence takes seconds.
std::string tree_hash(const File& file) {
  constexpr std::size_t piece = std::size_t{1} << 20;
  std::vector<Sha256> hashes((file.size() + piece - 1) / piece);
  PerWorker<std::vector<std::byte>> read([] { return std::vector<std::byte>(piece); });
  parallel_for(static_cast<Index>(hashes.size()), 1, [&](Index first, Index last, Worker& worker) {
    for (Index i = first; i < last; ++i) {
      const std::uint64_t at = static_cast<std::uint64_t>(i) * piece;
      const auto part = std::span(read[worker]).first(std::min<std::size_t>(piece, file.size() - at));
      file.read_at(at, part);
      hashes[static_cast<std::size_t>(i)] = sha256({reinterpret_cast<const char*>(part.data()), part.size()});
    }
  });
  return hexadecimal(sha256({reinterpret_cast<const char*>(hashes.data()), hashes.size() * sizeof(Sha256)}));
}

std::string config_hash(const Config& config) {
  std::string network = fmt::format("{} {} {} {} {} {}\n", config.sample_rate, config.n_fft, config.hop, config.dim_f,
                                    norm_name(config), activation_name(config));
  for (const Parameter& each : parameters(config, layer_list(config))) {
    network += fmt::format("{} {}\n", each.name, each.shape.count());
  }
  network += fmt::format("{} {}", fmt::join(config.stems(), ","), config.normalize);
  return hexadecimal(sha256(network));
}

std::string algorithm_text(const RunStage& stage, Run& run) {
  if (stage.gpu) {
    const DevicePlanOptions& of = stage.gpu->options;
    return fmt::format("{} {} {}\ndevice {}", static_cast<int>(of.method), static_cast<int>(of.products), of.scratch,
                       run.device().info().name);
  }
  std::string methods;
  for (const ConvolutionMethod each : stage.algorithms.methods) {
    methods += each == ConvolutionMethod::winograd ? 'w' : 'd';
  }
  return methods;
}

const std::string& checkpoint_of(const RunStage& stage, const RunOptions& options) {
  return (stage.is_second ? options.second : options.model).files.checkpoint;
}

}  // namespace

std::string network_origin(const RunStage& stage, const RunOptions& options, Run& run) {
  const std::string& checkpoint = checkpoint_of(stage, options);
  return fmt::format("checkpoint {}, {} bytes\nnetwork {}\nprecision {}\nalgorithms {}\nversion {}\n",
                     std::filesystem::path(checkpoint).filename().string(), file_bytes(checkpoint).value_or(0),
                     config_hash(stage.config), name(options.precision), algorithm_text(stage, run),
                     build_info().version);
}

std::function<sonde::Value()> network_summary(const RunStage& stage, const RunOptions& options) {
  const std::string& checkpoint = checkpoint_of(stage, options);
  const auto weights = stage.model.checkpoint ? std::make_shared<const File>(checkpoint) : nullptr;
  // Shared by the copies of what is returned.
  const auto known = std::make_shared<sonde::Value>();
  sonde::Value& about = *known;
  about["config_sha256"] = config_hash(stage.config);
  about["checkpoint"] = std::filesystem::path(checkpoint).filename().string();
  about["precision"] = name(options.precision);
  about["sample_rate"] = stage.config.sample_rate;
  about["chunk"] = stage.config.chunk;
  return [weights, known] {
    constexpr const char* key = "checkpoint_sha256_of_mib";
    if (weights && known->find(key) == nullptr) (*known)[key] = tree_hash(*weights);
    return *known;
  };
}

}  // namespace sonde::separate
