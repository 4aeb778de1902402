// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/paths.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/memory/memory_plan.h"
#include "sonde/instruments/separate/run/separation.h"
#include "sonde/instruments/separate/verbs/model_options.h"
#include "sonde/instruments/separate/verbs/stem_midi.h"
#include "sonde/instruments/separate/verbs/verbs.h"

namespace sonde::separate {
namespace {

/// "90", "1:30" or "1:02:03.5".
double seconds_of(const std::string& text) {
  double seconds = 0;
  for (const std::string& part : split(text, ':')) {
    const std::vector<double> number = parse_numbers(part, setting("start"));
    if (number.size() != 1 || !(number[0] >= 0)) {
      throw Error(ErrorKind::usage,
                  fmt::format("{} = {}; expected seconds, or minutes:seconds", setting("start"), text));
    }
    seconds = 60 * seconds + number[0];
  }
  return seconds;
}

struct RunOptions {
  std::vector<std::string> inputs;
  std::string output;
  ModelOptions model;
  std::optional<Index> overlap, chunk;
  Policy policy = Policy::fade;
  std::string stems;
  std::vector<std::string> mix;
  AudioFormat format = AudioFormat::wav;
  std::string subtype = "auto";
  std::string pattern = "{file}/{stem}";
  Dither dither = Dither::triangular;
  bool midi = false;
  Downmix downmix = Downmix::refuse;
  NonFinite nan = NonFinite::refuse;
  ResampleQuality resample_quality = ResampleQuality::very_high;
  std::string start = "0";
  std::optional<double> seconds;

  void describe(Fields& fields) {
    fields.positional("inputs", inputs, {.help = "audio files: WAV, AIFF, FLAC, Ogg, MP3", .metavar = "INPUT"});
    fields.add("output", output, {.help = "folder of the stems", .metavar = "DIR", .letter = 'o'});
    model.describe(fields);
    fields.heading("chunks");
    fields.add("overlap", overlap,
               {.help = "chunks that cover a sample; without it as the configuration says", .min = 1, .metavar = "N"});
    fields.choice("policy", policy, {{"fade", Policy::fade}, {"uniform", Policy::uniform}},
                  {.help = "how chunks are joined: weighted with ramps, or as plain means of full chunks"});
    fields.add("chunk", chunk,
               {.help = "samples of a chunk; without it as the configuration says", .min = 1, .metavar = "SAMPLES"});
    fields.heading("input");
    fields.add(
        "start", start,
        {.help = "where to begin in each file: seconds, or minutes:seconds", .metavar = "S|M:S", .alias = "from"});
    fields.add("seconds", seconds, {.help = "how much of each file; without it all", .unit = "s", .min = 0});
    fields.choice("downmix", downmix,
                  {{"refuse", Downmix::refuse}, {"first2", Downmix::first_two}, {"mean", Downmix::mean}},
                  {.help = "what becomes of more channels than the network has"});
    fields.choice("nan", nan, {{"refuse", NonFinite::refuse}, {"zero", NonFinite::zero}},
                  {.help = "what becomes of samples that are not numbers"});
    fields.choice("resample_quality", resample_quality,
                  {{"quick", ResampleQuality::quick},
                   {"low", ResampleQuality::low},
                   {"medium", ResampleQuality::medium},
                   {"high", ResampleQuality::high},
                   {"very_high", ResampleQuality::very_high}},
                  {.help = "for files of another sample rate than the network's"});
    fields.heading("output");
    fields.add("stems", stems, {.help = "the stems that are written; without it all", .metavar = "A,B"});
    fields.add(
        "mix", mix,
        {.help = "one more output, a sum of stems and of \"mixture\"; may be repeated", .metavar = "NAME=A+B-C"});
    fields.choice(
        "format", format,
        {{"wav", AudioFormat::wav}, {"flac", AudioFormat::flac}, {"ogg", AudioFormat::ogg}, {"mp3", AudioFormat::mp3}},
        {.help = "file format of the stems"});
    fields.add("subtype", subtype,
               {.help = "samples of WAV (auto: float) and FLAC (auto: pcm24)", .metavar = "auto|pcm16|pcm24|float"});
    fields.add("template", pattern,
               {.help = "names of the files, without ending: {file}, {stem} and {model} become names"});
    fields.choice("dither", dither, {{"on", Dither::triangular}, {"off", Dither::off}},
                  {.help = "noise of two steps before rounding to 16 bits, always the same"});
    fields.add("midi", midi,
               {.help = "a MIDI file of the drums beside the stems, with the settings of `sonde separate midi`; the "
                        "stems are read again, each as a whole"});
  }

