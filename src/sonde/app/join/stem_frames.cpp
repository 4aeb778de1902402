// SPDX-License-Identifier: Apache-2.0
// 4D-STEM scans for the instruments that ask for frames.
#include <cstring>
#include <string>
#include <utility>

#include "sonde/app/join/frames.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/instruments/stem/verbs/open_frames.h"

namespace sonde::join {
namespace {

std::string with_keys(std::string text) {
  for (const auto& [flag, key] :
       {std::pair("--scan-shape", "data.scan_shape"), std::pair("--det-bin", "data.detector_bin"),
        std::pair("--dataset", "data.patterns"), std::pair("--mask-file", "data.mask")})
    for (std::size_t at = 0; (at = text.find(flag, at)) != std::string::npos; at += std::strlen(key))
      text.replace(at, std::strlen(flag), key);
  return text;
}

/// What the stem instrument says of its flags, in the words of a run file. What has no key there is left to a
/// conversion.
template <class Body>
auto in_words_of_run_files(Body&& body) {
  try {
    return body();
  } catch (const Error& error) {
    if (!error.problems().empty()) throw;
    Error told(error.kind(), with_keys(error.message()));
    std::string hint;
    for (const std::string& clause : split(error.hint(), ';')) {
      const std::string words = with_keys(std::string(trim(clause)));
      hint += (hint.empty() ? "" : "; ") +
              (words.find("--") == std::string::npos ? words : "with `sonde stem convert`, " + words);
    }
    if (!hint.empty()) told.hint(hint);
    for (const std::string& activity : error.activities()) told.add_activity(activity);
    throw told;
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
