// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/simulate/drum_loop.h"

#include <fmt/format.h>

#include <cmath>

#include "sonde/engine/base/error.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/separate/events/midi.h"
#include "sonde/instruments/separate/simulate/backing.h"
#include "sonde/instruments/separate/simulate/drum_sounds.h"

namespace sonde::separate {
namespace {

// Random numbers of hits: each has a stream of its own, behind those of pattern and backing.
constexpr std::uint64_t first_stream = 16;

/// Where a hit is heard, -1 left to 1 right. Kick, snare and hi-hat are in the middle, as in most mixes.
double place_of(Hit hit) {
  switch (hit) {
    case Hit::tom_high:
      return -0.3;
    case Hit::tom_low:
      return 0.3;
    case Hit::crash:
      return -0.2;
    case Hit::ride:
      return 0.2;
    default:
      return 0;
  }
}

LoopStem render(Drum drum, const std::vector<PlayedHit>& hits, const LoopSettings& settings, Index samples) {
  std::vector<double> sum(static_cast<std::size_t>(2 * samples));
  for (std::size_t i = 0; i < hits.size(); ++i) {
    if (info(hits[i].hit).drum != drum) continue;
    const std::vector<double> sound =
        drum_sound(hits[i].hit, hits[i].strength, Random(settings.pattern.seed, first_stream + i), settings.rate);
    const auto first = static_cast<Index>(hits[i].time_s * static_cast<double>(settings.rate) + 0.5);
    const double right = place_of(hits[i].hit);
    for (Index k = 0; k < static_cast<Index>(sound.size()) && first + k < samples; ++k) {
      const double value = sound[static_cast<std::size_t>(k)];
      sum[static_cast<std::size_t>(first + k)] += value * (1 - right);
      sum[static_cast<std::size_t>(samples + first + k)] += value * (1 + right);
    }
  }
  return {.name = std::string(name(drum)), .samples = {sum.begin(), sum.end()}};
}

void check(const LoopSettings& settings) {
  const auto require = [](const char* what, double value, double least, double most) {
    if (!(value >= least && value <= most))
      throw Error(ErrorKind::bad_input, fmt::format("{} = {}; expected {} to {}", what, value, least, most));
  };
  require("seconds", settings.pattern.seconds, 0.5, 3600);
  require("tempo", settings.pattern.tempo, 30, 300);
  require("rate", static_cast<double>(settings.rate), 8000, 192000);
}

/// Stems of one length.
LoopStem sum_of(const std::string& name, const std::vector<const LoopStem*>& stems) {
  LoopStem sum{.name = name, .samples = std::vector<float>(stems.front()->samples.size())};
  for (const LoopStem* each : stems)
    for (std::size_t i = 0; i < sum.samples.size(); ++i) sum.samples[i] += each->samples[i];
  return sum;
}

}  // namespace

std::vector<LoopStem> stems_with_other(const DrumLoop& loop) {
  std::vector<LoopStem> stems;
  std::vector<const LoopStem*> rest;
  for (const LoopStem& each : loop.stems) {
    if (each.name == "kick" || each.name == "snare" || each.name == "hihat")
      stems.push_back(each);
    else
      rest.push_back(&each);
  }
  stems.push_back(sum_of("other", rest));
  return stems;
}

DrumLoop simulate_loop(const LoopSettings& settings) {
  check(settings);
  const auto samples = static_cast<Index>(settings.pattern.seconds * static_cast<double>(settings.rate));
  DrumLoop loop;
  loop.hits = drum_pattern(settings.pattern);
  constexpr Index drums = static_cast<Index>(drum_count);
  loop.stems.resize(drum_count + (settings.backing ? 1 : 0));
  parallel_for(static_cast<Index>(loop.stems.size()), 1, [&](Index first, Index last, Worker&) {
    for (Index i = first; i < last; ++i)
      loop.stems[static_cast<std::size_t>(i)] =
          i < drums
              ? render(static_cast<Drum>(i), loop.hits, settings, samples)
              : LoopStem{"music", backing_music(settings.pattern.seed, settings.pattern.tempo, samples, settings.rate)};
  });
  std::vector<const LoopStem*> all;
  for (const LoopStem& each : loop.stems) all.push_back(&each);
  loop.mixture = sum_of("mixture", all);
  return loop;
}

std::string hits_csv(const std::vector<PlayedHit>& hits) {
  std::string text = "time_s,event,velocity,note\n";
  for (const PlayedHit& each : hits)
    text += fmt::format("{:.6f},{},{},{}\n", each.time_s, info(each.hit).name, each.velocity(), info(each.hit).note);
  return text;
}

std::string hits_midi(const std::vector<PlayedHit>& hits, double tempo) {
  std::vector<MidiTrack> tracks(drum_count);
  for (std::size_t i = 0; i < drum_count; ++i) tracks[i].name = name(static_cast<Drum>(i));
  for (const PlayedHit& each : hits)
    tracks[static_cast<std::size_t>(info(each.hit).drum)].notes.push_back(
        {.time_s = each.time_s, .duration_s = 0.05, .note = info(each.hit).note, .velocity = each.velocity()});
  return midi_bytes(tracks, {.tempo = tempo});
}

}  // namespace sonde::separate
