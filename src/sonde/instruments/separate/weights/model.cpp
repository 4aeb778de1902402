// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/weights/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/paths.h"
#include "sonde/engine/base/setting.h"
#include "sonde/engine/base/text.h"
#include "sonde/instruments/separate/weights/config_file.h"
#include "sonde/instruments/separate/weights/structure.h"

namespace sonde::separate {
namespace {

constexpr std::string_view formula = "formula:";
constexpr std::size_t most_files = 256;           // YAML files that are tried
constexpr std::uint64_t most_yaml_bytes = 65536;  // of those: what was published has 6000
constexpr const char* not_in_tensors =
    "audio.n_fft, audio.hop_length, audio.chunk_size, model.act, model.norm and training.instruments";

bool is_yaml(const std::filesystem::path& path) {
  const std::string ending = to_lower(path.extension().string());
  return ending == ".yaml" || ending == ".yml";
}

void require_agreement(const Config& config, const std::string& of_config, const Checkpoint& checkpoint) {
  const std::vector<std::string> found = contradictions(config, checkpoint);
  if (found.empty()) return;
  std::vector<Error> problems;
  for (const std::string& each : found) problems.emplace_back(ErrorKind::bad_file, each);
  const std::string remedy = "give the YAML file of this checkpoint by " + setting("model");
  if (problems.size() == 1)
    throw Error(ErrorKind::bad_file, fmt::format("{} and {}: {}", of_config, checkpoint.path, found.front()))
        .hint(remedy);
  problems.back().hint(remedy);
  throw Error::several(fmt::format("{} does not describe {}", of_config, checkpoint.path), std::move(problems));
}

/// Whether a YAML file describes this checkpoint; nothing for another file.
std::optional<Config> config_that_fits(const std::string& path, const Checkpoint& checkpoint) {
  try {
    Config config = read_config(path);
    if (contradictions(config, checkpoint).empty()) return config;
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): a folder may hold any YAML files
  }
  return std::nullopt;
}

std::optional<ChosenConfig> config_in_folder(const Checkpoint& checkpoint) {
  const std::filesystem::path path = absolute_path(checkpoint.path);
  const std::filesystem::path folder = path.parent_path();
  const std::string same = (folder / path.stem()).string(), beside = (folder / "").string();
  const std::pair<std::string, const char*> usual[] = {{same + ".yaml", "it has the name of the checkpoint"},
                                                       {same + ".yml", "it has the name of the checkpoint"},
                                                       {beside + "config_mdx23c.yaml", "it is beside the checkpoint"},
                                                       {beside + "config.yaml", "it is beside the checkpoint"}};
  for (const auto& [file, because] : usual) {
    if (is_plain_file(file)) return ChosenConfig{read_config(file), {file, because}};
  }
  std::vector<std::string> files, names;
  for (const auto& each : entries_of(folder)) {
    if (is_yaml(each) && file_bytes(each).value_or(most_yaml_bytes + 1) <= most_yaml_bytes)
      files.push_back(each.string());
  }
  std::sort(files.begin(), files.end());
  if (files.size() > most_files) files.resize(most_files);
  std::optional<ChosenConfig> found;
  for (const std::string& file : files) {
    const auto config = config_that_fits(file, checkpoint);
    if (!config) continue;
    names.push_back(file);
    found = {*config, {file, "it is the only YAML file beside the checkpoint whose numbers fit"}};
  }
  if (names.size() > 1)
    throw Error(ErrorKind::bad_file, fmt::format("{}: {} YAML files beside it fit its tensors: {}", checkpoint.path,
                                                 names.size(), join_words(names)))
        .hint("give the one that belongs to it by " + setting("model"));
  return found;
}

Model formula_model(const ModelFiles& files) {
  const std::string digits = files.checkpoint.substr(formula.size());
  Model model;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, model.seed);
  if (error != std::errc() || stop != end)
    throw Error(ErrorKind::usage, setting("checkpoint", files.checkpoint) + ": expected formula:SEED, a whole number");
  if (files.model.empty())
    throw Error(ErrorKind::usage, setting("checkpoint", files.checkpoint) + " needs a configuration")
        .hint("give the YAML file of a network by " + setting("model"));
  model.config = read_config(files.model);
  model.configuration = {files.model, "it was given"};
  return model;
}

}  // namespace

ChosenConfig find_config(const Checkpoint& checkpoint) {
  if (auto found = config_in_folder(checkpoint)) return *std::move(found);
  std::string missing = fmt::format("its tensors do not say {}", not_in_tensors);
  for (const KnownConfig& known : known_configs()) {
    Config tried = known.config;
    const bool named = !tried.instruments.empty();
    if (!named) tried.instruments.resize(known.stems);
    if (!contradictions(tried, checkpoint).empty()) continue;
    if (named)
      return {known.config,
              {known.name, "no YAML file was found beside the checkpoint, and its shapes are those of this network"}};
    missing = fmt::format("its shapes are those of {}, but the order of training.instruments is not known", known.name);
  }
  throw Error(ErrorKind::bad_file, fmt::format("{}: no YAML file beside it describes it; {}", checkpoint.path, missing))
      .hint("give the YAML file of the checkpoint by " + setting("model"));
}

Model open_model(const ModelFiles& files) {
  if (files.checkpoint.starts_with(formula)) return formula_model(files);
  Model model;
  model.checkpoint = read_checkpoint(files.checkpoint, files.state_key);
  require_tfc_tdf(*model.checkpoint);
  if (files.model.empty()) {
    ChosenConfig chosen = find_config(*model.checkpoint);
    model.config = std::move(chosen.config);
    model.configuration = std::move(chosen.source);
  } else {
    model.config = read_config(files.model);
    model.configuration = {files.model, "it was given"};
  }
  require_agreement(model.config, model.configuration.value, *model.checkpoint);
  return model;
}

ParameterValues Model::values() const {
  if (!checkpoint) return formula_values(config, seed);
  return match(*checkpoint, parameters(config, layer_list(config)));
}

}  // namespace sonde::separate
