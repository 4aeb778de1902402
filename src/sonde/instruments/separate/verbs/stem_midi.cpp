// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/verbs/stem_midi.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <string_view>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/run/write_charts.h"
#include "sonde/instruments/separate/verbs/verbs.h"

namespace sonde::separate {
namespace {

void report_stem(const StemEvents& stem, sonde::Value& list, Run& run) {
  std::map<std::string_view, Index> hits;
  Index softest = 127, loudest = 0;
  for (const DrumEvent& each : stem.events) {
    ++hits[info(each.hit).name];
    softest = std::min(softest, each.velocity), loudest = std::max(loudest, each.velocity);
  }
  sonde::Value& told = list.push_back(sonde::Value::object());
  told["stem"] = stem.file.name;
  told["path"] = stem.file.path;
  told["seconds"] = stem.seconds;
  told["events"] = stem.events.size();
  sonde::Value& counts = told["hits"] = sonde::Value::object();
  std::vector<std::string> words;
  for (const auto& [hit, count] : hits) {
    counts[hit] = count;
    words.push_back(fmt::format("{} {}", count, hit));
  }
  run.say(fmt::format("{:<11} {} event{} in {:.2f} s{}{}", stem.file.name, stem.events.size(),
                      stem.events.size() == 1 ? "" : "s", stem.seconds, hits.size() > 1 ? ": " + join_words(words) : "",
                      stem.events.empty() ? "" : fmt::format(", velocities {} to {}", softest, loudest)));
}

}  // namespace

StemMidi midi_beside(const std::vector<Output>& outputs, const std::vector<std::string>& paths) {
  StemMidi midi;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::string& name = outputs[i].name;
    const auto kind = stem_kind(name);
    if (!kind) continue;
    midi.stems.push_back({paths[i], name, *kind});
    if (!midi.path.empty()) continue;
    std::string path = std::filesystem::path(paths[i]).replace_extension().string();
    if (const std::size_t at = path.rfind(name); at != std::string::npos) path.replace(at, name.size(), "drums");
    midi.path = path + ".mid";
  }
  if (!midi.stems.empty()) return midi;
  std::vector<std::string> names;
  for (const Output& each : outputs) names.push_back(each.name);
  throw Error(ErrorKind::bad_input,
              fmt::format("{}: none of the stems is a drum: {}", setting("midi"), join_words(names)))
      .hint("leave it out, or use a network of drums");
}

std::size_t stem_midi_bytes(double seconds) {
  return event_bytes(static_cast<Index>(std::ceil(seconds * static_cast<double>(event_rate))));
}

void write_stem_midi(const StemMidi& midi, Run& run) {
  const EventSettings settings;
  const auto stems = find_in_stems(midi.stems, settings, run.results()["drums"], run);
  write_text_file(midi.path, midi_bytes(midi_tracks(stems, settings), {}), run);
}

std::vector<StemEvents> find_in_stems(const std::vector<StemFile>& files, const EventSettings& settings,
                                      sonde::Value& list, Run& run) {
  std::vector<StemEvents> stems;
  for (const StemFile& file : files) {
    const auto finding = run.report().phase("find");
    stems.push_back(read_events(file, settings));
    report_stem(stems.back(), list, run);
  }
  return stems;
}

void write_text_file(const std::string& path, const std::string& text, Run& run) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
  wrote(path, run, text_column);
}

}  // namespace sonde::separate
