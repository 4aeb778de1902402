// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/weights/config_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/printable.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/io/file.h"
#include "sonde/instruments/separate/weights/yaml.h"

namespace sonde::separate {
namespace {

/// Reads fields by "section.key" and collects what is wrong.
class Reader {
 public:
  Reader(const Yaml& root, const std::string& name) : root_(root), name_(name) {}

  [[nodiscard]] const Yaml* find(std::string_view field) const {
    const auto dot = field.find('.');
    const Yaml* section = root_.find(field.substr(0, dot));
    return section == nullptr ? nullptr : section->find(field.substr(dot + 1));
  }
  [[nodiscard]] bool has(std::string_view field) const { return find(field) != nullptr; }

  void need(const char* field, Index& value) {
    if (!has(field)) missing_.emplace_back(field);
    take(field, value);
  }
  void need(const char* field, std::string& value) {
    if (!has(field)) missing_.emplace_back(field);
    take(field, value);
  }
  /// Keep what they have where the file has nothing.
  void take(const char* field, Index& value) {
    if (const Yaml* node = find(field)) {
      if (const auto number = whole(*node))
        value = *number;
      else
        wrong(field, *node, "a whole number");
    }
  }
  void take(const char* field, std::string& value) {
    if (const Yaml* node = find(field)) {
      if (node->kind == Yaml::Kind::text)
        value = printable(node->text, 200);
      else
        wrong(field, *node, "a text");
    }
  }
  void take(const char* field, bool& value) {
    if (const Yaml* node = find(field)) {
      const std::string word = node->kind == Yaml::Kind::text ? to_lower(node->text) : "";
      if (word == "true" || word == "false")
        value = word == "true";
      else
        wrong(field, *node, "true or false");
    }
  }
  void need_texts(const char* field, std::vector<std::string>& values) {
    const Yaml* node = find(field);
    if (node == nullptr) return missing_.emplace_back(field), void();
    for (const Yaml& item : node->items) {
      if (item.kind != Yaml::Kind::text) return wrong(field, *node, "a list of texts");
      values.push_back(printable(item.text, 200));
    }
    if (node->kind != Yaml::Kind::list) wrong(field, *node, "a list of texts");
  }
  void need_pair(const char* field, Index& first, Index& second) {
    const Yaml* node = find(field);
    if (node == nullptr) return missing_.emplace_back(field), void();
    const auto numbers = [&](std::size_t i) { return i < node->items.size() ? whole(node->items[i]) : std::nullopt; };
    if (node->items.size() != 2 || !numbers(0) || !numbers(1)) return wrong(field, *node, "two whole numbers");
    first = *numbers(0), second = *numbers(1);
  }
  /// Runs `body`, which says what is wrong with one field.
  template <class Body>
  void collect(Body&& body) {
    try {
      body();
    } catch (const Error& error) {
      problems_.add(Error(ErrorKind::bad_file, fmt::format("{}: {}", name_, error.message())));
    }
  }
  void missing(std::string field) { missing_.push_back(std::move(field)); }

  void report() {
    if (!missing_.empty())
      problems_.add(Error(ErrorKind::bad_file, fmt::format("{}: has no {}", name_, join_words(missing_)))
                        .hint("give the YAML file that belongs to the checkpoint"));
    problems_.throw_if_any(name_ + ": the configuration has several faults");
  }

 private:
  static std::optional<Index> whole(const Yaml& node) {
    Index value = 0;
    const char* const end = node.text.data() + node.text.size();
    const auto [stop, error] = std::from_chars(node.text.data(), end, value);
    return node.kind == Yaml::Kind::text && error == std::errc() && stop == end ? std::optional(value) : std::nullopt;
  }
  void wrong(const char* field, const Yaml& node, std::string_view expected) {
    const std::string found = node.kind == Yaml::Kind::text   ? printable(node.text, 60)
                              : node.kind == Yaml::Kind::list ? fmt::format("a list of {}", node.items.size())
                                                              : "a map";
    problems_.add(Error(ErrorKind::bad_file,
                        fmt::format("{}, line {}: {} = {}; expected {}", name_, node.line, field, found, expected)));
  }

