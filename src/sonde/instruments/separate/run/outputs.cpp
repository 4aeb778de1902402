// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/run/outputs.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/paths.h"
#include "sonde/engine/base/setting.h"
#include "sonde/engine/base/text.h"

namespace sonde::separate {
namespace {

constexpr std::string_view mixture = "mixture";

/// The stems of a network, and those of others that names may mean.
struct Known {
  const std::vector<std::string>& stems;
  const std::vector<std::string>& others;

  using Names = std::vector<std::string_view>;
  [[nodiscard]] bool are_here(const Names& names) const { return are_among(stems, names); }
  /// Not here, but of another network.
  [[nodiscard]] bool are_elsewhere(const Names& names) const { return !are_here(names) && are_among(others, names); }
  [[nodiscard]] std::vector<std::string> all() const {
    std::vector<std::string> names = stems;
    names.insert(names.end(), others.begin(), others.end());
    return names;
  }

  [[nodiscard]] static bool are_among(const std::vector<std::string>& known, const Names& names) {
    return std::all_of(names.begin(), names.end(), [&](std::string_view name) {
      return std::any_of(known.begin(), known.end(),
                         [&](const std::string& each) { return to_lower(each) == to_lower(name); });
    });
  }
};

[[noreturn]] void unknown(const std::string& where, std::string_view name, const Known& known) {
  const std::vector<std::string> all = known.all();
  throw Error(ErrorKind::bad_input, fmt::format("{}: unknown stem \"{}\"{}", where, name, did_you_mean(name, all)))
      .hint((known.others.empty() ? "this network has " : "the networks have ") + join_words(all));
}

/// The stem of that name, as an output.
Output stem_output(const Known& known, std::string_view name, const std::string& where) {
  for (std::size_t i = 0; i < known.stems.size(); ++i) {
    if (to_lower(known.stems[i]) != to_lower(name)) continue;
    Output output{.name = known.stems[i], .stems = std::vector<double>(known.stems.size())};
    output.stems[i] = 1;
    return output;
  }
  unknown(where, name, known);
}

/// Nothing where it is one of another network.
std::optional<Output> mix_output(const Known& known, std::string_view text) {
  const std::string where = setting("mix") + " " + std::string(text);
  const std::size_t equals = text.find('=');
  const std::string_view name = trim(text.substr(0, equals));
  if (equals == std::string_view::npos || name.empty()) {
    throw Error(ErrorKind::bad_input, where + ": not a sum; expected NAME=a+b-c");
  }
  struct Term {
    double sign;
    std::string_view name;
  };
  std::vector<Term> terms;
  std::vector<std::string_view> names;
  double sign = 1;
  for (std::string_view rest = text.substr(equals + 1);;) {
    const std::size_t end = rest.find_first_of("+-");
    terms.push_back({sign, trim(rest.substr(0, end))});
    if (to_lower(terms.back().name) != mixture) names.push_back(terms.back().name);
    if (end == std::string_view::npos) break;
    sign = rest[end] == '+' ? 1 : -1;
    rest = rest.substr(end + 1);
  }
  if (known.are_elsewhere(names)) return std::nullopt;
  if (!known.are_here(names) && Known::are_among(known.all(), names)) {
    throw Error(ErrorKind::bad_input, where + ": stems of two networks; expected those of one");
  }
  Output output{.name = std::string(name), .stems = std::vector<double>(known.stems.size())};
  for (const Term& term : terms) {
    if (to_lower(term.name) == mixture) {
      output.mixture += term.sign;
      continue;
    }
    const Output stem = stem_output(known, term.name, where);
    for (std::size_t i = 0; i < stem.stems.size(); ++i) output.stems[i] += term.sign * stem.stems[i];
  }
  return output;
}

Output residual_output(const Known& known, std::string_view name) {
  Output output{.name = "residual", .stems = std::vector<double>(known.stems.size(), -1), .mixture = 1};
  if (to_lower(name) == "all") return output;
  const Output stem = stem_output(known, name, setting("residual"));
  for (std::size_t i = 0; i < stem.stems.size(); ++i) output.stems[i] = 0 - stem.stems[i];
  output.name = "no_" + stem.name;
  return output;
}

/// A name as a part of a path.
std::string sanitised(std::string_view name) {
  std::string kept;
  for (const char c : name) {
    const bool good =
        std::isalnum(static_cast<unsigned char>(c)) != 0 || std::string_view("._ -").find(c) != std::string_view::npos;
    if (good) kept += c;
  }
  while (kept.starts_with('.')) kept.erase(0, 1);
  return kept.empty() ? "unnamed" : kept;
}

}  // namespace

std::vector<Output> choose_outputs(const std::vector<std::string>& stems, const std::string& names, const Sums& sums,
                                   const std::vector<std::string>& others) {
  const Known known{stems, others};
  std::vector<Output> outputs;
  for (const std::string& each : names.empty() ? stems : split(names, ',')) {
    if (!known.are_elsewhere({trim(each)})) outputs.push_back(stem_output(known, trim(each), setting("stems")));
  }
  for (const std::string& each : sums.mixes) {
    if (auto mix = mix_output(known, each)) outputs.push_back(*std::move(mix));
  }
  for (const std::string& each : sums.residuals) {
    if (!known.are_elsewhere({each})) outputs.push_back(residual_output(known, each));
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      if (to_lower(outputs[i].name) != to_lower(outputs[k].name)) continue;
      throw Error(ErrorKind::bad_input,
                  fmt::format("two outputs are called \"{}\"; expected a name of its own for each", outputs[i].name));
    }
  }
  return outputs;
}

