// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "sonde/engine/base/choice.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/io/output_ending.h"
#include "sonde/engine/memory/memory_plan.h"
#include "sonde/engine/report/json.h"
#include "sonde/engine/run/write_charts.h"
#include "sonde/instruments/separate/audio/audio_reader.h"
#include "sonde/instruments/separate/events/matching.h"
#include "sonde/instruments/separate/verbs/stem_midi.h"
#include "sonde/instruments/separate/verbs/verbs.h"

namespace sonde::separate {
namespace {

/// A number that each stem has.
struct StemNumber {
  const char* key;
  double& (*of)(DrumSettings&);
  double min, max;
  const char *unit, *help;
};

const std::array<StemNumber, 8> stem_numbers = {{
    {"gap", [](DrumSettings& each) -> double& { return each.onsets.gap_ms; }, 1, 10000, "ms",
     "least time between two events"},
    {"merge", [](DrumSettings& each) -> double& { return each.onsets.merge_ms; }, 0, 10000, "ms",
     "events of left and right within it are one"},
    {"threshold", [](DrumSettings& each) -> double& { return each.onsets.threshold; }, 0, 1, "",
     "flux: height above the mean around it, of the largest"},
    {"prominence", [](DrumSettings& each) -> double& { return each.onsets.prominence_db; }, 0, 120, "dB",
     "energy, peak: rise above the valleys beside it"},
    {"floor", [](DrumSettings& each) -> double& { return each.onsets.floor_db; }, -120, -1, "dB",
     "energy, peak: what is silence, below the loudest place"},
    {"gate", [](DrumSettings& each) -> double& { return each.gate; }, 0, 1, "",
     "energy, of that of a strong hit, below which an event is bleed"},
    {"sharpness", [](DrumSettings& each) -> double& { return each.onsets.sharpness; }, 0, 100, "",
     "least rise in 10 ms over the level before it; 0: it must not fall"},
    {"sustain", [](DrumSettings& each) -> double& { return each.sustain_ms; }, 0, 60000, "ms",
     "hi-hat: open from here on; cymbals: a crash"},
}};

/// Calls set(name, value) for each part of "kick=50, snare=60"; a value by itself has no name.
template <class Set>
void each_part(const std::string& text, const char* key, Set&& set) {
  for (const std::string& part : split(text, ',')) {
    const std::size_t equals = part.find('=');
    const std::string where = fmt::format("{} = {}", setting(key), text);
    if (equals == std::string::npos)
      set(std::string_view(), trim(part), where);
    else
      set(trim(std::string_view(part).substr(0, equals)), trim(std::string_view(part).substr(equals + 1)), where);
  }
}

/// The drums that a name means; all for no name.
std::vector<Drum> drums_called(std::string_view called, const std::string& where) {
  std::vector<Drum> drums;
  std::vector<std::string> names;
  const auto kind = stem_kind(called);
  for (std::size_t i = 0; i < drum_count; ++i) {
    const auto drum = static_cast<Drum>(i);
    names.emplace_back(name(drum));
    if (called.empty() || (kind && kind->drum == drum && !kind->hit)) drums.push_back(drum);
  }
  if (drums.empty()) {
    throw Error(ErrorKind::usage, fmt::format("{}: unknown stem \"{}\"{}; expected {}", where, called,
                                              did_you_mean(called, names), join_words(names, " or ")));
  }
  return drums;
}

double one_number(std::string_view text, const std::string& where, double min, double max) {
  const std::vector<double> numbers = parse_numbers(text, where);
  if (numbers.size() != 1 || numbers[0] < min || numbers[0] > max)
    throw Error(ErrorKind::usage, fmt::format("{}: expected numbers from {} to {}", where, min, max));
  return numbers[0];
}

/// "kick=50,snare=60,...": what holds for each drum without being asked for.
template <class Text>
std::string default_of_drums(Text&& text) {
  auto drums = EventSettings::defaults();
  std::string joined;
  for (std::size_t i = 0; i < drum_count; ++i)
    joined += fmt::format("{}{}={}", i == 0 ? "" : ",", name(static_cast<Drum>(i)), text(drums[i]));
  return joined;
}

std::string default_notes() {
  std::string joined;
  for (std::size_t i = 0; i < hit_count; ++i) {
    const HitInfo& hit = info(static_cast<Hit>(i));
    joined += fmt::format("{}{}={}", i == 0 ? "" : ",", hit.name, hit.note);
  }
  return joined;
}

const std::map<std::string, Detection, std::less<>>& detections() {
  static const std::map<std::string, Detection, std::less<>> names = {
      {"flux", Detection::flux}, {"energy", Detection::energy}, {"peak", Detection::peak}};
  return names;
}

struct MidiOptions {
  std::vector<std::string> inputs;
  std::string output, events, reference, plot;
  std::string detection = default_of_drums([](const DrumSettings& each) {
    for (const auto& [word, meaning] : detections())
      if (meaning == each.onsets.detection) return word;
    return std::string();
  });
  std::array<std::string, stem_numbers.size()> numbers;
  std::string notes = default_notes();
  EventSettings found;
  Index format = 1;
  double strength = 1, note_ms = 1000 * usual_note_s;
  std::string tempo = "120", grid = "off";

