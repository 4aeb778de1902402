// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/paths.h"
#include "sonde/engine/base/sha256.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/base/version.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/memory/memory_plan.h"
#include "sonde/engine/memory/scratch_file.h"
#include "sonde/instruments/separate/network/estimate.h"
#include "sonde/instruments/separate/network/precision.h"
#include "sonde/instruments/separate/run/separation.h"
#include "sonde/instruments/separate/verbs/expected_time.h"
#include "sonde/instruments/separate/verbs/gpu_network.h"
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
  std::optional<Index> overlap, chunk, frames;
  Policy policy = Policy::fade;
  Index shifts = 1;
  bool tta = false;
  std::string batch = "auto";
  Precision precision = Precision::automatic;
  bool verify_precision = false;
  std::string stems;
  Sums sums;
  AudioFormat format = AudioFormat::wav;
  std::string subtype = "auto";
  std::string pattern = "{file}/{stem}";
  Clip clip = Clip::warn;
  bool keep_rate = false;
  Dither dither = Dither::triangular;
  bool midi = false;
  bool recursive = false, resume = false;
  Downmix downmix = Downmix::refuse;
  NonFinite nan = NonFinite::refuse;
  ResampleQuality resample_quality = ResampleQuality::very_high;
  std::string start = "0";
  std::optional<double> seconds;

  void describe(Fields& fields) {
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
    fields.heading("network");
    fields.add("batch", batch,
               {.help = "chunks in one pass; they go one after another, whatever N is", .metavar = "N|auto"});
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
    fields.add(
        "template", pattern,
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
    SeparationSettings made{
        .overlap = config.overlap, .policy = policy, .shifts = shifts, .tta = tta, .resume = resume};
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
};

/// The configuration of the model with what the caller changes.
Config changed(const Model& model, const RunOptions& options) {
  Config config = model.config;
  if (options.chunk && options.frames) {
    throw Error(ErrorKind::usage, fmt::format("{} and {} say the same in two ways; expected one of them",
                                              setting("chunk"), setting("dim_t")));
  }
  if (options.overlap) config.overlap = *options.overlap;
  if (options.chunk) config.chunk = *options.chunk;
  if (options.frames) config.chunk = config.hop * (*options.frames - 1);
  check(config);
  return config;
}

/// Every file that will be written, of which none may be there twice.
std::vector<SeparationTask> tasks_of(const RunOptions& options, const Config& config) {
  const std::vector<Output> outputs = choose_outputs(config.stems(), options.stems, options.sums);
  std::vector<SeparationTask> tasks;
  std::map<std::string, std::string> taken;  // path, and the input that it is made of
  for (const FoundInput& input : find_inputs(options.inputs, options.recursive)) {
    const auto place = [&](const std::string& stem) {
      return output_path(options.output, options.pattern,
                         {.file = std::filesystem::path(input.path).stem().string(),
                          .dir = input.dir,
                          .model = std::filesystem::path(options.model.files.checkpoint).stem().string(),
                          .stem = stem});
    };
    SeparationTask task{.input = input.path, .outputs = outputs};
    for (const Output& each : outputs) {
      const std::string path = place(each.name) + ending(options.format);
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
    tasks.push_back(std::move(task));
  }
  return tasks;
}

/// Host memory, with the network on the CPU or on a GPU.
MemoryPlan memory_of(const Config& config, const SeparationSettings& settings, const PlanOptions& algorithms,
                     const GpuNetwork* gpu = nullptr) {
  const Plan::Bytes bytes =
      gpu != nullptr ? Plan::Bytes{.values = gpu->host_bytes} : Plan::bytes_for(config, algorithms);
  std::size_t parameter_bytes = 0;
  for (const Parameter& each : parameters(config, layer_list(config))) {
    parameter_bytes += sizeof(float) * static_cast<std::size_t>(each.shape.count());
  }
  MemoryPlan memory;
  const std::size_t weights = memory.add("weights", bytes.weights, "as the products want them"),
                    libraries = memory.add("libraries", std::size_t{48} << 20, "OpenBLAS, audio, program");
  memory.loading_bytes =
      weights + libraries + memory.add("parameters", parameter_bytes, "of the checkpoint, until the weights are made");
  memory.lasting_bytes = weights + libraries +
                         memory.add("values", bytes.values,
                                    gpu != nullptr ? "copied to and from the GPU" : "between layers, sharing memory") +
                         memory.add("workers", bytes.scratch, "rows and patches of each thread") +
                         memory.add("spectra", bytes.spectrum, "one channel") +
                         memory.add("chunks", bytes_for(config, settings), "what is read, separated and joined");
  memory.peak_bytes = std::max(memory.loading_bytes, memory.lasting_bytes);
  return memory;
}

struct Work {
  Index passes = 0;  ///< of chunks through the network
  double audio_s = 0, longest_s = 0;
};

/// Reads the head of every file, says what it is, and refuses what would fail later.
Work say_work(const std::vector<SeparationTask>& tasks, const SeparationSettings& settings, const Config& config,
              Run& run) {
  const DemixSettings joining = demix_settings(config, settings);
  const double gmac = multiplications(layer_list(config)) / 1e9;
  Work work;
  double disk_bytes = 0, kept = 0;
  for (const SeparationTask& task : tasks) {
    const AudioReader reader(task.input, settings.reading);
    AudioWriteOptions file = settings.writing.file;
    if (settings.writing.keep_rate) file.rate = reader.info().rate;
    check(file);
    const Index passes = network_passes(config, settings, reader.frames());
    const double seconds = static_cast<double>(reader.frames()) / static_cast<double>(config.sample_rate);
    work.passes += passes, work.audio_s += seconds, work.longest_s = std::max(work.longest_s, seconds);
    kept = std::max(kept, kept_bytes(config, reader.frames()));
    if (!clips(file)) {
      const Index written = settings.writing.keep_rate ? reader.source_frames() : reader.frames();
      disk_bytes += 4.0 * static_cast<double>(written * file.channels) * static_cast<double>(task.outputs.size());
    }
    run.say(fmt::format("input       {}: {}, {} channel{}, {} Hz, {:.2f} s, {} chunks", task.input,
                        reader.info().format, reader.info().channels, reader.info().channels == 1 ? "" : "s",
                        reader.info().rate, seconds, passes));
  }
  // What is kept of a file is there while the stems of the one before are written.
  disk_bytes += std::min<double>(2, static_cast<double>(tasks.size())) * kept;
  run.say(fmt::format("chunks      {} of {} samples, every {} ({:.4g} % overlap, {} cover a sample); {:.4g} GMAC",
                      work.passes, config.chunk, joining.step(),
                      100 * (1 - static_cast<double>(joining.step()) / static_cast<double>(config.chunk)),
                      joining.overlap, gmac * static_cast<double>(work.passes)));
  run.results()["chunks"] = work.passes;
  run.results()["gmac"] = gmac * static_cast<double>(work.passes);
  run.results()["disk_bytes"] = disk_bytes;
  return work;
}

/// How the layers are computed, as far as the budget has room for it.
std::vector<ConvolutionMethod> choose_methods(const Config& config, const SeparationSettings& settings, Run& run) {
  const MemoryPlan all = memory_of(config, settings, {});
  const std::size_t network = Plan::bytes_for(config).sum(), others = all.lasting_bytes - network;
  const std::size_t limit = run.host_budget().available_bytes();
  std::vector<ConvolutionMethod> methods = methods_within(config, limit > others ? limit - others : 0);
  const auto direct = [&](const std::vector<ConvolutionMethod>& of) {
    return std::count(of.begin(), of.end(), ConvolutionMethod::direct);
  };
  const auto changed = direct(methods) - direct(methods_within(config, network));
  const auto tiled = std::count(methods.begin(), methods.end(), ConvolutionMethod::winograd);
  run.report().add_choice("convolutions",
                          fmt::format("{} of {} layers by Winograd's transforms", tiled, methods.size()),
                          changed == 0 ? "where a layer has 256 tiles or more"
                                       : fmt::format("{} more would not fit the memory that may be held", changed));
  return methods;
}

/// What all of it will take, of which the network is nearly all.
void say_time(const Work& work, const Config& config, const std::vector<ConvolutionMethod>& methods, Run& run) {
  const auto chunk_s = expected_chunk_seconds(config, methods, run);
  if (!chunk_s) {
    run.say("times       not known: the memory that may be held has no space to measure them");
    return;
  }
  const double seconds = chunk_s->value * static_cast<double>(work.passes);
  run.say(fmt::format("times       {} expected for {:.2f} s of audio: {} a chunk, {}", format_seconds(seconds),
                      work.audio_s, format_seconds(chunk_s->value), chunk_s->because));
  run.results()["run"]["expected_s"] = seconds;
  run.results()["run"]["expected_chunk_s"] = chunk_s->value;
}

/// Throws Error(io) where the disk has no room for what is written and kept.
void require_room_on_disk(const std::string& folder, double bytes) {
  std::filesystem::path there = absolute_path(folder);
  while (!is_folder(there) && there.has_relative_path()) there = there.parent_path();
  const auto free = static_cast<double>(free_disk_bytes(there.string()));
  if (bytes <= free) return;
  throw Error(ErrorKind::io, fmt::format("{}: {} free on the disk; the stems and what is kept meanwhile take {}",
                                         folder, format_bytes(free), format_bytes(bytes)))
      .hint(fmt::format("free space there, choose a folder on another disk, or write fewer {} or {} flac",
                        setting("stems"), setting("format")));
}

/// Folders that are made for a run, and removed when nothing came into them.
class MadeFolders {
 public:
  MadeFolders() = default;
  MadeFolders(const MadeFolders&) = delete;
  MadeFolders& operator=(const MadeFolders&) = delete;
  ~MadeFolders() {
    for (auto each = made_.rbegin(); each != made_.rend(); ++each) {
      std::error_code is_not_empty;
      std::filesystem::remove(*each, is_not_empty);
    }
  }
  void make(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> missing;
    for (std::filesystem::path each = absolute_path(folder); !path_exists(each) && each.has_relative_path();
         each = each.parent_path()) {
      missing.push_back(each);
    }
    make_folders(folder);
    made_.insert(made_.end(), missing.rbegin(), missing.rend());
  }

 private:
  std::vector<std::filesystem::path> made_;  // a folder before those in it
};

void report_file(const SeparationTask& task, const SeparationResult& result, const Config& config, Run& run) {
  Value& told = run.results()["inputs"].push_back(Value::object());
  told["path"] = task.input;
  told["was_complete"] = result.was_complete;
  if (result.was_complete) {
    run.say(fmt::format("complete    {}, by an earlier run", task.input));
    return;
  }
  const double audio_s = static_cast<double>(result.samples) / static_cast<double>(config.sample_rate);
  told["format"] = result.input.format;
  told["seconds"] = audio_s;
  told["chunks"] = result.chunks;
  told["resumed_at_s"] = static_cast<double>(result.resumed_at) / static_cast<double>(config.sample_rate);
  told["consistency_db"] = result.written.consistency_db;
  told["unweighted_samples"] = result.unweighted;
  told["zeroed_samples"] = result.zeroed;
  told["gain"] = result.written.gain;
  const SeparationTimes& times = result.times;
  Value& moment = told["run"];
  moment["decode_s"] = times.decode;
  moment["waiting_s"] = times.waiting;
  moment["network_s"] = times.network;
  moment["first_chunk_s"] = times.first_chunk;
  moment["chunk_median_s"] = times.chunk_median;
  moment["slow_chunks"] = times.slow_chunks;
  moment["overlap_add_s"] = times.joining;
  moment["write_s"] = times.write;
  for (std::size_t i = 0; i < task.outputs.size(); ++i) {
    const WrittenStems::Stem& stem = result.written.outputs[i];
    Value& output = told["outputs"].push_back(Value::object());
    output["name"] = task.outputs[i].name;
    output["path"] = task.paths[i];
    output["peak"] = stem.peak;
    output["rms"] = stem.rms;
    output["clipped"] = stem.clipped;
    run.results()["files"].push_back(task.paths[i]);
    run.say(fmt::format("wrote       {}  peak {:.3f}, {:.1f} dB{}", task.paths[i], stem.peak,
                        20 * std::log10(std::max(1e-9, stem.rms)),
                        stem.clipped == 0 ? "" : fmt::format(", {} samples clipped", stem.clipped)));
  }
  if (result.written.gain != 1) {
    run.say(fmt::format("rescaled    all stems by {:.4f}, so that none is clipped", result.written.gain));
  }
  if (result.written.floating) run.say("float       the files hold floating point: integers would be clipped");
  if (result.resumed_at > 0) {
    run.say(fmt::format("resumed     at {:.2f} s", told.find("resumed_at_s")->as_real()));
  }
  run.say(
      fmt::format("network     {:.2f} s for {:.2f} s of audio; all stems together differ from the mixture by {:.1f} dB",
                  times.network, audio_s, result.written.consistency_db));
  if (times.slow_chunks > 0) {
    run.say(fmt::format("times       {} of {} chunks took more than twice the median of {}", times.slow_chunks,
                        result.chunks, format_seconds(times.chunk_median)));
  }
}

/// Where the time of all passes went.
void report_network(const Network& made, Run& run) {
  std::vector<std::string> order;
  struct Stage {
    double seconds = 0, multiplications = 0;
    Index calls = 0;
  };
  std::map<std::string, Stage> stages;
  Value& network = run.results()["run"]["network"];
  for (const Network::Time& each : made.times()) {
    Stage& stage = stages[each.stage];
    if (stage.calls == 0) order.push_back(each.stage);
    stage.seconds += each.total_s, stage.calls = each.calls;
    stage.multiplications += each.multiplications * static_cast<double>(each.calls);
    Value& layer = network["layers"].push_back(Value::object());
    layer["stage"] = each.stage;
    layer["weight"] = each.weight;
    layer["algorithm"] = each.method;
    layer["dtype"] = "f32";
    layer["ms"] = each.calls == 0 ? 0 : 1e3 * each.total_s / static_cast<double>(each.calls);
  }
  for (const std::string& name : order) {
    const Stage& stage = stages[name];
    Value& told = network["stages"].push_back(Value::object());
    told["stage"] = name;
    told["wall_s"] = stage.seconds;
    told["calls"] = stage.calls;
    told["flops"] = 2 * stage.multiplications;
    told["gflops"] = stage.seconds > 0 ? 2e-9 * stage.multiplications / stage.seconds : 0;
  }
}

/// Of the hashes of each MiB, so that all cores work on them: the whole of a checkpoint in sequence takes seconds.
std::string tree_hash(std::span<const std::byte> bytes) {
  constexpr std::size_t piece = std::size_t{1} << 20;
  std::vector<Sha256> hashes((bytes.size() + piece - 1) / piece);
  parallel_for(static_cast<Index>(hashes.size()), 1, [&](Index first, Index last, Worker&) {
    for (Index i = first; i < last; ++i) {
      const auto at = static_cast<std::size_t>(i) * piece;
      const auto part = bytes.subspan(at, std::min(piece, bytes.size() - at));
      hashes[static_cast<std::size_t>(i)] = sha256({reinterpret_cast<const char*>(part.data()), part.size()});
    }
  });
  return hexadecimal(sha256({reinterpret_cast<const char*>(hashes.data()), hashes.size() * sizeof(Sha256)}));
}

/// What every file separated by this network has in common, for summaries; and for Spool, what decides its numbers.
void identify(const Model& model, const RunOptions& options, const Config& config, const Network& made,
              SeparationSettings& settings) {
  std::string network = fmt::format("{} {} {} {} {} {}\n", config.sample_rate, config.n_fft, config.hop, config.dim_f,
                                    norm_name(config), activation_name(config));
  for (const Parameter& each : parameters(config, layer_list(config))) {
    network += fmt::format("{} {}\n", each.name, each.shape.count());
  }
  network += fmt::format("{} {}", fmt::join(config.stems(), ","), config.normalize);
  const std::string config_hash = hexadecimal(sha256(network));
  std::string methods;
  for (const Network::Time& each : made.times()) methods += each.method[0];
  const std::string& checkpoint = options.model.files.checkpoint;
  const std::string file = std::filesystem::path(checkpoint).filename().string();
  settings.origin = fmt::format("checkpoint {}, {} bytes\nnetwork {}\nprecision {}\nalgorithms {}\nversion {}\n", file,
                                file_bytes(checkpoint).value_or(0), config_hash, name(options.precision), methods,
                                build_info().version);
  settings.about = [=, about = Value(), &model, &options]() mutable {
    if (!about.is_null()) return about;
    about["config_sha256"] = config_hash;
    about["checkpoint"] = file;
    if (model.checkpoint) about["checkpoint_sha256_of_mib"] = tree_hash(model.checkpoint->file->bytes());
    about["precision"] = name(options.precision);
    about["sample_rate"] = config.sample_rate;
    about["chunk"] = config.chunk;
    return about;
  };
}

/// The first chunk of a file through two plans: 10 log10(|a|^2 / |a - b|^2).
double first_chunk_db(const SeparationTask& task, const SeparationSettings& settings, const Config& config, Network& a,
                      Network& b) {
  std::vector<float> samples = AudioReader(task.input, settings.reading).read(config.chunk);
  const Index count = static_cast<Index>(samples.size()) / config.audio_channels;
  std::vector<float> chunk(static_cast<std::size_t>(config.audio_channels * config.chunk));
  for (Index c = 0; c < config.audio_channels; ++c) {
    std::copy_n(samples.begin() + static_cast<std::ptrdiff_t>(c * count), count,
                chunk.begin() + static_cast<std::ptrdiff_t>(c * config.chunk));
  }
  const auto stems = static_cast<Index>(config.stems().size());
  std::vector<float> of_a(chunk.size() * static_cast<std::size_t>(stems)), of_b(of_a.size());
  a.run({chunk.data(), config.audio_channels, config.chunk}, {of_a.data(), stems, config.audio_channels, config.chunk});
  b.run({chunk.data(), config.audio_channels, config.chunk}, {of_b.data(), stems, config.audio_channels, config.chunk});
  double size = 1e-30, difference = 1e-30;
  for (std::size_t i = 0; i < of_a.size(); ++i) {
    const auto x = static_cast<double>(of_a[i]);
    size += x * x;
    difference += std::pow(x - static_cast<double>(of_b[i]), 2);
  }
  return 10 * std::log10(size / difference);
}

/// One, and what was asked for.
Choice<Index> choose_batch(const std::string& asked, Device device) {
  const std::string because =
      fmt::format("on {} the chunks of a batch pass one after another", device.is_cpu() ? "the CPU" : "a GPU");
  if (asked == "auto") return {1, because};
  const std::vector<double> number = parse_numbers(asked, setting("batch"));
  if (number.size() != 1 || !(number[0] >= 1) || number[0] != std::floor(number[0])) {
    throw Error(ErrorKind::usage,
                fmt::format("{} = {}; expected auto or a whole number from 1 on", setting("batch"), asked));
  }
  return {1, fmt::format("{} were asked for; {}: result, time and memory are those of one", asked, because)};
}

std::unique_ptr<Network> prepare_network(const Config& config, const ParameterValues& values,
                                         const PlanOptions& algorithms, const std::optional<GpuNetwork>& gpu,
                                         Device device) {
  if (gpu) return std::make_unique<DevicePlan>(DevicePlan::prepare(device, config, values, gpu->options));
  return std::make_unique<Plan>(Plan::prepare(config, values, algorithms));
}

void run_separation(const RunOptions& options, Run& run) {
  if (options.output.empty()) {
    throw Error(ErrorKind::usage, setting("output") + " is missing")
        .hint("name the folder of the stems, " + setting("output", "out"));
  }
  const Device device = run.device();
  if (options.precision == Precision::tf32 && device.is_cpu()) {
    throw Error(ErrorKind::not_supported,
                fmt::format("{} = tf32: the CPU does not compute in it; expected auto, f32, f16 or bf16",
                            setting("precision")));
  }
  auto reading = run.report().phase("read");
  const Model model = options.model.open(run);
  const Config config = changed(model, options);
  SeparationSettings settings = options.settings(config);
  check(demix_settings(config, settings));
  const std::vector<SeparationTask> tasks = tasks_of(options, config);
  if (options.midi) (void)midi_beside(tasks.front().outputs, tasks.front().paths);
  run.report().add_choice("batch", choose_batch(options.batch, device));
  const Work work = say_work(tasks, settings, config, run);
  std::optional<GpuNetwork> gpu;
  PlanOptions algorithms;
  if (device.is_cpu()) {
    algorithms.methods = choose_methods(config, settings, run);
  } else {
    gpu = plan_on_gpu(config, options.precision, run);
  }
  MemoryPlan memory = memory_of(config, settings, algorithms, gpu ? &*gpu : nullptr);
  if (options.midi) memory.peak_bytes += memory.add("midi", stem_midi_bytes(work.longest_s), "a stem as a whole");
  run.show_memory(memory, run.host_budget());
  if (gpu) run.show_memory(gpu->memory, run.budget(), "memory of the GPU");
  reading.end();
  if (run.dry_run() && !gpu) say_time(work, config, algorithms.methods, run);
  if (run.dry_run()) return;

  require_room_on_disk(options.output, run.results().find("disk_bytes")->as_real());
  const Reservation reserved = run.host_budget().reserve(memory.peak_bytes, "the network", "lower " + setting("chunk"));
  const Reservation reserved_there =
      gpu ? run.budget().reserve(gpu->memory.peak_bytes, "the network", "lower " + setting("chunk")) : Reservation();
  MadeFolders folders;
  for (const SeparationTask& task : tasks) {
    for (const std::string& path : task.paths) {
      folders.make(std::filesystem::path(path).parent_path());
      require_place(path, {.what = "the stem"});
    }
    if (options.midi) {
      const std::string path = midi_beside(task.outputs, task.paths).path;
      folders.make(std::filesystem::path(path).parent_path());
      require_place(path);
    }
    folders.make(std::filesystem::path(task.record).parent_path());
    require_place(task.record + ".json", side_output("the summary", FileMark::json));
    require_place(task.record + ".part", side_output("what is kept of a file", FileMark::text));
  }
  auto preparing = run.report().phase("prepare");
  const std::unique_ptr<Network> network =
      prepare_network(config, rounded(model.values(), options.precision), algorithms, gpu, device);
  identify(model, options, config, *network, settings);
  if (gpu) settings.origin += fmt::format("device {}\n", device.info().name);
  preparing.end();
  if (options.verify_precision) {
    const auto verifying = run.report().phase("verify");
    Plan exact = Plan::prepare(config, model.values(), {.method = ConvolutionMethod::direct});
    const double db = first_chunk_db(tasks.front(), settings, config, exact, *network);
    run.results()["precision_db"] = db;
    run.say(
        fmt::format("precision   the first chunk is {:.1f} dB above its difference from float32 with direct "
                    "convolutions",
                    db));
  }
  const auto separating = run.report().phase("separate");
  try {
    separate_files(tasks, settings, config, *network, [&](std::size_t task, const SeparationResult& result) {
      report_file(tasks[task], result, config, run);
      // Fewer hold the warm-up.
      if (result.chunks >= 3 && !settings.tta && !gpu) {
        keep_chunk_seconds(time_key(config, algorithms.methods), result.times.chunk_median);
      }
      if (options.midi) write_stem_midi(midi_beside(tasks[task].outputs, tasks[task].paths), run);
    });
  } catch (Error& error) {
    if (error.kind() == ErrorKind::interrupted || error.kind() == ErrorKind::terminated) {
      error.hint("the same command with " + setting("resume") + " continues");
    }
    throw;
  }
  report_network(*network, run);
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