Output output_named(const std::vector<Output>& outputs, const std::string& name, const std::string& where) {
  std::vector<std::string> names;
  for (const Output& each : outputs) {
    if (to_lower(each.name) == to_lower(name)) return each;
    names.push_back(each.name);
  }
  unknown(where, name, {names, {}});
}

std::string output_path(const std::string& folder, const std::string& pattern, const PathWords& words) {
  const auto value = [&](const std::string& word) -> std::string {
    if (word == "{file}") return sanitised(words.file);
    if (word == "{stem}") return sanitised(words.stem);
    if (word == "{model}") return sanitised(words.model);
    if (word != "{dir}") {
      throw Error(ErrorKind::bad_input,
                  fmt::format("{} = {}: unknown word {}; expected {{file}}, {{stem}}, {{model}} or {{dir}}",
                              setting("template"), pattern, word));
    }
    std::string folders = ".";
    for (const std::string& each : split(words.dir, '/')) {
      if (!each.empty()) folders += "/" + sanitised(each);
    }
    return folders;
  };
  std::string path;
  for (std::size_t at = 0; at < pattern.size();) {
    if (pattern[at] != '{') {
      path += pattern[at++];
      continue;
    }
    const std::size_t end = pattern.find('}', at);
    const std::string word = pattern.substr(at, end == std::string::npos ? end : end - at + 1);
    path += value(word);
    at += word.size();
  }
  const std::filesystem::path relative = std::filesystem::path(path).lexically_normal();
  if (relative.is_absolute() || relative.empty() || *relative.begin() == "..") {
    throw Error(ErrorKind::bad_input, fmt::format("{} = {}: leaves the output folder; expected names below it",
                                                  setting("template"), pattern));
  }
  return (std::filesystem::path(folder) / relative).string();
}

std::vector<FoundInput> find_inputs(const std::vector<std::string>& names, bool recursive) {
  static const std::vector<std::string> endings = {".wav",  ".aif", ".aiff", ".flac", ".ogg", ".oga",
                                                   ".opus", ".mp3", ".w64",  ".rf64", ".caf"};
  std::vector<FoundInput> found;
  for (const std::string& name : names) {
    if (!is_folder(name)) {
      found.push_back({name});
      continue;
    }
    std::vector<std::filesystem::path> entries = recursive ? entries_below(name) : entries_of(name);
    std::sort(entries.begin(), entries.end());
    const std::size_t before = found.size();
    for (const std::filesystem::path& each : entries) {
      if (!is_plain_file(each) || std::count(endings.begin(), endings.end(), to_lower(each.extension().string())) == 0)
        continue;
      const std::filesystem::path dir = each.parent_path().lexically_relative(name);
      found.push_back({each.string(), dir == "." ? "" : dir.generic_string()});
    }
    if (found.size() == before) {
      throw Error(ErrorKind::bad_input,
                  fmt::format("{}: a folder without audio files; expected WAV, AIFF, FLAC, Ogg or MP3", name))
          .hint(recursive ? "" : fmt::format("use {} to look into the folders in it", setting("recursive")));
    }
  }
  return found;
}

}  // namespace sonde::separate