  MidiOptions() {
    for (std::size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = default_of_drums([&](DrumSettings& each) { return stem_numbers[i].of(each); });
  }

  void describe(Fields& fields) {
    fields.positional(
        "inputs", inputs,
        {.help = "stems of drums: folders, files named after their drum, or snare=FILE", .metavar = "STEMS"});
    fields.add("output", output, {.help = "the MIDI file", .metavar = "FILE.mid", .letter = 'o'});
    fields.add("events", events, {.help = "the events as a table or as data", .metavar = "FILE.csv|.json"});
    fields.add("reference", reference,
               {.help = "what was played: scores of the events found", .metavar = "FILE.mid|.csv"});
    fields.add("plot", plot, {.help = "a picture of levels and events", .metavar = "FILE.png|.pdf|.svg"});
    fields.heading("finding events (one value, or STEM=VALUE,...)");
    fields.add("detection", detection, {.help = "what is followed: flux, energy or peak", .metavar = "STEM=WORD"});
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const StemNumber& number = stem_numbers[i];
      fields.add(number.key, numbers[i], {.help = number.help, .unit = number.unit, .metavar = "STEM=X"});
    }
    fields.add("crash_centroid", found.crash_hz, {.help = "centroid of a crash at least", .unit = "Hz", .min = 0});
    fields.heading("notes");
    fields.add("notes", notes, {.help = "note of each kind of hit", .metavar = "HIT=N"});
    fields.add("pedal", found.pedal, {.help = "a pedal note where an open hi-hat ends by itself"});
    fields.choice("velocity", found.linear, {{"level", false}, {"linear", true}},
                  {.help = "after the level in dB, or after the strength of the onset"});
    fields.add("softest", found.softest, {.help = "velocity of the softest hits", .min = 1, .max = 127});
    fields.add("loudest", found.loudest, {.help = "velocity of the loudest hits", .min = 1, .max = 127});
    fields.add("span", found.span_db,
               {.help = "range of levels that has all velocities, at least", .unit = "dB", .min = 0});
    fields.add("note_length", note_ms, {.help = "length of the notes", .unit = "ms", .min = 5, .max = 10000});
    fields.heading("file");
    fields.add("format", format, {.help = "0: one track; 1: one for each stem", .min = 0, .max = 1});
    fields.add("tempo", tempo, {.help = "quarters per minute; auto: that of the events", .metavar = "X|auto"});
    fields.add("quantise", grid,
               {.help = "grid that notes are moved to", .metavar = "off|1/8|1/16|1/8T|...", .alias = "quantize"});
    fields.add("strength", strength, {.help = "how far they are moved: 1 onto the grid", .min = 0, .max = 1});
  }

  [[nodiscard]] MidiWriteOptions writing() const {
    MidiWriteOptions made{.format = format, .quantisation = Quantisation::parse(grid, strength, setting("quantise"))};
    if (tempo != "auto") made.tempo = one_number(tempo, fmt::format("{} = {}", setting("tempo"), tempo), 4, 1000);
    return made;
  }

