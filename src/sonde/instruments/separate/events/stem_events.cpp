// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/events/stem_events.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>

#include <fmt/format.h>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/base/paths.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/io/output_ending.h"
#include "sonde/instruments/separate/audio/audio_reader.h"

namespace sonde::separate {
namespace {

namespace fs = std::filesystem;

StemFile stem_file(const std::string& path, const StemKind& kind) {
  return {path, std::string(kind.hit ? info(*kind.hit).name : name(kind.drum)), kind};
}

bool is_audio(const fs::path& path) {
  static const std::vector<std::string> endings = {".wav", ".flac", ".ogg", ".mp3", ".aiff", ".aif", ".opus"};
  return is_plain_file(path) &&
         std::find(endings.begin(), endings.end(), output_ending(path.string())) != endings.end();
}

constexpr Index samples_at_once = 1 << 16;
const AudioReadOptions reading{.rate = event_rate, .channels = event_channels, .downmix = Downmix::mean};

/// Audio of a whole file, channel after channel: one where both are the same.
struct Audio {
  std::vector<float> samples;
  Index channels = event_channels;
  [[nodiscard]] View<const float, 2> view() const {
    return {samples.data(), channels, static_cast<Index>(samples.size()) / channels};
  }
};

Audio audio_of(const StemFile& file) {
  AudioReader reader(file.path, reading);
  std::vector<float> left, right;
  left.reserve(2 * static_cast<std::size_t>(reader.frames()));  // the other joins it in the end
  right.reserve(static_cast<std::size_t>(reader.frames()));
  for (auto part = reader.read(samples_at_once); !part.empty(); part = reader.read(samples_at_once)) {
    const auto half = part.begin() + static_cast<std::ptrdiff_t>(part.size() / 2);
    left.insert(left.end(), part.begin(), half);
    right.insert(right.end(), half, part.end());
    check_interrupt();
  }
  if (left == right) return {std::move(left), 1};
  left.insert(left.end(), right.begin(), right.end());
  return {std::move(left)};
}

std::vector<double> levels_of(View<const float, 2> samples, Index pieces) {
  std::vector<double> levels(static_cast<std::size_t>(pieces), 0.0);
  const Index count = std::max<Index>(1, samples.extent[1]);
  for (Index c = 0; c < samples.extent[0]; ++c) {
    for (Index i = 0; i < samples.extent[1]; ++i) {
      double& level = levels[static_cast<std::size_t>(i * pieces / count)];
      level = std::max(level, static_cast<double>(std::abs(samples(c, i))));
    }
  }
  for (double& level : levels) level = 20 * std::log10(std::max(1e-5, level));
  return levels;
}

struct Row {
  const StemEvents* stem;
  const DrumEvent* event;
};

std::vector<Row> rows_of(std::span<const StemEvents> stems) {
  std::vector<Row> rows;
  for (const StemEvents& stem : stems)
    for (const DrumEvent& event : stem.events) rows.push_back({&stem, &event});
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.event->time_s < b.event->time_s; });
  return rows;
}

}  // namespace

std::size_t event_bytes(Index samples) {
  constexpr Index curve_bytes = 1;  // for each sample: up to seven curves of doubles every 66 samples
  return static_cast<std::size_t>(samples * (3 * 4 + curve_bytes)) + (std::size_t{16} << 20);
}

std::vector<StemFile> stems_among(const std::vector<std::string>& inputs) {
  std::vector<StemFile> files;
  for (const std::string& input : inputs) {
    if (is_folder(input)) {
      std::vector<fs::path> entries = entries_of(input);
      std::sort(entries.begin(), entries.end());
      for (const fs::path& entry : entries) {
        const auto kind = stem_kind(entry.stem().string());
        if (kind && is_audio(entry)) files.push_back(stem_file(entry.string(), *kind));
      }
      continue;
    }
    const std::size_t equals = input.find('=');
    const bool named = equals != std::string::npos && !path_exists(input);
    const std::string path = named ? input.substr(equals + 1) : input;
    const std::string called = named ? input.substr(0, equals) : fs::path(input).stem().string();
    const auto kind = stem_kind(called);
    if (!kind) {
      throw Error(ErrorKind::bad_input,
                  fmt::format("{}: \"{}\" is not the name of one drum; expected kick, snare, toms, "
                              "hihat, cymbals, crash or ride",
                              path, called))
          .hint(fmt::format("say which it is, snare={}", path));
    }
    files.push_back(stem_file(path, *kind));
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      if (files[k].name == files[i].name) {
        throw Error(ErrorKind::bad_input, fmt::format("{} and {}: both are the stem {}; expected one file of each",
                                                      files[k].path, files[i].path, files[i].name));
      }
    }
  }
  if (files.empty()) {
    throw Error(ErrorKind::bad_input,
                fmt::format("{}: has no audio file with the name of a drum; expected kick, snare, "
                            "toms, hihat, cymbals, crash or ride",
                            join_words(inputs)))
        .hint("name the files, snare=FILE.wav");
  }
  return files;
}

