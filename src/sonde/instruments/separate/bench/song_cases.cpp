// SPDX-License-Identifier: Apache-2.0
// Whole files: from audio to stems.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "sonde/engine/base/clock.h"
#include "sonde/engine/base/paths.h"
#include "sonde/instruments/separate/bench/cases.h"
#include "sonde/instruments/separate/run/separation.h"
#include "sonde/instruments/separate/score/stem_scores.h"
#include "sonde/instruments/separate/simulate/asset.h"
#include "sonde/instruments/separate/simulate/drum_loop.h"
#include "sonde/instruments/separate/weights/model.h"
#include "sonde/instruments/separate/weights/structure.h"

namespace sonde::separate {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& folder, const LoopStem& stem, Index rate) {
  AudioWriter writer((folder / (stem.name + ".wav")).string(), {.rate = rate, .channels = 2});
  writer.write(stem.view());
  writer.commit();
}

/// A simulated loop in a folder that is removed in the end, and a network that separates it, as often as there are
/// files.
class Song {
 public:
  Song(const Config& config, const ParameterValues& values, const LoopSettings& loop, Index overlap, Index files = 1)
      : config_(config),
        plan_(Plan::prepare(config, values)),
        loop_(simulate_loop(loop)),
        overlap_(overlap),
        files_(files) {
    static int made = 0;
    folder_ = temporary_folder() / fmt::format("sonde-bench-song-{}-{}", ::getpid(), made++);
    make_folders(truth());
    for (Index i = 0; i < files; ++i) make_folders(stems(i));
    for (const LoopStem& each : stems_with_other(loop_)) write(truth(), each, loop.rate);
    write(truth(), loop_.mixture, loop.rate);
  }
  Song(const Song&) = delete;
  Song& operator=(const Song&) = delete;
  ~Song() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  void separate() {
    const Stopwatch watch;
    std::vector<SeparationTask> tasks;
    for (Index i = 0; i < files_; ++i) {
      SeparationTask task{.input = (truth() / "mixture.wav").string(), .outputs = choose_outputs(config_.stems())};
      for (const Output& each : task.outputs) task.paths.push_back((stems(i) / (each.name + ".wav")).string());
      tasks.push_back(std::move(task));
    }
    const SeparationSettings settings{.reading = {.rate = config_.sample_rate}, .overlap = overlap_};
    double network_s = 0;
    audio_s_ = 0;
    separate_files(tasks, settings, config_, plan_, [&](std::size_t, const SeparationResult& result) {
      network_s += result.times.network;
      audio_s_ += static_cast<double>(result.samples) / static_cast<double>(config_.sample_rate);
    });
    outside_s_ = watch.seconds() - network_s;
  }
  [[nodiscard]] double outside_s() const { return outside_s_; }
  [[nodiscard]] double audio_s() const { return audio_s_; }

  /// The mean over the stems of the last separation.
  [[nodiscard]] double mean_sdr_db() const {
    const StemPairs pairs = pair_stems(truth().string(), stems().string());
    const CommonAudio audio = common_audio(pairs, {}, Lengths::refuse);
    double sum = 0;
    for (const StemScore& each : score_stems(pairs, audio, {.frames = {audio.rate, audio.rate}})) sum += each.sdr_db;
    return sum / static_cast<double>(pairs.pairs.size());
  }

 private:
  [[nodiscard]] fs::path truth() const { return folder_ / "truth"; }
  [[nodiscard]] fs::path stems(Index file = 0) const { return folder_ / fmt::format("stems{}", file); }

  Config config_;
  Plan plan_;
  DrumLoop loop_;
  Index overlap_, files_;
  fs::path folder_;
  double outside_s_ = 0, audio_s_ = 0;
};

/// All of so many files with the published drum network in its full size, without overlap.
PreparedCase prepare_files(const LoopSettings& loop, Index files) {
  Config config = known_configs().front().config;
  config.chunk = 255 * config.hop;  // 256 frames, a quarter of the published chunk
  const auto song = std::make_shared<Song>(config, formula_values(config, 1), loop, 1, files);
  PreparedCase made;
  made.operations.push_back({.name = files == 1 ? "song" : "folder", .run = [song] { song->separate(); }});
  // Of the call before: operations take turns.
  made.operations.push_back(
      {.name = "outside the network", .run = [] {}, .own_s = [song] { return song->outside_s(); }});
  made.input = fmt::format("{} of {:.0f} s at {} Hz from WAV to five stems, chunks of 256 frames, one covers a sample",
                           files == 1 ? "a file" : fmt::format("{} files", files), loop.pattern.seconds, loop.rate);
  return made;
}

PreparedCase prepare_song(const BenchPoint& point) {
  return prepare_files({.pattern = {.seconds = 12}, .rate = whole_size(point.size, "Hz"), .backing = true}, 1);
}

PreparedCase prepare_folder(const BenchPoint& point) {
  return prepare_files({.pattern = {.seconds = 6}, .backing = true}, whole_size(point.size, "files"));
}

/// The loop of the demonstration with its small network, so many chunks on each sample.
PreparedCase prepare_overlap(const BenchPoint& point) {
  const Model model = open_model({.checkpoint = asset("tiny_drums.ckpt")});
  const LoopSettings loop{.backing = true};
  const auto song =
      std::make_shared<Song>(model.config, model.values(), loop, whole_size(point.size, "chunks on a sample"));
  song->separate();
  PreparedCase made;
  made.operations.push_back({.name = "song", .run = [song] { song->separate(); }});
  made.input = fmt::format("{:.0f} s of drums over music, {} chunk(s) on each sample: mean SDR {:.2f} dB",
                           song->audio_s(), point.size, song->mean_sdr_db());
  return made;
}

}  // namespace

std::vector<BenchCase> song_cases() {
  return {
      {.name = "separate-song",
       .summary = "A file from WAV to five stems by a full-size drum network, at two sample rates",
       .sizes = {"44100", "48000"},
       .devices = {DeviceKind::cpu},
       .prepare = prepare_song,
       .targets = {{.name = "outside the network", .of = {"outside the network"}, .over = {"song"}, .limit = 0.03}}},
      {.name = "separate-folder",
       .summary =
           "Several files one after another by a full-size drum network: the next is read while the last is written",
       .sizes = {"3"},
       .devices = {DeviceKind::cpu},
       .prepare = prepare_folder,
       .targets = {{.name = "outside the network", .of = {"outside the network"}, .over = {"folder"}, .limit = 0.03}}},
      {.name = "separate-overlap",
       .summary = "A drum loop by the small network of the demonstration with more and more overlap, and its score",
       .sizes = {"1", "2", "4", "8"},
       .devices = {DeviceKind::cpu},
       .prepare = prepare_overlap}};
}

}  // namespace sonde::separate