  [[nodiscard]] EventSettings settings() const {
    EventSettings made = found;
    each_part(detection, "detection", [&](std::string_view stem, std::string_view value, const std::string& where) {
      const auto word = detections().find(value);
      if (word == detections().end())
        throw Error(ErrorKind::usage, fmt::format("{}: \"{}\"; expected flux, energy or peak", where, value));
      for (const Drum drum : drums_called(stem, where)) made[drum].onsets.detection = word->second;
    });
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const StemNumber& number = stem_numbers[i];
      each_part(numbers[i], number.key, [&](std::string_view stem, std::string_view value, const std::string& where) {
        const double x = one_number(value, where, number.min, number.max);
        for (const Drum drum : drums_called(stem, where)) number.of(made[drum]) = x;
      });
    }
    each_part(notes, "notes", [&](std::string_view called, std::string_view value, const std::string& where) {
      const auto hit = hit_called(called);
      if (!hit) {
        throw Error(ErrorKind::usage,
                    fmt::format("{}: unknown hit \"{}\"; expected {}", where, called, default_notes()));
      }
      made.notes[static_cast<std::size_t>(*hit)] = static_cast<Index>(one_number(value, where, 0, 127));
    });
    if (made.softest > made.loudest) {
      throw Error(ErrorKind::usage, fmt::format("{} = {}; expected at most {} = {}", setting("softest"), made.softest,
                                                setting("loudest"), made.loudest));
    }
    return made;
  }
};

sonde::Value value_of(const Matching& matching) {
  sonde::Value told = sonde::Value::object();
  told["found"] = matching.found;
  told["expected"] = matching.expected;
  told["matched"] = matching.matched;
  told["precision"] = matching.precision();
  told["recall"] = matching.recall();
  told["f_measure"] = matching.f_measure();
  told["mean_distance_s"] = matching.mean_distance_s();
  told["velocity_correlation"] = matching.velocity_correlation();
  return told;
}

void say_score(std::string_view stem, const Matching& exact, const Matching& raw, Run& run) {
  run.say(fmt::format(
      "score       {:<8} F {:.3f} (precision {:.3f}, recall {:.3f}; unmerged {:.3f}), {:.1f} ms off, velocities "
      "correlate by {:.2f}",
      stem, exact.f_measure(), exact.precision(), exact.recall(), raw.f_measure(), 1e3 * exact.mean_distance_s(),
      exact.velocity_correlation()));
}

void report_score(const std::vector<StemEvents>& stems, const EventSettings& settings, const std::string& path,
                  Run& run) {
  const std::vector<ReferenceEvent> reference = read_reference(path);
  sonde::Value& told = run.results()["score"] = sonde::Value::object();
  for (const int within_ms : {50, 25}) {
    const auto scores_of = [&](Counted counted) {
      return score_drums(stems, reference, settings, within_ms * 1e-3, counted);
    };
    const std::vector<DrumScore> merged_scores = scores_of(Counted::merged), raw = scores_of(Counted::raw);
    const auto tell = [&](std::string_view stem, const Matching& exact, const Matching& unmerged) {
      told[stem][fmt::format("merged_{}_ms", within_ms)] = value_of(exact);
      told[stem][fmt::format("raw_{}_ms", within_ms)] = value_of(unmerged);
      if (within_ms == 50) say_score(stem, exact, unmerged, run);
    };
    for (std::size_t i = 0; i < raw.size(); ++i) tell(name(raw[i].drum), merged_scores[i].matching, raw[i].matching);
    tell("pooled", pooled(merged_scores), pooled(raw));
  }
}

Chart chart_of(const std::vector<StemEvents>& stems) {
  Chart chart{.columns = 1, .height = 160 + 220 * static_cast<Index>(stems.size())};
  for (const StemEvents& stem : stems) {
    Series level{.name = "level", .mark = Mark::lines};
    for (std::size_t i = 0; i < stem.levels_db.size(); ++i) {
      level.x.push_back((static_cast<double>(i) + 0.5) * stem.seconds / static_cast<double>(stem.levels_db.size()));
      level.y.push_back(std::max(-60.0, stem.levels_db[i]));
    }
    Facet facet{.title = stem.file.name, .x = {.title = "time", .unit = "s"}, .y = {.title = "peak", .unit = "dB"}};
    facet.series.push_back(std::move(level));
    std::map<std::string, Series> hits;
    for (const DrumEvent& each : stem.events) {
      Series& series = hits[std::string(info(each.hit).name)];
      series.x.push_back(each.time_s), series.y.push_back(std::max(-60.0, each.level_db));
    }
    for (auto& [hit, series] : hits) {
      series.name = hit, series.mark = Mark::points;
      facet.series.push_back(std::move(series));
    }
    chart.facets.push_back(std::move(facet));
  }
  return chart;
}

/// What is wrong with the settings is an error before anything is read.
void require_outputs(const MidiOptions& options, const Run& run) {
  run.require_named_output(!options.reference.empty());
  if (options.output.empty() && options.events.empty() && options.reference.empty() && options.plot.empty()) {
    throw Error(ErrorKind::usage, setting("output") + " is missing")
        .hint("name the MIDI file, " + setting("output", "drums.mid"));
  }
  if (!options.output.empty()) {
    require_ending(options.output, "MIDI files", {".mid", ".midi"});
    require_place(options.output);
  }
  if (!options.events.empty()) {
    require_ending(options.events, "events", {".csv", ".json"});
    require_place(options.events);
  }
  require_plot(options.plot);
}

void take_tempo(const std::vector<StemEvents>& stems, MidiWriteOptions& writing, Run& run) {
  const auto found = tempo_of(stems);
  Choice<double> tempo{writing.tempo, "no tempo was found among the events"};
  if (found) {
    tempo = {found->per_minute, fmt::format("{} beats from {:.2f} to {:.2f} s", found->beats_s.size(),
                                            found->beats_s.front(), found->beats_s.back())};
    writing.quantisation.begin_s = found->beats_s.front();
    run.results()["beats_s"] = found->beats_s;
  }
  writing.tempo = tempo.value;
  run.results()["tempo"] = tempo.value;
  run.report().add_choice("tempo", tempo);
  run.say(fmt::format("tempo       {:.2f} quarters per minute: {}", tempo.value, tempo.because));
}

void run_midi(const MidiOptions& options, Run& run) {
  require_outputs(options, run);
  const EventSettings settings = options.settings();
  MidiWriteOptions writing = options.writing();
  const std::vector<StemFile> files = stems_among(options.inputs);
  Index longest = 0;
  for (const StemFile& file : files) {
    const AudioReader reader(file.path, {.rate = event_rate, .channels = event_channels, .downmix = Downmix::mean});
    run.say(fmt::format("input       {}: {}, {:.2f} s, as {}", file.path, reader.info().format,
                        static_cast<double>(reader.frames()) / static_cast<double>(event_rate), file.name));
    longest = std::max(longest, reader.frames());
  }
  MemoryPlan memory;
  memory.peak_bytes = memory.add("stem", event_bytes(longest), "samples and curves of the longest one");
  memory.lasting_bytes = memory.peak_bytes;
  run.show_memory(memory, run.host_budget());
  if (run.dry_run()) return;

  const Reservation reserved =
      run.host_budget().reserve(memory.peak_bytes, "the longest stem", "cut it into shorter ones");
  const std::vector<StemEvents> stems = find_in_stems(files, settings, run.results()["stems"], run);
  if (!options.reference.empty()) report_score(stems, settings, options.reference, run);
  if (options.tempo == "auto") take_tempo(stems, writing, run);
  const auto phase = run.report().phase("write");
  if (!options.output.empty())
    write_text_file(options.output, midi_bytes(midi_tracks(stems, settings, options.note_ms * 1e-3), writing), run);
  if (!options.events.empty()) {
    const bool table = output_ending(options.events) == ".csv";
    write_text_file(options.events, table ? event_table(stems, settings) : to_json(event_list(stems, settings)) + "\n",
                    run);
  }
  if (!options.plot.empty()) draw(chart_of(stems), options.plot, run, text_column);
}

}  // namespace

