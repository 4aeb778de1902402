// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/verbs/run_options.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"

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

/// A chunk that was asked for, in frames or in samples, has whole hops, and frames that are divided on every scale.
void require_whole_chunk(const Config& config, bool in_frames) {
  Index step = 1;
  for (Index i = 0; i < config.scales; ++i) step *= config.scale_time;
  if (config.chunk % config.hop == 0 && config.frames() % step == 0) return;
  std::vector<std::string> near;
  const Index above = (config.frames() / step + 1) * step;
  for (const Index frames : {above - step, above}) {
    const Index samples = config.hop * (frames - 1);
    const Index number = in_frames ? frames : samples;
    if (samples > config.n_fft / 2) near.push_back(setting(in_frames ? "dim_t" : "chunk", std::to_string(number)));
  }
  Error error(ErrorKind::bad_input,
              in_frames ? fmt::format("{} = {}; expected a multiple of {}", setting("dim_t"), config.frames(), step)
                        : fmt::format("{} = {}; expected {} (N - 1) samples with N a multiple of {}", setting("chunk"),
                                      config.chunk, config.hop, step));
  throw near.empty() ? error : error.hint("use " + join_words(near, " or "));
}

}  // namespace

void RunOptions::describe(Fields& fields) {
  fields.positional("inputs", inputs,
                    {.help = "audio files (WAV, AIFF, FLAC, Ogg, MP3) and folders of them", .metavar = "INPUT"});
  fields.add("output", output, {.help = "folder of the stems", .metavar = "DIR", .letter = 'o'});
  model.describe(fields);
  fields.heading("chunks");
  fields.add("overlap", overlap,
             {.help = "chunks that cover a sample; without it as the configuration says", .min = 1, .metavar = "N"});
  fields.choice("policy", policy, {{"fade", Policy::fade}, {"uniform", Policy::uniform}},
                {.help = "how chunks are joined: weighted with ramps, or as plain means of full chunks"});
  fields.add("chunk", chunk,
             {.help = "samples of a chunk; without it as the configuration says", .min = 1, .metavar = "SAMPLES"});
  fields.add(
      "dim_t", frames,
      {.help = "the same in frames, as UVR counts segments: hop_length (N - 1) samples", .min = 1, .metavar = "N"});
  fields.add(
      "shifts", shifts,
      {.help = "mean of N results, of the file shifted in a circle by 0, 1/N, ... of its length: N times the work",
       .min = 1,
       .max = 100,
       .metavar = "N"});
  fields.add("tta", tta,
             {.help = "mean of three results: of each chunk, of its channels exchanged, and of its negative"});
  fields.add("preview", preview,
             {.help = "write stems after a first pass that computes each sample once, and better ones after each pass "
                      "that follows; no more work, the last stems up to rounding"});
  fields.add(
      "quality", quality,
      {.help = "how far the stems can be trusted, without true ones: how far passes over the file agree and what "
               "the stems lack of the mixture, over time, in separation.json; no more work, and stems as with "
               "preview"});
  fields.heading("network");
  fields.add("batch", batch,
             {.help = "chunks in one pass; they go one after another, whatever N is", .metavar = "N|auto"});
  fields.add(
      "tune", tune,
      {.help = "compute each 3 x 3 convolution in the way that was measured to be faster for this network: once, "
               "for as long as two chunks take, and kept for later runs that tune"});
  fields.choice("precision", precision,
                {{"auto", Precision::automatic},
                 {"f32", Precision::f32},
                 {"f16", Precision::f16},
                 {"bf16", Precision::bf16},
                 {"tf32", Precision::tf32}},
                {.help = "of the weights, which compute in float32: f16 and bf16 show what half precision costs, and "
                         "save nothing; tf32 is that of products on a GPU"});
  fields.add("verify_precision", verify_precision,
             {.help = "compare the first chunk with weights in float32 and direct convolutions"});
  fields.heading("input");
  fields.add("recursive", recursive, {.help = "look for files in the folders of a named folder too"});
  fields.add(
      "resume", resume,
      {.help = "continue where an earlier run was interrupted, and skip files that are complete", .flag_only = true});
  fields.add("start", start,
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
  fields.add("mix", sums.mixes,
             {.help = "one more output, a sum of stems and of \"mixture\"", .metavar = "NAME=A+B-C"});
  fields.add("residual", sums.residuals,
             {.help = "one more output, the mixture without this stem (no_STEM), or without all (residual)",
              .metavar = "STEM|all"});
  fields.choice(
      "format", format,
      {{"wav", AudioFormat::wav}, {"flac", AudioFormat::flac}, {"ogg", AudioFormat::ogg}, {"mp3", AudioFormat::mp3}},
      {.help = "file format of the stems"});
  fields.add("subtype", subtype,
             {.help = "samples of WAV (auto: float) and FLAC (auto: pcm24)", .metavar = "auto|pcm16|pcm24|float"});
  fields.add("template", pattern,
             {.help = "names of the files, without ending: {file}, {stem} and {model} become names, {dir} the folders "
                      "of the file below a named folder"});
  fields.add("keep_rate", keep_rate, {.help = "stems at the sample rate of the file, as long as the file"});
  fields.choice("clip", clip, {{"warn", Clip::warn}, {"rescale", Clip::rescale}, {"float", Clip::to_float}},
                {.help = "what becomes of samples beyond -1 to 1 in files of integers: clipped and counted, all "
                         "stems quieter by one factor, or the files in floating point"});
  fields.choice("dither", dither, {{"on", Dither::triangular}, {"off", Dither::off}},
                {.help = "noise of two steps before rounding to 16 bits, always the same"});
  fields.add("midi", midi,
             {.help = "a MIDI file of the drums beside the stems, with the settings of `sonde separate midi`; the "
                      "stems are read again, each as a whole"});
}

SampleType RunOptions::sample_type() const {
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

SeparationSettings RunOptions::settings(const Config& config) const {
  SeparationSettings made{.overlap = config.overlap,
                          .policy = policy,
                          .shifts = shifts,
                          .tta = tta,
                          .preview = preview,
                          .quality = quality,
                          .resume = resume};
  made.reading = {.rate = config.sample_rate,
                  .channels = config.audio_channels,
                  .from_s = seconds_of(start),
                  .downmix = downmix,
                  .non_finite = nan,
                  .quality = resample_quality};
  if (seconds) made.reading.seconds = *seconds;
  made.writing = {.file = {.format = format,
                           .type = sample_type(),
                           .rate = config.sample_rate,
                           .channels = config.audio_channels,
                           .dither = dither},
                  .clip = clip,
                  .keep_rate = keep_rate,
                  .quality = resample_quality};
  if (clip == Clip::to_float && format != AudioFormat::wav) {
    throw Error(ErrorKind::bad_input, fmt::format("{} = float: only WAV holds floating point", setting("clip")))
        .hint(fmt::format("use {} rescale, or {} wav", setting("clip"), setting("format")));
  }
  return made;
}

Config RunOptions::config_of(const Model& of) const {
  Config config = of.config;
  if (chunk && frames) {
    throw Error(ErrorKind::usage, fmt::format("{} and {} say the same in two ways; expected one of them",
                                              setting("chunk"), setting("dim_t")));
  }
  if (overlap) config.overlap = *overlap;
  if (chunk) config.chunk = *chunk;
  if (frames) config.chunk = config.hop * (*frames - 1);
  if (chunk || frames) require_whole_chunk(config, frames.has_value());
  check(config);
  return config;
}

std::vector<SeparationTask> RunOptions::tasks(const Config& config) const {
  const std::vector<Output> outputs = choose_outputs(config.stems(), stems, sums);
  std::vector<SeparationTask> all;
  std::map<std::string, std::string> taken;  // path, and the input that it is made of
  for (const FoundInput& input : find_inputs(inputs, recursive)) {
    const auto place = [&](const std::string& stem) {
      return output_path(output, pattern,
                         {.file = std::filesystem::path(input.path).stem().string(),
                          .dir = input.dir,
                          .model = std::filesystem::path(model.files.checkpoint).stem().string(),
                          .stem = stem});
    };
    SeparationTask task{.input = input.path, .outputs = outputs};
    for (const Output& each : outputs) {
      const std::string path = place(each.name) + ending(format);
      const auto [other, is_new] = taken.emplace(path, input.path);
      if (!is_new) {
        throw Error(ErrorKind::bad_input,
                    fmt::format("{}: would be written twice, from {} and {}", path, other->second, input.path))
            .hint(fmt::format("give the files other names, or {} with {{dir}}, {{file}} and {{stem}}",
                              setting("template")));
      }
      task.paths.push_back(path);
    }
    task.record = place("separation");
    all.push_back(std::move(task));
  }
  return all;
}

}  // namespace sonde::separate
