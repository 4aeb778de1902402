// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/run/memory_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/instruments/ptycho/run/plan_numbers.h"

namespace sonde::ptycho {
namespace {

constexpr std::size_t most_parts = 16;  // of a scan, each with sums of its own (ProbeRelaxation)

bool keeps_waves(const EngineSize& engine) { return engine.setup->traits().keeps_waves; }

bool keeps_waves(const RunSizes& s) {
  return std::any_of(s.engines.begin(), s.engines.end(), [](const EngineSize& engine) { return keeps_waves(engine); });
}

/// Whether a smaller batch needs less memory, and is not a person's choice.
bool batch_may_shrink(const EngineSize& engine, const RunSizes& s) {
  if (engine.batch_chosen || engine.setup->passes().together != Together::batch) return false;
  return engine.setup->memory(s, {.frames = 1}).bytes < engine.setup->memory(s, {.frames = 2}).bytes;
}

std::string title(const EngineSize& engine) { return "engine " + engine.name; }

}  // namespace

std::size_t amplitude_bytes(const RunSizes& sizes) {
  if (sizes.storage == AmplitudeStorage::counts && sizes.count_bytes <= 2) return sizes.count_bytes;
  if (sizes.storage == AmplitudeStorage::f16 || sizes.storage == AmplitudeStorage::bf16) return 2;
  return sizes.storage == AmplitudeStorage::f64 ? 8 : 4;
}

MemoryPlan plan_memory(const RunSizes& s) {
  MemoryPlan plan{.head_room_percent = head_room_percent};
  const std::size_t complex = s.complex_bytes();
  const std::size_t frames = size(s.frames), pixels = s.pixels(), modes = size(s.modes);
  const std::size_t object = s.object_pixels();
  const std::size_t amplitude = amplitude_bytes(s);
  const bool patterns_here = s.pattern_tier == Tier::host;
  const std::size_t stored = frames * pixels * amplitude;
  const std::size_t patterns = plan.add(
      "patterns", (patterns_here ? stored : 0) + (s.masked ? 12 * pixels : 0),
      fmt::format("{} x {} x {} x {} B{}", s.frames, s.rows, s.cols, amplitude, patterns_here ? "" : " on the disk"));
  plan.disk_bytes = (patterns_here ? 0 : stored) + (s.wave_tier == Tier::disk && keeps_waves(s) ? s.kept_bytes() : 0);
  // The estimate, the one before (for dO and dP) and the best until now.
  const std::size_t state_object =
      plan.add("object", 3 * object * (complex + (s.potential ? s.real_bytes : 0)),
               fmt::format("3 x {} x {} x {} x {} B: now, before, best{}", s.slices, s.object_rows, s.object_cols,
                           complex, s.potential ? ", and phases" : ""));
  const std::size_t probes = 3 + (s.fractional ? 1 : 0);
  const std::size_t state_probe =
      plan.add("probe", probes * modes * pixels * complex,
               fmt::format("{} x {} x {} x {} x {} B", probes, s.modes, s.rows, s.cols, complex));
  // Components now, before, best and as spectra, their sums in parts of the scan and in double precision; weights now,
  // before and best; of each thread the components' far fields.
  const std::size_t components = size(s.components);
  const std::size_t varying =
      components == 0
          ? 0
          : plan.add(
                "probe variation",
                components * pixels * probes * complex + components * pixels * 16 +
                    std::min(frames, most_parts) * (components + 1) * pixels * complex +
                    frames * components * (3 * complex + 2 * 16) + 2 * size(s.threads) * components * pixels * complex,
                fmt::format("{} components of {} x {}, weights of {} frames", s.components, s.rows, s.cols, s.frames));
  const std::size_t lists =
      plan.add("positions and sums", frames * (4 * 16 + 3 * 32 + 2 * 40 + 40), fmt::format("{} frames", s.frames));
  // Of each thread: waves, shifted probes, waves before each slice.
  const std::size_t per_thread = (2 + size(s.slices - 1)) * modes * pixels * complex + pixels * s.real_bytes;
  const std::size_t threads = plan.add("threads", 2 * size(s.threads) * per_thread,
                                       fmt::format("{} threads with waves of {} modes", s.threads, s.modes));
  plan.lasting_bytes = patterns + state_object + state_probe + varying + lists + threads;
  // Sums of the own frames while those of the neighbours come.
  if (s.processes > 1)
    plan.lasting_bytes += plan.add("exchange", object * (complex + s.real_bytes), "sums of neighbours");
  // The estimate as a result; of several processes the first one puts the parts together, which are there as well.
  const std::size_t one_state = complex + (s.potential ? s.real_bytes : 0);
  const std::size_t whole = size(s.slices * s.whole_pixels);
  const std::size_t result = s.processes > 1
                                 ? plan.add("result", 3 * whole * one_state, "the whole object, put together of parts")
                                 : plan.add("result", object * one_state, "the object, to be written");

  std::size_t largest = 0;
  for (const EngineSize& engine : s.engines) {
    const MemoryNeed need = engine.setup->memory(s, engine.batch(s.frames));
    plan.add(title(engine), need.bytes, need.how);
    largest = std::max(largest, need.bytes);
  }
  if (s.starts > 1)
    plan.lasting_bytes += plan.add(
        "second start", size(s.starts_at_once) * (state_object + state_probe + lists + threads + largest),
        s.starts_at_once == 1 ? "the best start until now, beside the one that is tried"
                              : fmt::format("the best start until now, beside {} that are tried", s.starts_at_once));
  plan.shared_bytes = patterns;
  plan.loading_bytes = patterns + plan.add("while loading", s.block_bytes, "patterns that are read at a time");
  plan.peak_bytes = std::max(plan.loading_bytes, plan.lasting_bytes + largest + result);
  for (const RunSizes& each : s.before) {
    const MemoryPlan first = plan_memory(each);
    const std::size_t bytes = plan.add(
        "low resolution", first.peak_bytes,
        fmt::format("before the run: the middle {} x {} of the patterns, with all it takes", each.rows, each.cols));
    // The first estimate is there already, and a slice is interpolated in double precision.
    const std::size_t between = size(s.object_rows * s.object_cols + each.object_rows * each.object_cols) * 16;
    plan.peak_bytes =
        std::max(plan.peak_bytes, patterns + object * one_state + modes * pixels * complex + bytes + between);
    plan.disk_bytes += first.disk_bytes;
  }
  return plan;
}

namespace {

/// One way to keep everything.
struct Way {
  AmplitudeStorage storage;
  Tier patterns, waves;
  Index most_batch;
};

std::vector<Way> ways_of(const RunSizes& s, const StorageRequest& requested) {
  const bool small_counts = s.count_bytes <= 2 && s.counts_are_whole;
  std::vector<AmplitudeStorage> storages{s.real_bytes == 8 ? AmplitudeStorage::f64 : AmplitudeStorage::f32};
  if (requested.storage) {
    // Wide counts are kept as amplitudes (Measurement).
    if (*requested.storage != AmplitudeStorage::counts || small_counts) storages = {*requested.storage};
  } else if (small_counts) {
    storages.push_back(AmplitudeStorage::counts);
  } else if (s.real_bytes == 4) {
    storages.push_back(AmplitudeStorage::f16);
  }

  std::vector<Way> ways;
  const auto add = [&](Tier patterns, Tier waves, AmplitudeStorage storage, Index most_batch) {
    if (requested.pattern_tier.value_or(patterns) != patterns || requested.wave_tier.value_or(waves) != waves) return;
    if (waves == Tier::disk && !keeps_waves(s) && !requested.wave_tier) return;
    ways.push_back({storage, patterns, waves, most_batch});
  };
  const Index any = std::numeric_limits<Index>::max();
  const Tier near = requested.wave_tier == Tier::device ? Tier::device : Tier::host;
  for (const AmplitudeStorage storage : storages) add(Tier::host, near, storage, any);
  for (const AmplitudeStorage storage : storages) add(Tier::host, Tier::disk, storage, any);
  const AmplitudeStorage smallest = storages.back();  // of what is read again and again
  add(Tier::disk, near, smallest, any);
  add(Tier::disk, Tier::disk, smallest, any);
  Index batch = 0;
  for (const EngineSize& engine : s.engines)
    if (batch_may_shrink(engine, s)) batch = std::max(batch, engine.batch(s.frames).frames);
  for (Index size = batch / 2; size >= 8; size /= 2) {
    Way way = ways.back();
    way.most_batch = size;
    ways.push_back(way);
  }
  return ways;
}

std::string_view storage_word(AmplitudeStorage storage) {
  switch (storage) {
    case AmplitudeStorage::f64:
      return "f64";
    case AmplitudeStorage::f32:
      return "f32";
    case AmplitudeStorage::f16:
      return "f16";
    case AmplitudeStorage::bf16:
      return "bf16";
    case AmplitudeStorage::counts:
      return "counts";
  }
  return "";
}

}  // namespace

Choice<RunSizes> choose_storage(RunSizes sizes, const StorageRequest& requested, std::size_t host_bytes,
                                std::size_t disk_bytes) {
  sizes.wave_encoding = requested.wave_encoding;
  const auto with = [&](const Way& way) {
    RunSizes made = sizes;
    made.storage = way.storage;
    made.pattern_tier = way.patterns;
    made.wave_tier = way.waves;
    for (RunSizes& each : made.before) each.pattern_tier = way.patterns;
    for (EngineSize& engine : made.engines)
      if (batch_may_shrink(engine, made)) engine.most_batch = way.most_batch;
    return made;
  };
  const auto sentence = [&](const Way& way) {
    std::string text = fmt::format("patterns as {} {}", storage_word(way.storage),
                                   way.patterns == Tier::host ? "in memory" : "on the disk");
    if (keeps_waves(sizes))
      text += fmt::format(", exit waves {} {}", requested.wave_encoding == Encoding::raw ? "in full" : "as bf16",
                          way.waves == Tier::host     ? "in memory"
                          : way.waves == Tier::device ? "on the device"
                                                      : "on the disk");
    if (way.most_batch < std::numeric_limits<Index>::max())
      text += fmt::format(", batches of at most {} frames", way.most_batch);
    return text;
  };
  const std::vector<Way> ways = ways_of(sizes, requested);
  const MemoryPlan first = plan_memory(with(ways.front()));
  const Way* least = &ways.front();
  std::size_t least_bytes = first.needed_bytes();
  for (const Way& way : ways) {
    const RunSizes made = with(way);
    const MemoryPlan plan = plan_memory(made);
    if (plan.needed_bytes() <= host_bytes && plan.disk_bytes <= disk_bytes)
      return {made, &way == &ways.front()
                        ? fmt::format("{}: {} of {} are needed", sentence(way), bytes_text(plan.needed_bytes()),
                                      bytes_text(host_bytes))
                        : fmt::format("{}: {} would need {}, {} may be used", sentence(way), sentence(ways.front()),
                                      bytes_text(first.needed_bytes()), bytes_text(host_bytes))};
    if (plan.disk_bytes <= disk_bytes && plan.needed_bytes() < least_bytes) {
      least = &way;
      least_bytes = plan.needed_bytes();
    }
  }
  return {with(*least), fmt::format("{} needs least, and {} may be used", sentence(*least), bytes_text(host_bytes))};
}

void require_memory(const MemoryPlan& plan, const RunSizes& sizes, const TierBudgets& budgets) {
  const std::size_t disk = budgets.disk.available_bytes();
  if (plan.disk_bytes > disk)
    throw Error(
        ErrorKind::budget,
        fmt::format("the reconstruction needs {} on the disk, but {} may be used in {}: {} are missing",
                    bytes_text(plan.disk_bytes), bytes_text(disk), budgets.folder, bytes_text(plan.disk_bytes - disk)))
        .hint("name a folder with more space as compute.scratch, or raise " + setting("memory"));
  const std::size_t host = budgets.host.available_bytes();
  if (plan.needed_bytes() <= host) return;
  const MemoryPlan::Line& most = *std::max_element(plan.lines.begin(), plan.lines.end(),
                                                   [](const auto& a, const auto& b) { return a.bytes < b.bytes; });
  std::string remedy = "raise " + setting("memory");
  if (most.what == "patterns" && sizes.pattern_tier == Tier::host)
    remedy += ", or leave it to the plan where patterns are (data.tier and data.storage auto)";
  else if (sizes.wave_tier == Tier::host &&
           std::any_of(sizes.engines.begin(), sizes.engines.end(),
                       [&](const EngineSize& one) { return title(one) == most.what && keeps_waves(one); }))
    remedy += ", or choose an engine that keeps no exit waves, for instance gd";
  else if (most.what != "while loading")
    remedy += ", or crop the patterns with data.crop";
  throw Error(ErrorKind::budget,
              fmt::format("the reconstruction needs {} and a tenth of head-room, {} in all, but {} may be used: {} are "
                          "missing; most is for {} ({})",
                          bytes_text(plan.peak_bytes), bytes_text(plan.needed_bytes()), bytes_text(host),
                          bytes_text(plan.needed_bytes() - host), most.what, bytes_text(most.bytes)))
      .hint(remedy);
}

void require_memory(const MemoryPlan& plan, const RunSizes& sizes, const Budget& host) {
  if (plan.disk_bytes > 0)
    throw Error(ErrorKind::not_supported, "patterns and exit waves are kept on the disk only by `sonde ptycho run`")
        .hint("leave data.tier and compute.wave_tier out");
  require_memory(plan, sizes, {std::nullopt, host, Budget(0, "nothing is kept on the disk"), ""});
}

}  // namespace sonde::ptycho