Verb midi_verb() {
  return {
      .name = "separate midi",
      .summary = "Turn stems of drums into a MIDI file",
      .details =
          "Reads the stems that `sonde separate run` wrote, or those of any other program, finds where each drum is "
          "hit and how hard, and writes General MIDI notes on channel 10. A file is a stem of the drum that its name "
          "says: kick, snare, toms, hihat, cymbals, crash, ride and usual short forms, also within a longer name; "
          "other files of a folder are ignored. Hi-hats are open or closed, toms low, mid or high, cymbals crash or "
          "ride.\n\nEach setting of finding events is one value for all stems, or values for some of them, " +
          setting("gap", "hihat=40,kick=60") +
          "; stems that are not named keep theirs. Velocities follow the level of each hit within its stem.\n\nWith a "
          "reference, a MIDI file or a table of events, the found ones are scored: precision, recall and F within 50 "
          "and 25 ms. Events of the reference closer than the gap of their stem count as one; the scores without that "
          "are printed beside.",
      .examples = {{"sonde separate midi out/drums -o drums.mid", "All stems of a folder"},
                   {"sonde separate midi kick.wav snare.wav hh.wav -o drums.mid --quantise 1/16 --tempo 96",
                    "Three files, moved to sixteenths"},
                   {"sonde separate midi out/drums -o drums.mid --tempo auto --quantise 1/8T",
                    "Moved to triplets of the tempo that is found"},
                   {"sonde separate midi out/drums --reference played.mid --gate snare=0.02",
                    "How well the hits are found"}},
      .plans = true,
      .invoke = invocation<MidiOptions, run_midi>};
}

}  // namespace sonde::separate