  const Yaml& root_;
  const std::string& name_;
  std::vector<std::string> missing_;
  Problems problems_;
};

/// What other networks' configurations are known by: keys of `model`, or sections.
void refuse_other_networks(const Yaml& root, const std::string& name) {
  const Yaml* model = root.find("model");
  const auto has = [&](std::string_view key) {
    return (model != nullptr && (model->members.contains(key) || model->text == key)) || root.members.contains(key);
  };
  const auto in_model = [&](std::string_view key) { return model != nullptr && model->members.contains(key); };
  const char* const found = in_model("num_bands") && (in_model("dim") || in_model("depth"))       ? "Mel-Band RoFormer"
                            : in_model("freqs_per_bands") || in_model("dim") || in_model("depth") ? "BS-RoFormer"
                            : has("htdemucs")                 ? "Hybrid Transformer Demucs"
                            : has("hdemucs") || has("demucs") ? "Demucs"
                            : has("stht")                     ? "STHT"
                                                              : nullptr;
  if (found == nullptr) return;
  throw Error(ErrorKind::not_supported,
              fmt::format("{}: is the configuration of a {} network; supported: MDX23C (TFC-TDF v3)", name, found))
      .hint("use the program that the network was made for, or an MDX23C checkpoint");
}

}  // namespace

Config parse_config(std::string_view text, const std::string& name) {
  const Yaml root = read_yaml(text, name);
  if (root.kind != Yaml::Kind::map)
    throw Error(ErrorKind::bad_file, name + ": holds no sections; expected audio, model, training and inference");
  refuse_other_networks(root, name);

  Reader reader(root, name);
  Config config;
  reader.take("audio.sample_rate", config.sample_rate);
  reader.take("audio.num_channels", config.audio_channels);
  reader.need("audio.n_fft", config.n_fft);
  reader.need("audio.hop_length", config.hop);
  reader.need("audio.dim_f", config.dim_f);
  Index frames = 0;
  reader.take("audio.dim_t", frames);
  if (frames == 0) reader.take("inference.dim_t", frames);
  if (reader.has("inference.chunk_size"))
    reader.take("inference.chunk_size", config.chunk);
  else if (reader.has("audio.chunk_size"))
    reader.take("audio.chunk_size", config.chunk);
  else if (frames < 1 || frames > Index{1} << 26 || config.hop < 1 || config.hop > Index{1} << 26)
    reader.missing("audio.chunk_size");
  else
    config.chunk = config.hop * (frames - 1);

  reader.need("model.num_subbands", config.subbands);
  reader.need("model.num_scales", config.scales);
  reader.need("model.num_blocks_per_scale", config.blocks);
  reader.need("model.num_channels", config.channels);
  reader.need("model.growth", config.growth);
  reader.need("model.bottleneck_factor", config.bottleneck);
  reader.need_pair("model.scale", config.scale_time, config.scale_frequency);
  std::string norm = "none", activation;
  reader.take("model.norm", norm);
  reader.need("model.act", activation);
  reader.collect([&] { set_norm(config, norm); });
  if (!activation.empty()) reader.collect([&] { set_activation(config, activation); });

  reader.take("training.target_instrument", config.target);
  if (config.target.empty() || reader.has("training.instruments"))
    reader.need_texts("training.instruments", config.instruments);

  config.overlap = 4;  // what the networks were evaluated with
  reader.take("inference.num_overlap", config.overlap);
  reader.take("inference.batch_size", config.batch);
  reader.take("inference.normalize", config.normalize);
  reader.report();
  try {
    check(config);
  } catch (const Error& error) {
    if (error.problems().empty()) throw Error(ErrorKind::bad_file, fmt::format("{}: {}", name, error.message()));
    throw Error::several(fmt::format("{}: {}", name, error.message()), error.problems());
  }
  return config;
}

Config read_config(const std::string& path) {
  if (to_lower(path).ends_with(".onnx"))
    throw Error(ErrorKind::not_supported, path + ": is an ONNX file; expected the YAML file of a checkpoint");
  return parse_config(read_text(path, std::size_t{1} << 20), path);
}

}  // namespace sonde::separate
