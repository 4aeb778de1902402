// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/verbs/run_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/instruments/separate/run/stem_source.h"

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

/// Throws Error(bad_input) where two of these tasks write one file.
void require_own_files(const RunTasks& tasks) {
  std::map<std::string, std::string> taken;  // path, and the input that it is made of
  const auto take = [&](const std::string& path, const std::string& input) {
    const auto [other, is_new] = taken.emplace(path, input);
    if (is_new) return;
    throw Error(ErrorKind::bad_input,
                fmt::format("{}: would be written twice, from {} and {}", path, other->second, input))
        .hint(
            fmt::format("give the files other names, or {} with {{dir}}, {{file}} and {{stem}}", setting("template")));
  };
  for (const auto* each : {&tasks.songs, &tasks.stems}) {
    for (const SeparationTask& task : *each) {
      for (const std::string& path : task.paths) take(path, task.input);
      take(task.record + ".json", task.input);
    }
  }
}

/// Settings of the first network that the second one has under another name.
constexpr std::array<std::pair<const char*, const char*>, 6> names_of_second = {{{"checkpoint", "then"},
                                                                                 {"model", "then_model"},
                                                                                 {"state_key", "then_state_key"},
                                                                                 {"overlap", "then_overlap"},
                                                                                 {"chunk", "then_chunk"},
                                                                                 {"dim_t", "then_dim_t"}}};

}  // namespace

void RunOptions::check_second() const {
  if (has_second()) return;
  const ChunkOptions& of = second_chunks;
  for (const auto& [key, is_given] : {std::pair{"then_model", !second.files.model.empty()},
                                      {"then_state_key", !second.files.state_key.empty()},
                                      {"then_stem", second_stem != RunOptions().second_stem},
                                      {"then_overlap", of.overlap.has_value()},
                                      {"then_chunk", of.chunk.has_value()},
                                      {"then_dim_t", of.frames.has_value()}}) {
    if (!is_given) continue;
    throw Error(ErrorKind::usage, setting(key) + ": there is no second network")
        .hint("name it, " + setting("then", "MODEL.ckpt"));
  }
}

Error with_settings_of_second(const Error& error) {
  const auto renamed = [](std::string_view key) -> std::optional<std::string> {
    for (const auto& [first, second] : names_of_second) {
      if (key == first) return second;
    }
    return std::string(key);
  };
  return error.changed(
      [&renamed](const std::string& text) { return with_renamed_settings(text, renamed, "sonde separate run"); });
}

void RunOptions::describe(Fields& fields) {
  fields.positional("inputs", inputs,
                    {.help = "audio files (WAV, AIFF, FLAC, Ogg, MP3) and folders of them", .metavar = "INPUT"});
  fields.add("output", output, {.help = "folder of the stems", .metavar = "DIR", .letter = 'o'});
  model.describe(fields);
  fields.heading("chunks");
  fields.add("overlap", chunks.overlap,
             {.help = "chunks that cover a sample; without it as the configuration says", .min = 1, .metavar = "N"});
  fields.choice("policy", policy, {{"fade", Policy::fade}, {"uniform", Policy::uniform}},
                {.help = "how chunks are joined: weighted with ramps, or as plain means of full chunks"});
  fields.add("chunk", chunks.chunk,
             {.help = "samples of a chunk; without it as the configuration says", .min = 1, .metavar = "SAMPLES"});
  fields.add(
      "dim_t", chunks.frames,
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
  fields.heading("second network");
  second.describe_second(fields);
  fields.add("then_stem", second_stem,
             {.help = "the stem that the second network separates, or the name of a sum", .metavar = "STEM"});
  fields.add("then_overlap", second_chunks.overlap,
             {.help = "chunks that cover a sample; without it that of the first network, where it is given, or as the "
                      "configuration says",
              .min = 1,
              .metavar = "N"});
  fields.add("then_chunk", second_chunks.chunk,
             {.help = "samples of a chunk; without it as the configuration says", .min = 1, .metavar = "SAMPLES"});
  fields.add("then_dim_t", second_chunks.frames, {.help = "the same in frames", .min = 1, .metavar = "N"});
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
  fields.add("stems", stems,
             {.help = "the stems that are written, of the network that has them; without it all", .metavar = "A,B"});
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

SeparationSettings RunOptions::second_settings(const Config& config) const {
  SeparationSettings made = settings(config);
  made.reading.from_s = 0;  // the first network separates no more of a file than what is wanted
  made.reading.seconds = std::numeric_limits<double>::infinity();
  return made;
}

Config ChunkOptions::applied_to(Config config) const {
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

Config RunOptions::second_config(const Config& of) const {
  ChunkOptions asked = second_chunks;
  if (!asked.overlap) asked.overlap = chunks.overlap;
  return asked.applied_to(of);
}

SeparationTask RunOptions::placed(const std::string& input, const std::vector<Output>& outputs,
                                  const std::string& folder, PathWords words) const {
  const auto place = [&](const std::string& stem) {
    words.stem = stem;
    return output_path(folder, pattern, words);
  };
  SeparationTask task{.input = input, .outputs = outputs};
  for (const Output& each : outputs) task.paths.push_back(place(each.name) + ending(format));
  task.record = place("separation");
  return task;
}

RunTasks RunOptions::tasks(const Config& config, const SeparationSettings& settings,
                           const Config* second_config) const {
  const std::vector<std::string> others =
      second_config != nullptr ? second_config->stems() : std::vector<std::string>();
  const std::vector<Output> outputs = choose_outputs(config.stems(), stems, sums, others);
  const auto name_of = [](const ModelOptions& of) {
    return std::filesystem::path(of.files.checkpoint).stem().string();
  };
  std::vector<Output> of_stem;
  Output stem;
  if (second_config != nullptr) {
    of_stem = choose_outputs(others, stems, sums, config.stems());
    stem = output_named(choose_outputs(config.stems(), "", sums, others), second_stem, setting("then_stem"));
    if (of_stem.empty()) {
      throw Error(ErrorKind::bad_input, fmt::format("{} = {}: none of the second network, which would write nothing",
                                                    setting("stems"), stems))
          .hint(fmt::format("add some of {}, or leave out {}", join_words(others), setting("then")));
    }
  }
  RunTasks made;
  for (const FoundInput& input : find_inputs(inputs, recursive)) {
    PathWords words{
        .file = std::filesystem::path(input.path).stem().string(), .dir = input.dir, .model = name_of(model)};
    made.songs.push_back(placed(input.path, outputs, output, words));
    if (second_config == nullptr) continue;
    words.stem = stem.name;
    const std::filesystem::path place = output_path(output, pattern, words);
    made.stems.push_back(placed(place.string() + ending(format), of_stem, place.parent_path().string(),
                                {.file = place.filename().string(), .model = name_of(second)}));
    made.stems.back().source = std::make_shared<const StemSource>(stem_of(made.songs.back(), stem, settings, config));
  }
  require_own_files(made);
  return made;
}

}  // namespace sonde::separate