  [[nodiscard]] SampleType sample_type() const {
    static const std::map<std::string, SampleType> names = {
        {"pcm16", SampleType::pcm16}, {"pcm24", SampleType::pcm24}, {"float", SampleType::f32}};
    if (subtype == "auto") return format == AudioFormat::flac ? SampleType::pcm24 : SampleType::f32;
    const auto found = names.find(subtype);
    if (found == names.end()) {
      throw Error(ErrorKind::usage,
                  fmt::format("{} = {}; expected auto, pcm16, pcm24 or float", setting("subtype"), subtype));
    }
    if (format == AudioFormat::ogg || format == AudioFormat::mp3) {
      throw Error(ErrorKind::bad_input,
                  fmt::format("{} = {}: Ogg and MP3 have no such samples", setting("subtype"), subtype))
          .hint(fmt::format("use {} wav or flac, or leave out {}", setting("format"), setting("subtype")));
    }
    return found->second;
  }

  [[nodiscard]] SeparationSettings settings(const Config& config) const {
    SeparationSettings made{.overlap = config.overlap, .policy = policy};
    made.reading = {.rate = config.sample_rate,
                    .channels = config.audio_channels,
                    .from_s = seconds_of(start),
                    .downmix = downmix,
                    .non_finite = nan,
                    .quality = resample_quality};
    if (seconds) made.reading.seconds = *seconds;
    made.writing = {.format = format,
                    .type = sample_type(),
                    .rate = config.sample_rate,
                    .channels = config.audio_channels,
                    .dither = dither};
    return made;
  }
};

/// The configuration of the model with what the caller changes.
Config changed(const Model& model, const RunOptions& options) {
  Config config = model.config;
  if (options.overlap) config.overlap = *options.overlap;
  if (options.chunk) config.chunk = *options.chunk;
  check(config);
  return config;
}

/// Every file that will be written, of which none may be there twice.
std::vector<SeparationTask> tasks_of(const RunOptions& options, const Config& config) {
  const std::vector<Output> outputs = choose_outputs(config.stems(), options.stems, options.mix);
  std::vector<SeparationTask> tasks;
  std::map<std::string, std::string> taken;  // path, and the input that it is made of
  for (const std::string& input : options.inputs) {
    SeparationTask task{.input = input, .outputs = outputs};
    for (const Output& each : outputs) {
      const std::string path = output_path(options.output, options.pattern, input, options.model.files.checkpoint,
                                           each.name, options.format);
      const auto [other, is_new] = taken.emplace(path, input);
      if (!is_new) {
        throw Error(ErrorKind::bad_input,
                    fmt::format("{}: would be written twice, from {} and {}", path, other->second, input))
            .hint(fmt::format("give the files other names, or {} with {{file}} and {{stem}}", setting("template")));
      }
      task.paths.push_back(path);
    }
    tasks.push_back(std::move(task));
  }
  return tasks;
}

MemoryPlan memory_of(const Config& config, const SeparationSettings& settings) {
  const Plan::Bytes bytes = Plan::bytes_for(config);
  MemoryPlan memory;
  const DemixSettings joining = demix_settings(config, settings);
  const std::size_t joined =
      sizeof(float) * static_cast<std::size_t>(joining.chunk * joining.channels * (6 + 3 * joining.stems));
  memory.peak_bytes = memory.add("weights", bytes.weights, "as the products want them") +
                      memory.add("values", bytes.values, "between layers, sharing memory") +
                      memory.add("workers", bytes.scratch, "rows and patches of each thread") +
                      memory.add("spectra", bytes.spectrum, "one channel") +
                      memory.add("chunks", joined, "what is read, separated and joined") +
                      memory.add("libraries", std::size_t{48} << 20, "OpenBLAS, audio, program");
  memory.lasting_bytes = memory.peak_bytes;
  return memory;
}

/// What a dry run says of the work.
void say_work(const std::vector<SeparationTask>& tasks, const SeparationSettings& settings, const Config& config,
              Run& run) {
  const DemixSettings joining = demix_settings(config, settings);
  const double gmac = multiplications(layer_list(config)) / 1e9;
  Index chunks = 0;
  for (const SeparationTask& task : tasks) {
    const AudioReader reader(task.input, settings.reading);
    const Index count = chunk_count(joining, reader.frames());
    chunks += count;
    run.say(fmt::format("input       {}: {}, {} channel{}, {} Hz, {:.2f} s, {} chunks", task.input,
                        reader.info().format, reader.info().channels, reader.info().channels == 1 ? "" : "s",
                        reader.info().rate,
                        static_cast<double>(reader.frames()) / static_cast<double>(config.sample_rate), count));
  }
  run.say(fmt::format("chunks      {} of {} samples, every {} ({} cover a sample); {:.4g} GMAC", chunks, config.chunk,
                      joining.step(), joining.overlap, gmac * static_cast<double>(chunks)));
  run.results()["chunks"] = chunks;
  run.results()["gmac"] = gmac * static_cast<double>(chunks);
}

void report_file(const SeparationTask& task, const SeparationResult& result, const Config& config, Run& run) {
  sonde::Value& told = run.results()["inputs"].push_back(sonde::Value::object());
  const double audio_s = static_cast<double>(result.samples) / static_cast<double>(config.sample_rate);
  told["path"] = task.input;
  told["format"] = result.input.format;
  told["seconds"] = audio_s;
  told["chunks"] = result.chunks;
  told["run"]["network_s"] = result.network_s;
  told["run"]["first_chunk_s"] = result.first_chunk_s;
  told["consistency_db"] = result.consistency_db;
  told["unweighted_samples"] = result.unweighted;
  told["zeroed_samples"] = result.zeroed;
  for (std::size_t i = 0; i < task.outputs.size(); ++i) {
    sonde::Value& output = told["outputs"].push_back(sonde::Value::object());
    output["name"] = task.outputs[i].name;
    output["path"] = task.paths[i];
    output["peak"] = result.outputs[i].peak;
    output["rms"] = result.outputs[i].rms;
    output["clipped"] = result.outputs[i].clipped;
    run.results()["files"].push_back(task.paths[i]);
    run.say(fmt::format(
        "wrote       {}  peak {:.3f}, {:.1f} dB{}", task.paths[i], result.outputs[i].peak,
        20 * std::log10(std::max(1e-9, result.outputs[i].rms)),
        result.outputs[i].clipped == 0 ? "" : fmt::format(", {} samples clipped", result.outputs[i].clipped)));
  }
  run.say(
      fmt::format("network     {:.2f} s for {:.2f} s of audio; all stems together differ from the mixture by {:.1f} dB",
                  result.network_s, audio_s, result.consistency_db));
}

void run_separation(const RunOptions& options, Run& run) {
  if (options.output.empty()) {
    throw Error(ErrorKind::usage, setting("output") + " is missing")
        .hint("name the folder of the stems, " + setting("output", "out"));
  }
  auto reading = run.report().phase("read");
  const Model model = options.model.open(run);
  const Config config = changed(model, options);
  const SeparationSettings settings = options.settings(config);
  check(demix_settings(config, settings));
  const std::vector<SeparationTask> tasks = tasks_of(options, config);
  if (options.midi) (void)midi_beside(tasks.front().outputs, tasks.front().paths);
  say_work(tasks, settings, config, run);
  const MemoryPlan memory = memory_of(config, settings);
  run.show_memory(memory, run.host_budget());
  reading.end();
  if (run.dry_run()) return;

  const Reservation reserved = run.host_budget().reserve(memory.peak_bytes, "the network", "lower " + setting("chunk"));
  for (const SeparationTask& task : tasks) {
    for (const std::string& path : task.paths) {
      make_folders(std::filesystem::path(path).parent_path());
      require_place(path, {.what = "the stem"});
    }
  }
  auto preparing = run.report().phase("prepare");
  Plan plan = Plan::prepare(config, model.values());
  preparing.end();
  for (const SeparationTask& task : tasks) {
    const auto separating = run.report().phase("separate");
    report_file(task, separate_file(task, settings, config, plan), config, run);
    if (options.midi) write_stem_midi(midi_beside(task.outputs, task.paths), run);
  }
}

}  // namespace

Verb run_verb() {
  return {
      .name = "separate run",
      .summary = "Separate audio files into stems with a trained network",
      .details =
          "Reads a checkpoint of an MDX23C (TFC-TDF v3) network as it is (see `sonde separate info`) and audio files "
          "of any length, and writes one file for each stem, as long as the input, at the network's sample rate. "
          "The file is read, separated and written in pieces: memory does not depend on its length. Results are the "
          "same bits for every number of threads.\n\nThe network sees chunks; with an overlap of N each sample is the "
          "mean of N of them. More overlap is smoother and takes N times as long. `fade` is the way of "
          "Music-Source-Separation-Training, `uniform` that of Ultimate Vocal Remover.\n\nA sum of stems is an output "
          "of its own: `cymbals=ride+crash`, and `drumless=mixture-drums` what is left of the file without a stem. "
          "What is beyond -1 to 1 is kept in floating point and clipped, with a count, in other formats.",
      .examples = {{"sonde separate run drums.wav --checkpoint DrumSep.ckpt -o out",
                    "Every stem of a drum track in out/drums/"},
                   {"sonde separate run song.mp3 --checkpoint vocals.ckpt -o out --mix instrumental=mixture-vocals "
                    "--format flac",
                    "The vocals, and the song without them"},
                   {"sonde separate run song.wav --checkpoint m.ckpt -o out --start 0:30 --seconds 10 --overlap 1",
                    "A quick look at ten seconds"}},
      .plans = true,
      .invoke = invocation<RunOptions, run_separation>};
}

}  // namespace sonde::separate
