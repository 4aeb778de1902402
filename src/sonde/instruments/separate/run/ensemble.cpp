// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/run/ensemble.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/base/paths.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/report/progress.h"
#include "sonde/instruments/separate/audio/audio_writer.h"
#include "sonde/instruments/separate/run/outputs.h"

namespace sonde::separate {
namespace {

constexpr Index blended_at_once = 16384;
constexpr Index most_channels = 1024;

std::map<std::string, std::string> stems_in(const std::string& folder) {
  std::map<std::string, std::string> found;
  for (const FoundInput& each : find_inputs({folder}, false)) {
    const std::string name = to_lower(std::filesystem::path(each.path).stem().string());
    const auto [other, is_new] = found.emplace(name, each.path);
    if (is_new) continue;
    throw Error(ErrorKind::bad_input,
                fmt::format("{} and {}: two files of one stem; expected one in each folder", other->second, each.path));
  }
  return found;
}

float weighted_median(std::span<const float> values, std::span<const double> weights, std::vector<std::size_t>& order) {
  order.resize(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
  double below = 0;
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    below += weights[order[i]];
    if (2 * below > all) return values[order[i]];
    if (2 * below == all) return (values[order[i]] + values[order[i + 1]]) / 2;
  }
  return values[order.back()];
}

}  // namespace

float blended(Blend how, std::span<const float> values, std::span<const double> weights,
              std::vector<std::size_t>& order) {
  const auto less = [](float a, float b) { return std::abs(a) < std::abs(b); };
  switch (how) {
    case Blend::mean: {
      double sum = 0, all = 0;
      for (std::size_t i = 0; i < values.size(); ++i) {
        sum += weights[i] * static_cast<double>(values[i]);
        all += weights[i];
      }
      return static_cast<float>(sum / all);
    }
    case Blend::median:
      return weighted_median(values, weights, order);
    case Blend::smallest:
      return *std::min_element(values.begin(), values.end(), less);
    case Blend::largest:
      return *std::max_element(values.begin(), values.end(), less);
  }
  return 0;
}

std::vector<EnsembleTask> ensemble_tasks(const std::vector<std::string>& folders, const std::string& output,
                                         std::vector<std::string>& left_out) {
  std::vector<std::map<std::string, std::string>> found;
  for (const std::string& each : folders) found.push_back(stems_in(each));
  std::map<std::string, std::vector<std::string>> by_name;
  for (const auto& folder : found) {
    for (const auto& [name, path] : folder) by_name[name].push_back(path);
  }
  std::vector<EnsembleTask> tasks;
  for (auto& [name, paths] : by_name) {
    if (paths.size() < folders.size()) {
      left_out.insert(left_out.end(), paths.begin(), paths.end());
      continue;
    }
    EnsembleTask task{.stem = std::filesystem::path(paths.front()).stem().string(), .paths = std::move(paths)};
    task.output = (std::filesystem::path(output) / (task.stem + ".wav")).string();
    tasks.push_back(std::move(task));
  }
  return tasks;
}

AudioInfo require_alike(const EnsembleTask& task) {
  const auto info_of = [](const std::string& path) { return AudioReader(path, {.channels = most_channels}).info(); };
  const AudioInfo first = info_of(task.paths.front());
  for (const std::string& path : task.paths) {
    const AudioInfo info = info_of(path);
    const auto compare = [&](Index a, Index b, const char* what) {
      if (a == b) return;
      throw Error(ErrorKind::bad_input, fmt::format("{}: {} {}, but {}: {}; expected the same for one stem",
                                                    task.paths.front(), a, what, path, b));
    };
    compare(first.rate, info.rate, "Hz");
    compare(first.channels, info.channels, "channels");
    compare(first.frames, info.frames, "samples");
  }
  return first;
}

std::size_t blend_bytes(std::size_t files, const AudioInfo& info) {
  return sizeof(float) * files * static_cast<std::size_t>(blended_at_once * info.channels);
}

double blend_files(const EnsembleTask& task, Blend how, std::span<const double> weights) {
  const AudioInfo info = AudioReader(task.paths.front(), {.channels = most_channels}).info();
  std::vector<AudioReader> readers;
  for (const std::string& each : task.paths) {
    readers.emplace_back(each, AudioReadOptions{.rate = info.rate, .channels = info.channels});
  }
  AudioWriter writer(task.output, {.rate = info.rate, .channels = info.channels});
  std::vector<std::vector<float>> parts(readers.size());
  std::vector<float> values(readers.size());
  std::vector<std::size_t> order;
  ProgressMeter meter("blending " + task.stem, info.frames, "samples");
  while (true) {
    check_interrupt();
    for (std::size_t i = 0; i < readers.size(); ++i) parts[i] = readers[i].read(blended_at_once);
    std::vector<float>& blend = parts.front();
    if (blend.empty()) break;
    for (std::size_t k = 0; k < blend.size(); ++k) {
      for (std::size_t i = 0; i < parts.size(); ++i) values[i] = parts[i].at(k);
      blend[k] = blended(how, values, weights, order);
    }
    const Index count = static_cast<Index>(blend.size()) / info.channels;
    writer.write({blend.data(), info.channels, count});
    meter.advance(count);
  }
  writer.commit();
  return writer.peak();
}

}  // namespace sonde::separate
