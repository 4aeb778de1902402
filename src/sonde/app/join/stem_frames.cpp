// SPDX-License-Identifier: Apache-2.0
// 4D-STEM scans for the instruments that ask for frames.
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "sonde/app/join/frames.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/base/setting.h"
#include "sonde/instruments/stem/verbs/open_frames.h"

namespace sonde::join {
namespace {

/// The key of a run file for a setting of scans.
std::optional<std::string> key_of_run_files(std::string_view key) {
  for (const auto& [scan, run_file] :
       {std::pair("scan_shape", "data.scan_shape"), std::pair("det_bin", "data.detector_bin"),
        std::pair("dataset", "data.patterns"), std::pair("mask_file", "data.mask")})
    if (key == scan) return run_file;
  return std::nullopt;
}

/// What the stem instrument says of its settings, in those of a run file.
template <class Body>
auto in_words_of_run_files(Body&& body) {
  try {
    return body();
  } catch (const Error& error) {
    throw error.changed(
        [](const std::string& text) { return with_renamed_settings(text, key_of_run_files, "sonde stem convert"); });
  }
}

Frames open_frames(const FramesRequest& request, Run& run) {
  Frames frames = in_words_of_run_files([&] { return stem::open_frames(request, run); });
  frames.find_good = [find = std::move(frames.find_good)](const std::vector<std::uint8_t>& named) {
    return in_words_of_run_files([&] { return find(named); });
  };
  frames.read = [read = std::move(frames.read)](Index first, Index count) {
    return in_words_of_run_files([&] { return read(first, count); });
  };
  return frames;
}

}  // namespace

std::function<Frames(const FramesRequest&, Run&)> frames_opener() { return open_frames; }

}  // namespace sonde::join
