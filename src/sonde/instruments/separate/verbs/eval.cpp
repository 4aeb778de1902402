// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <set>
#include <string>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/io/output_ending.h"
#include "sonde/instruments/separate/verbs/score_text.h"
#include "sonde/instruments/separate/verbs/stem_midi.h"
#include "sonde/instruments/separate/verbs/verbs.h"

namespace sonde::separate {
namespace {

struct EvalOptions {
  std::string reference, estimate, mixture, output;
  std::string metrics = "sdr,si_sdr";
  double frame = 1, hop = 1;
  std::optional<Index> rate;
  Lengths lengths = Lengths::refuse;

  void describe(Fields& fields) {
    fields.positional("reference", reference, {.help = "the true stems: a folder, or one file", .metavar = "DIR|FILE"});
    fields.positional("estimate", estimate,
                      {.help = "what is scored: files of the same names, or one file", .metavar = "DIR|FILE"});
    fields.add("output", output, {.help = "the scores as a table", .metavar = "FILE.csv", .letter = 'o'});
    fields.add("mixture", mixture,
               {.help = "what was separated, for the rise of the SDR; without it the file called mixture among the "
                        "true stems, if there is one",
                .metavar = "FILE"});
    fields.add("metrics", metrics,
               {.help = "sdr and si_sdr are always computed; bss_eval takes longer", .metavar = "sdr,si_sdr,bss_eval"});
    fields.add("frame", frame, {.help = "length of the frames of which medians are taken", .unit = "s", .min = 1e-3});
    fields.add("hop", hop, {.help = "from one frame to the next", .unit = "s", .min = 1e-3});
    fields.add("rate", rate,
               {.help = "resample all files to this rate; without it all must have the same", .unit = "Hz", .min = 1});
    fields.choice("lengths", lengths, {{"refuse", Lengths::refuse}, {"shortest", Lengths::shortest}},
                  {.help = "what becomes of files of other lengths: an error, or only the part that all have"});
  }

  [[nodiscard]] bool wants_bss_eval() const {
    static const std::vector<std::string> known = {"sdr", "si_sdr", "bss_eval"};
    bool wanted = false;
    for (const std::string& each : split(metrics, ',')) {
      const std::string name(trim(each));
      if (std::find(known.begin(), known.end(), name) == known.end())
        throw Error(ErrorKind::usage,
                    fmt::format("{}: unknown metric \"{}\"{}", setting("metrics"), name, did_you_mean(name, known)))
            .hint("there are " + join_words(known));
      wanted = wanted || name == "bss_eval";
    }
    return wanted;
  }
};

void run_eval(const EvalOptions& options, Run& run) {
  ScoreSettings settings{.bss_eval = options.wants_bss_eval()};
  if (!options.output.empty()) {
    (void)require_ending(options.output, "scores", {".csv"});
    require_place(options.output);
  }
  StemPairs pairs = pair_stems(options.reference, options.estimate);
  if (!options.mixture.empty()) pairs.mixture = options.mixture;
  const CommonAudio audio = common_audio(pairs, options.rate, options.lengths);
  const auto samples = [&](double seconds) {
    return std::max<Index>(1, std::llround(seconds * static_cast<double>(audio.rate)));
  };
  settings.frames = {.window = samples(options.frame), .hop = samples(options.hop)};

  const Index frames = settings.frames.count(audio.samples);
  run.say(fmt::format(
      "stems       {} of {:.2f} s, {} Hz, {} channel{}; {}", pairs.pairs.size(),
      static_cast<double>(audio.samples) / static_cast<double>(audio.rate), audio.rate, audio.channels,
      audio.channels == 1 ? "" : "s",
      frames == 1 ? std::string("one frame") : fmt::format("{} frames of {:.4g} s", frames, options.frame)));
  for (const auto& [files, which] : {std::pair{&pairs.only_reference, "estimate"}, {&pairs.only_estimate, "true stem"}})
    for (const std::string& each : *files)
      run.say(fmt::format("left out    {}: there is no {} of that name", each, which));
  const std::size_t bytes = score_bytes(pairs, audio, settings);
  if (run.dry_run()) {
    MemoryPlan memory;
    memory.peak_bytes = memory.lasting_bytes = memory.add(
        "scores", bytes, settings.bss_eval ? "all stems, their spectra and normal equations" : "a pair of stems");
    return run.show_memory(memory, run.host_budget());
  }
  const Reservation reserved = run.host_budget().reserve(
      bytes, "the scores", settings.bss_eval ? "leave bss_eval out of " + setting("metrics") : "score shorter files");
  auto scoring = run.report().phase("score");
  const std::vector<StemScore> scores = score_stems(pairs, audio, settings);
  scoring.end();
  report_scores(scores, run);
  run.results()["sample_rate"] = audio.rate;
  run.results()["samples"] = audio.samples;
  if (options.output.empty()) return;
  write_text_file(options.output, scores_csv(scores), run);
}

}  // namespace

Verb eval_verb() {
  return {
      .name = "separate eval",
      .summary = "Score separated stems against the true ones",
      .details =
          "Files of two folders are compared whose names are equal but for ending and case: kick.flac with Kick.wav. "
          "They must have one sample rate and one length, unless `rate` and `lengths` say otherwise. A stem's SDR is "
          "10 log10(|truth|^2 / |truth - estimate|^2) over all channels; SI-SDR the same for any loudness of the "
          "estimate (Le Roux et al. 2019); `frames` is the median of the SDR of frames, without those where the true "
          "stem is silent. With a mixture, `rise` is how far the SDR is above that of the mixture taken as the "
          "estimate: how much the separation is worth.\n\n`bss_eval` in `metrics` adds SDR, SIR and SAR of BSS-Eval "
          "version 3 (Vincent, Gribonval and Fevotte 2006), which forgive filters of 512 taps, of the mean of the "
          "channels: of the whole files, for the order of estimates with the largest mean SIR, and the medians of "
          "frames.",
      .examples = {{"sonde separate eval truth/ out/song/", "Every stem that is in both folders"},
                   {"sonde separate eval truth/ out/song/ --mixture song.wav -o scores.csv",
                    "And what was gained over the mixture, as a table"},
                   {"sonde separate eval truth/ out/song/ --metrics sdr,bss_eval --json", "With BSS-Eval, as data"}},
      .plans = true,
      .invoke = invocation<EvalOptions, run_eval>};
}

}  // namespace sonde::separate
