// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/score/stem_scores.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string_view>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/base/paths.h"
#include "sonde/engine/base/setting.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/separate/audio/audio_reader.h"

namespace sonde::separate {
namespace {

namespace fs = std::filesystem;
using NamedFiles = std::map<std::string, std::string>;  // by name in lower case

bool is_audio_name(const fs::path& path) {
  constexpr std::string_view endings[] = {".wav",  ".flac", ".aif", ".aiff", ".ogg", ".oga",
                                          ".opus", ".mp3",  ".w64", ".rf64", ".caf"};
  const std::string ending = to_lower(path.extension().string());
  return std::find(std::begin(endings), std::end(endings), ending) != std::end(endings);
}

NamedFiles audio_files(const std::string& folder) {
  NamedFiles files;
  for (const fs::path& path : entries_of(folder)) {
    if (!is_plain_file(path) || !is_audio_name(path)) continue;
    const auto [other, is_new] = files.emplace(to_lower(path.stem().string()), path.string());
    if (!is_new)
      throw Error(ErrorKind::bad_input,
                  fmt::format("{} and {}: two files of one stem; expected one", std::min(other->second, path.string()),
                              std::max(other->second, path.string())))
          .hint("move one of them to another folder");
  }
  return files;
}

std::string names_of(const NamedFiles& files) {
  std::vector<std::string> names;
  for (const auto& [name, path] : files) names.push_back(name);
  return names.empty() ? "no audio files" : join_words(names);
}

/// The samples of a file as all are read: (channels, samples).
std::vector<float> samples_of(const std::string& path, const CommonAudio& audio) {
  check_interrupt();
  AudioReader reader(path, {.rate = audio.rate, .channels = audio.channels});
  std::vector<float> samples = reader.read(audio.samples);
  if (samples.size() != static_cast<std::size_t>(audio.channels * audio.samples))
    throw Error(ErrorKind::bad_file,
                fmt::format("{}: ends after {} of {} samples", path,
                            static_cast<Index>(samples.size()) / std::max<Index>(1, audio.channels), audio.samples));
  return samples;
}

View<const float, 2> view_of(const std::vector<float>& samples, const CommonAudio& audio) {
  return {samples.data(), audio.channels, audio.samples};
}

/// Appends the mean of the channels.
void append_mean(const std::vector<float>& samples, const CommonAudio& audio, std::vector<double>& to) {
  const View<const float, 2> all = view_of(samples, audio);
  for (Index i = 0; i < audio.samples; ++i) {
    double sum = 0;
    for (Index c = 0; c < audio.channels; ++c) sum += static_cast<double>(all(c, i));
    to.push_back(sum / static_cast<double>(audio.channels));
  }
}

void add_bss(const std::vector<double>& references, const std::vector<double>& estimates, const Frames& frames,
             std::vector<StemScore>& scores) {
  const auto sources = static_cast<Index>(scores.size());
  const Index samples = static_cast<Index>(references.size()) / sources;
  const View<const double, 2> truth(references.data(), sources, samples), made(estimates.data(), sources, samples);
  const BssEval whole = bss_eval(truth, made, Pairing::best);
  const std::vector<BssEval> parts = framewise_bss_eval(truth, made, frames);
  for (std::size_t j = 0; j < scores.size(); ++j) {
    const auto score = [j](const BssEval& of) { return BssScore{of.sdr_db[j], of.sir_db[j], of.sar_db[j]}; };
    scores[j].bss = score(whole);
    scores[j].bss_estimate = scores[static_cast<std::size_t>(whole.estimates[j])].name;
    for (const BssEval& each : parts) scores[j].bss_frames.push_back(score(each));
  }
}

}  // namespace

StemPairs pair_stems(const std::string& references, const std::string& estimates) {
  const bool folders = is_folder(references);
  if (folders != is_folder(estimates))
    throw Error(ErrorKind::bad_input, fmt::format("{} and {}: a file and a folder; expected two of a kind",
                                                  folders ? estimates : references, folders ? references : estimates));
  if (!folders)
    return {.pairs = {{fs::path(references).stem().string(), references, estimates}},
            .mixture = {},
            .only_reference = {},
            .only_estimate = {}};
  NamedFiles truth = audio_files(references), made = audio_files(estimates);
  StemPairs found;
  if (const auto mixture = truth.extract("mixture"); !mixture.empty()) found.mixture = mixture.mapped();
  for (const auto& [name, path] : truth) {
    if (const auto other = made.extract(name); !other.empty())
      found.pairs.push_back({name, path, other.mapped()});
    else
      found.only_reference.push_back(path);
  }
  if (found.pairs.empty())
    throw Error(ErrorKind::bad_input, fmt::format("{} and {}: no stem is in both; the first has {}, the second {}",
                                                  references, estimates, names_of(truth), names_of(made)))
        .hint("give both files of a stem the same name, or compare two files");
  for (const auto& [name, path] : made)
    if (name != "mixture") found.only_estimate.push_back(path);
  return found;
}

CommonAudio common_audio(const StemPairs& pairs, std::optional<Index> rate, Lengths lengths) {
  std::vector<std::string> paths;
  for (const StemPair& pair : pairs.pairs) paths.insert(paths.end(), {pair.reference, pair.estimate});
  if (pairs.mixture) paths.push_back(*pairs.mixture);
  CommonAudio common;
  for (const std::string& path : paths) {
    constexpr Index any = 1024;  // channels, so that none is refused
    const AudioInfo info = AudioReader(path, {.channels = any}).info();
    const Index own_rate = rate.value_or(info.rate);
    const Index samples = AudioReader(path, {.rate = own_rate, .channels = info.channels}).frames();
    if (common.rate == 0) common = {.rate = own_rate, .channels = info.channels, .samples = samples};
    if (own_rate != common.rate)
      throw Error(ErrorKind::bad_input,
                  fmt::format("{}: {} Hz, but {} has {} Hz", path, own_rate, paths.front(), common.rate))
          .hint(fmt::format("{} resamples all of them", setting("rate", std::to_string(common.rate))));
    if (samples != common.samples && lengths == Lengths::refuse)
      throw Error(ErrorKind::bad_input,
                  fmt::format("{}: {} samples, but {} has {}", path, samples, paths.front(), common.samples))
          .hint(fmt::format("{} compares what all of them have", setting("lengths", "shortest")));
    common.channels = std::max(common.channels, info.channels);
    common.samples = std::min(common.samples, samples);
  }
  return common;
}

std::vector<StemScore> score_stems(const StemPairs& pairs, const CommonAudio& audio, const ScoreSettings& settings) {
  std::vector<StemScore> scores;
  std::vector<double> references, estimates;  // (stems, samples), for BSS-Eval
  const std::vector<float> mixture = pairs.mixture ? samples_of(*pairs.mixture, audio) : std::vector<float>();
  for (const StemPair& pair : pairs.pairs) {
    const std::vector<float> truth = samples_of(pair.reference, audio), made = samples_of(pair.estimate, audio);
    const View<const float, 2> s = view_of(truth, audio), e = view_of(made, audio);
    StemScore score{.name = pair.name, .sdr_db = sdr_db(s, e), .si_sdr_db = si_sdr_db(s, e)};
    score.frames_sdr_db = framewise_sdr_db(s, e, settings.frames);
    if (pairs.mixture) score.mixture_sdr_db = sdr_db(s, view_of(mixture, audio));
    scores.push_back(std::move(score));
    if (!settings.bss_eval) continue;
    append_mean(truth, audio, references);
    append_mean(made, audio, estimates);
  }
  if (settings.bss_eval) add_bss(references, estimates, settings.frames, scores);
  return scores;
}

std::size_t score_bytes(const StemPairs& pairs, const CommonAudio& audio, const ScoreSettings& settings) {
  const auto stems = static_cast<Index>(pairs.pairs.size());
  const auto file = sizeof(float) * static_cast<std::size_t>(audio.channels * audio.samples);
  // A pair, the mixture, and the file that is read once more while it is joined.
  const std::size_t files = (2 + (pairs.mixture ? 1 : 0) + 1) * file;
  if (!settings.bss_eval) return files;
  const auto means = 2 * sizeof(double) * static_cast<std::size_t>(stems * audio.samples);
  const Index frame = settings.frames.count(audio.samples) > 1 ? settings.frames.window : audio.samples;
  return files + means +
         std::max(bss_eval_bytes(stems, audio.samples),
                  static_cast<std::size_t>(worker_limit()) * bss_eval_bytes(stems, frame));
}

}  // namespace sonde::separate
