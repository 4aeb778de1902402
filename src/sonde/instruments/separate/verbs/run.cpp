// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sonde/engine/base/clock.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/base/paths.h"
#include "sonde/engine/base/sha256.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/base/version.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/io/file.h"
#include "sonde/engine/memory/memory_plan.h"
#include "sonde/engine/memory/scratch_file.h"
#include "sonde/instruments/separate/network/precision.h"
#include "sonde/instruments/separate/run/memory.h"
#include "sonde/instruments/separate/run/separation.h"
#include "sonde/instruments/separate/verbs/algorithms.h"
#include "sonde/instruments/separate/verbs/expected_time.h"
#include "sonde/instruments/separate/verbs/gpu_network.h"
#include "sonde/instruments/separate/verbs/noted_network.h"
#include "sonde/instruments/separate/verbs/run_options.h"
#include "sonde/instruments/separate/verbs/run_report.h"
#include "sonde/instruments/separate/verbs/stem_midi.h"
#include "sonde/instruments/separate/verbs/verbs.h"
#include "sonde/instruments/separate/view/stem_growth.h"

namespace sonde::separate {
namespace {

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
  double disk_bytes = 0, kept = 0, replaced = 0;
  for (const SeparationTask& task : tasks) {
    const AudioReader reader(task.input, settings.reading);
    AudioWriteOptions file = settings.writing.file;
    if (settings.writing.keep_rate) file.rate = reader.info().rate;
    check(file);
    const Index passes = network_passes(config, settings, reader.frames());
    const double seconds = static_cast<double>(reader.frames()) / static_cast<double>(config.sample_rate);
    work.passes += passes, work.audio_s += seconds, work.longest_s = std::max(work.longest_s, seconds);
    kept = std::max(kept, kept_bytes(config, settings, reader.frames()));
    if (!clips(file)) {
      const Index written = settings.writing.keep_rate ? reader.source_frames() : reader.frames();
      const double stems =
          4.0 * static_cast<double>(written * file.channels) * static_cast<double>(task.outputs.size());
      disk_bytes += stems;
      if (settings.preview) replaced = std::max(replaced, stems);
    }
    run.say(fmt::format("input       {}: {}, {} channel{}, {} Hz, {:.2f} s, {} chunks", task.input,
                        reader.info().format, reader.info().channels, reader.info().channels == 1 ? "" : "s",
                        reader.info().rate, seconds, passes));
  }
  // What is kept of a file is there while the stems of the one before are written; stems that are replaced, until then.
  disk_bytes += replaced + std::min<double>(2, static_cast<double>(tasks.size())) * kept;
  run.say(fmt::format("chunks      {} of {} samples, every {} ({:.4g} % overlap, {} cover a sample); {:.4g} GMAC",
                      work.passes, config.chunk, joining.step(),
                      100 * (1 - static_cast<double>(joining.step()) / static_cast<double>(config.chunk)),
                      joining.overlap, gmac * static_cast<double>(work.passes)));
  run.results()["chunks"] = work.passes;
  run.results()["gmac"] = gmac * static_cast<double>(work.passes);
  run.results()["disk_bytes"] = disk_bytes;
  return work;
}

/// What the budget leaves for the network.
std::size_t bytes_for_network(const Config& config, const SeparationSettings& settings, Run& run) {
  const std::size_t others = memory_of(config, settings, {}).lasting_bytes;
  const std::size_t limit = run.host_budget().available_bytes();
  return limit > others ? limit - others : 0;
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

/// Of the hashes of each MiB, so that all cores work on them: the whole of a checkpoint in sequence takes seconds.
std::string tree_hash(const File& file) {
  constexpr std::size_t piece = std::size_t{1} << 20;
  std::vector<Sha256> hashes((file.size() + piece - 1) / piece);
  PerWorker<std::vector<std::byte>> read([] { return std::vector<std::byte>(piece); });
  parallel_for(static_cast<Index>(hashes.size()), 1, [&](Index first, Index last, Worker& worker) {
    for (Index i = first; i < last; ++i) {
      const std::uint64_t at = static_cast<std::uint64_t>(i) * piece;
      const auto part = std::span(read[worker]).first(std::min<std::size_t>(piece, file.size() - at));
      file.read_at(at, part);
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
  // Open from now on: it may be removed while the network works.
  const auto weights = model.checkpoint ? std::make_shared<const File>(checkpoint) : nullptr;
  settings.about = [=, about = Value(), &options]() mutable {
    if (!about.is_null()) return about;
    about["config_sha256"] = config_hash;
    about["checkpoint"] = file;
    if (weights) about["checkpoint_sha256_of_mib"] = tree_hash(*weights);
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

/// The stems as they grow, for those who watch.
void watch_growth(StemGrowth& growth, std::mutex& mutex, SeparationSettings& settings) {
  settings.watching.begin = [&](const std::string& input, Index samples) {
    const std::lock_guard lock(mutex);
    growth.begin(std::filesystem::path(input).filename().string(), samples);
  };
  settings.watching.stems = [&](Index pass, Index passes, Index first, View<const float, 3> stems) {
    const std::lock_guard lock(mutex);
    growth.add(pass, passes, first, stems);
  };
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
  const Stopwatch watch;
  const Value memory_at_start = memory_now();
  auto reading = run.report().phase("read");
  auto opening = run.report().phase("checkpoint");
  Model model = options.model.open(run);
  opening.end();
  run.say(fmt::format("config      {}: {}", model.configuration.value, model.configuration.because));
  const Config config = options.config_of(model);
  SeparationSettings settings = options.settings(config);
  check(demix_settings(config, settings));
  const std::vector<SeparationTask> tasks = options.tasks(config);
  if (options.midi) (void)midi_beside(tasks.front().outputs, tasks.front().paths);
  run.report().add_choice("batch", choose_batch(options.batch, device));
  const Work work = say_work(tasks, settings, config, run);
  std::optional<GpuNetwork> gpu;
  PlanOptions algorithms;
  if (device.is_cpu()) {
    algorithms.methods = choose_methods(config, bytes_for_network(config, settings, run), options.tune, run);
  } else {
    gpu = plan_on_gpu(config, options.precision, run);
  }
  MemoryPlan memory =
      memory_of(config, settings, gpu ? Plan::Bytes{.values = gpu->host_bytes} : Plan::bytes_for(config, algorithms));
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
  auto matching = run.report().phase("parameters");
  ParameterValues values = rounded(model.values(), options.precision);
  matching.end();
  auto packing = run.report().phase("pack");
  const std::unique_ptr<Network> network = prepare_network(config, values, algorithms, gpu, device);
  values.clear();
  packing.end();
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
  settings.refined = [&](const SeparationTask& task, const SeparationResult& result) {
    report_preview(task, result, settings, run);
  };
  StemGrowth growth(config.stems(), config.sample_rate);
  std::mutex mutex;  // of what is shown meanwhile
  const auto shown = run.live([&] {
    const std::lock_guard lock(mutex);
    LiveState state;
    state.panels["stems"] = growth.options();
    return state;
  });
  if (run.live_port()) watch_growth(growth, mutex, settings);
  // Its pages, as large as the network, would count as memory of this process.
  if (model.checkpoint) model.checkpoint->file.reset();
  const auto separating = run.report().phase("separate");
  NotedNetwork noted(*network, watch);
  try {
    separate_files(tasks, settings, config, noted, [&](std::size_t task, const SeparationResult& result) {
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
  Value& moment = run.results()["run"];
  moment["memory"]["at_start"] = memory_at_start;
  moment["memory"]["at_peak"] = noted.memory();
  for (const MemoryPlan::Line& each : memory.lines) moment["memory"]["planned"][each.what] = each.bytes;
  moment["memory"]["planned"]["peak"] = memory.peak_bytes;
  if (const auto begins_s = noted.first_pass_begins_s()) moment["first_chunk_begins_s"] = *begins_s;
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
                    "A quick look at ten seconds"},
                   {"sonde separate run song.wav --checkpoint m.ckpt -o out --overlap 8 --preview",
                    "Stems after an eighth of the time, which become better until the end"}},
      .plans = true,
      .watched = Watched{.panels = StemGrowth::panels()},
      .invoke = invocation<RunOptions, run_separation>};
}

}  // namespace sonde::separate
