// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/run/outputs.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/paths.h"
#include "sonde/engine/base/setting.h"
#include "sonde/engine/base/text.h"

namespace sonde::separate {
namespace {

constexpr std::string_view mixture = "mixture";

[[noreturn]] void unknown(const std::string& where, std::string_view name, const std::vector<std::string>& known) {
  throw Error(ErrorKind::bad_input, fmt::format("{}: unknown stem \"{}\"{}", where, name, did_you_mean(name, known)))
      .hint("this network has " + join_words(known));
}

/// The stem of that name, as an output.
Output stem_output(const std::vector<std::string>& stems, std::string_view name, const std::string& where) {
  for (std::size_t i = 0; i < stems.size(); ++i) {
    if (to_lower(stems[i]) != to_lower(name)) continue;
    Output output{.name = stems[i], .stems = std::vector<double>(stems.size())};
    output.stems[i] = 1;
    return output;
  }
  unknown(where, name, stems);
}

Output mix_output(const std::vector<std::string>& stems, std::string_view text) {
  const std::string where = setting("mix") + " " + std::string(text);
  const std::size_t equals = text.find('=');
  const std::string_view name = trim(text.substr(0, equals));
  if (equals == std::string_view::npos || name.empty()) {
    throw Error(ErrorKind::bad_input, where + ": not a sum; expected NAME=a+b-c");
  }
  Output output{.name = std::string(name), .stems = std::vector<double>(stems.size())};
  std::string_view rest = text.substr(equals + 1);
  double sign = 1;
  while (true) {
    const std::size_t end = rest.find_first_of("+-");
    const std::string_view term = trim(rest.substr(0, end));
    if (to_lower(term) == mixture) {
      output.mixture += sign;
    } else {
      const Output stem = stem_output(stems, term, where);
      for (std::size_t i = 0; i < stems.size(); ++i) output.stems[i] += sign * stem.stems[i];
    }
    if (end == std::string_view::npos) return output;
    sign = rest[end] == '+' ? 1 : -1;
    rest = rest.substr(end + 1);
  }
}

Output residual_output(const std::vector<std::string>& stems, std::string_view name) {
  Output output{.name = "residual", .stems = std::vector<double>(stems.size(), -1), .mixture = 1};
  if (to_lower(name) == "all") return output;
  const Output stem = stem_output(stems, name, setting("residual"));
  for (std::size_t i = 0; i < stems.size(); ++i) output.stems[i] = 0 - stem.stems[i];
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

std::vector<Output> choose_outputs(const std::vector<std::string>& stems, const std::string& names, const Sums& sums) {
  std::vector<Output> outputs;
  if (names.empty()) {
    for (const std::string& each : stems) outputs.push_back(stem_output(stems, each, ""));
  }
  for (const std::string& each : split(names, ',')) {
    if (!names.empty()) outputs.push_back(stem_output(stems, trim(each), setting("stems")));
  }
  for (const std::string& each : sums.mixes) outputs.push_back(mix_output(stems, each));
  for (const std::string& each : sums.residuals) outputs.push_back(residual_output(stems, each));
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      if (to_lower(outputs[i].name) != to_lower(outputs[k].name)) continue;
      throw Error(ErrorKind::bad_input,
                  fmt::format("two outputs are called \"{}\"; expected a name of its own for each", outputs[i].name));
    }
  }
  return outputs;
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