StemEvents read_events(const StemFile& file, const EventSettings& settings, Index pieces) {
  const Audio audio = audio_of(file);
  const View<const float, 2> view = audio.view();
  return {.file = file,
          .seconds = static_cast<double>(view.extent[1]) / static_cast<double>(event_rate),
          .events = find_events(file.kind, view, event_rate, settings),
          .levels_db = levels_of(view, pieces)};
}

std::vector<DrumScore> score_drums(std::span<const StemEvents> stems, const std::vector<ReferenceEvent>& reference,
                                   const EventSettings& settings, double within_s, Counted counted) {
  std::vector<DrumScore> scores;
  for (std::size_t i = 0; i < drum_count; ++i) {
    const auto drum = static_cast<Drum>(i);
    std::vector<StemEvents> own;
    std::copy_if(stems.begin(), stems.end(), std::back_inserter(own),
                 [&](const StemEvents& each) { return each.file.kind.drum == drum; });
    if (own.empty()) continue;
    std::vector<DrumEvent> found;
    for (const Row& row : rows_of(own)) found.push_back(*row.event);
    std::vector<ReferenceEvent> expected;
    std::copy_if(reference.begin(), reference.end(), std::back_inserter(expected),
                 [&](const ReferenceEvent& each) { return each.drum == drum; });
    if (counted == Counted::merged) expected = merged(expected, settings[drum].onsets.gap_ms * 1e-3);
    scores.push_back({drum, match(found, expected, within_s)});
  }
  return scores;
}

Matching pooled(const std::vector<DrumScore>& scores) {
  Matching sum;
  for (const DrumScore& each : scores) sum += each.matching;
  return sum;
}

std::optional<Tempo> tempo_of(std::span<const StemEvents> stems) {
  std::vector<double> times, weights;
  for (const Row& row : rows_of(stems)) {
    times.push_back(row.event->time_s);
    weights.push_back(static_cast<double>(row.event->velocity));
  }
  return find_tempo(times, weights);
}

std::vector<MidiTrack> midi_tracks(std::span<const StemEvents> stems, const EventSettings& settings, double note_s) {
  std::vector<MidiTrack> tracks;
  for (const StemEvents& stem : stems) {
    MidiTrack track{.name = stem.file.name};
    for (const DrumEvent& each : stem.events)
      track.notes.push_back({each.time_s, note_s, settings.note(each.hit), each.velocity});
    tracks.push_back(std::move(track));
  }
  return tracks;
}

std::string event_table(std::span<const StemEvents> stems, const EventSettings& settings) {
  std::string text = "time_s,stem,event,note,velocity,level_db,pan,strength,sustain_s\n";
  for (const auto& [stem, event] : rows_of(stems)) {
    text += fmt::format("{:.6f},{},{},{},{},{:.2f},{:.3f},{:.4f},{:.3f}\n", event->time_s, stem->file.name,
                        info(event->hit).name, settings.note(event->hit), event->velocity, event->level_db, event->pan,
                        event->strength, event->sustain_s);
  }
  return text;
}

sonde::Value event_list(std::span<const StemEvents> stems, const EventSettings& settings) {
  sonde::Value list = sonde::Value::list();
  for (const auto& [stem, event] : rows_of(stems)) {
    sonde::Value& told = list.push_back(sonde::Value::object());
    told["time_s"] = event->time_s;
    told["stem"] = stem->file.name;
    told["event"] = info(event->hit).name;
    told["note"] = settings.note(event->hit);
    told["velocity"] = event->velocity;
    told["level_db"] = event->level_db;
    told["pan"] = event->pan;
    told["strength"] = event->strength;
    told["sustain_s"] = event->sustain_s;
  }
  return list;
}

}  // namespace sonde::separate
