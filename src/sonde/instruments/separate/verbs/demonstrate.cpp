// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/verbs/demonstrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/paths.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/io/mark.h"
#include "sonde/engine/run/write_charts.h"
#include "sonde/instruments/separate/events/stem_events.h"
#include "sonde/instruments/separate/results/spectrogram.h"
#include "sonde/instruments/separate/run/separation.h"
#include "sonde/instruments/separate/simulate/asset.h"
#include "sonde/instruments/separate/verbs/loop_files.h"
#include "sonde/instruments/separate/verbs/score_text.h"
#include "sonde/instruments/separate/verbs/stem_midi.h"
#include "sonde/instruments/separate/verbs/verbs.h"
#include "sonde/instruments/separate/weights/model.h"

namespace sonde::separate {
namespace {

namespace fs = std::filesystem;

constexpr std::array made_names = {"kick.wav",   "snare.wav",  "hihat.wav", "other.wav", "mixture.wav",
                                   "events.csv", "events.mid", "drums.mid", "scores.csv"};

/// Audio files do not say who wrote them, so that a note beside them does.
std::string note_in(const fs::path& folder) { return (folder / "about.txt").string(); }

void refuse_foreign_files(const fs::path& folder) {
  if (mark_of(note_in(folder)) == FileMark::text) return;
  for (const char* name : made_names) {
    const fs::path path = folder / name;
    if (path_exists(path))
      throw Error(ErrorKind::bad_input, fmt::format("{}: a file that no demonstration of sonde wrote", path.string()))
          .hint("move it away, or choose another folder");
  }
}

/// Makes a folder of the demonstration, without what an earlier one left there.
fs::path own_folder(const fs::path& folder) {
  refuse_foreign_files(folder);
  make_folders(folder);
  for (const char* name : made_names)
    if (path_exists(folder / name)) remove_path(folder / name);
  AtomicFile file(note_in(folder), side_output("the note", FileMark::text));
  file.write("sonde demo made the files beside this one, and replaces them when it runs again\n");
  file.commit();
  return folder;
}

/// Separates the mixture into a file for each stem of the network.
void separate_mixture(const std::string& mixture, const fs::path& folder, Run& run) {
  const Model model = open_model({.checkpoint = asset("tiny_drums.ckpt")});
  SeparationTask task{.input = mixture, .outputs = choose_outputs(model.config.stems(), "", {})};
  for (const Output& each : task.outputs) task.paths.push_back((folder / (each.name + ".wav")).string());
  const Reservation reserved =
      run.host_budget().reserve(Plan::bytes_for(model.config).sum(), "the network", "free some memory");
  Plan plan = Plan::prepare(model.config, model.values());
  separate_files(
      {task}, {.overlap = model.config.overlap}, model.config, plan, [&](std::size_t, const SeparationResult& result) {
        run.say(fmt::format("network     {:.1f} s for {:.1f} s of audio", result.times.network,
                            static_cast<double>(result.samples) / static_cast<double>(model.config.sample_rate)));
      });
  for (const std::string& path : task.paths) wrote(path, run, text_column);
}

/// What was played, found in the separated stems.
Matching find_hits(const fs::path& folder, const fs::path& truth, double tempo, Run& run) {
  const EventSettings settings;
  const std::vector<StemEvents> stems = find_in_stems(
      stems_among({(folder / "kick.wav").string(), (folder / "snare.wav").string(), (folder / "hihat.wav").string()}),
      settings, run.results()["found"], run);
  write_text_file((folder / "drums.mid").string(), midi_bytes(midi_tracks(stems, settings), {.tempo = tempo}), run);
  const auto scores =
      score_drums(stems, read_reference((truth / "events.csv").string()), settings, 0.05, Counted::merged);
  for (const DrumScore& each : scores)
    run.say(fmt::format("hits        {:<6} {} found, {} played, {} the same (within 50 ms)", name(each.drum),
                        each.matching.found, each.matching.expected, each.matching.matched));
  return pooled(scores);
}

/// A rise of at least so much is a check of the report: its value is what lacks.
void check_rise(double rise_db, Run& run) {
  constexpr double least_db = 8;
  run.results()["rise_db"] = rise_db;
  const bool pass =
      run.report().check("what the rise of the mean SDR lacks of 8 dB", std::max(0.0, least_db - rise_db), 0);
  run.say(fmt::format("truth       the mean SDR rises by {:.1f} dB over the mixture's, at least {:.0f} {}", rise_db,
                      least_db, pass ? "agrees" : "DISAGREES"));
}

Facet bars_of(const std::vector<StemScore>& scores) {
  Facet facet{.title = "scores"};
  facet.x = {.title = "SDR", .unit = "dB"};
  Series before{.name = "mixture", .mark = Mark::bars}, after{.name = "separated", .mark = Mark::bars};
  for (const StemScore& each : scores) {
    facet.categories.push_back(each.name);
    before.y.push_back(each.mixture_sdr_db.value_or(0));
    after.y.push_back(each.sdr_db);
  }
  facet.x.low = std::min(0.0, *std::min_element(before.y.begin(), before.y.end()) - 2);
  facet.series = {before, after};
  return facet;
}

/// A row of the mixture and the true stems, and one of the scores and the separated ones.
Chart figure_of(const fs::path& truth, const fs::path& made, const std::vector<StemScore>& scores) {
  std::vector<Spectrogram> spectrograms = {spectrogram_of((truth / "mixture.wav").string())};
  for (const fs::path& folder : {truth, made}) {
    for (const StemScore& each : scores) {
      spectrograms.push_back(spectrogram_of((folder / (each.name + ".wav")).string()));
      spectrograms.back().name += folder == truth ? ", true" : ", separated";
    }
  }
  Chart chart = spectrogram_chart("A simulated drum loop over music, and what the network makes of it", spectrograms);
  chart.facets.insert(chart.facets.begin() + 1 + static_cast<std::ptrdiff_t>(scores.size()), bars_of(scores));
  chart.columns = 1 + static_cast<Index>(scores.size());
  return chart;
}

}  // namespace

void check_demo_folder(const fs::path& folder) {
  for (const char* part : {"loop", "stems"}) refuse_foreign_files(folder / part);
}

void demonstrate(const Demonstration& demo, Run& run) {
  demo.step("source separation: render a drum loop over music, separate it, find the hits, compare with the truth");
  constexpr double seconds = 10;
  demonstrate_separation(demo.folder, seconds, run);
}

void demonstrate_separation(const fs::path& folder, double seconds, Run& run) {
  const auto phase = run.report().phase("separation");
  check_demo_folder(folder);
  const fs::path truth = own_folder(folder / "loop"), made = own_folder(folder / "stems");
  LoopSettings settings;
  settings.backing = true;
  settings.pattern.seconds = seconds;
  const DrumLoop loop = simulate_loop(settings);
  write_stems(truth, stems_with_other(loop), settings.rate, run);
  write_stems(truth, {loop.mixture}, settings.rate, run);
  write_hits(truth, loop.hits, settings.pattern.tempo, run);

  const std::string mixture = (truth / "mixture.wav").string();
  separate_mixture(mixture, made, run);
  const StemPairs pairs = pair_stems(truth.string(), made.string());
  const CommonAudio audio = common_audio(pairs, {}, Lengths::refuse);
  const std::vector<StemScore> scores = score_stems(pairs, audio, {.frames = {audio.rate, audio.rate}});
  report_scores(scores, run);
  write_text_file((made / "scores.csv").string(), scores_csv(scores), run);
  check_rise(mean_rise_db(scores), run);

  const Matching hits = find_hits(made, truth, settings.pattern.tempo, run);
  run.results()["f_measure"] = hits.f_measure();
  run.say(fmt::format(
      "hits        F {:.3f}: the network does not know toms, crash and ride, and drums are heard in other stems",
      hits.f_measure()));

  draw(figure_of(truth, made, scores), (folder / "separation").string(), run, text_column);
}

}  // namespace sonde::separate
