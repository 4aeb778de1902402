// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/run/memory_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"

namespace sonde::ptycho {
namespace {

std::size_t size(Index n) { return static_cast<std::size_t>(n); }

constexpr std::size_t most_bands = 16;  // of a batch pass; each has a tile of the object (BatchPass)

/// What one engine holds beside the state.
struct EngineMemoryNeed {
  std::size_t bytes = 0;
  std::string how;
};

EngineMemoryNeed engine_need(const EngineSize& engine, const RunSizes& s) {
  const std::size_t complex = 2 * s.real_bytes;
  const std::size_t pixels = size(s.rows * s.cols), modes = size(s.modes);
  const std::size_t object = size(s.slices * s.object_rows * s.object_cols);
  const std::size_t wave = modes * pixels * complex;
  // Sums of a batch pass: object and probe with their weights, and tiles that together cover the object about twice.
  const std::size_t sums = object * (complex + s.real_bytes) + wave + pixels * s.real_bytes;
  const std::size_t tiles =
      std::min(size(s.frames), most_bands) * (wave + pixels * s.real_bytes) + 2 * object * (complex + s.real_bytes);
  const std::string& name = engine.name;
  if (name == "epie" || name == "rpie") return {object * complex, "a copy of the object"};
  if (name == "mpie") return {2 * object * complex, "the object before, and its velocity"};
  if (name == "gd") return {sums + tiles, "sums of object and probe, band tiles"};
  if (name == "adam")
    return {sums + tiles + (object + modes * pixels) * (complex + s.real_bytes), "sums, band tiles, two moments"};
  if (name == "lsqml")
    return {sums + tiles + object * (complex + s.real_bytes) + size(std::min(engine.batch, s.frames)) * wave,
            fmt::format("sums, band tiles, waves of {} frames", std::min(engine.batch, s.frames))};
  if (name == "ml")
    return {sums + tiles + 2 * object * complex + 2 * wave + size(s.threads) * 2 * wave,
            "sums, band tiles, directions"};
  return {sums + tiles + size(s.frames) * wave,
          fmt::format("exit waves of {} frames, sums, band tiles", s.frames)};  // all projections
}

}  // namespace

std::size_t amplitude_bytes(const RunSizes& sizes) {
  if (sizes.storage == AmplitudeStorage::counts && sizes.count_bytes <= 2) return sizes.count_bytes;
  if (sizes.storage == AmplitudeStorage::f16 || sizes.storage == AmplitudeStorage::bf16) return 2;
  return sizes.storage == AmplitudeStorage::f64 ? 8 : 4;
}

MemoryPlan plan_memory(const RunSizes& s) {
  MemoryPlan plan;
  const std::size_t complex = 2 * s.real_bytes;
  const std::size_t frames = size(s.frames), pixels = size(s.rows * s.cols), modes = size(s.modes);
  const std::size_t object = size(s.slices * s.object_rows * s.object_cols);
  const auto add = [&](std::string what, std::size_t bytes, std::string how) {
    plan.lines.push_back({std::move(what), bytes, std::move(how)});
    return bytes;
  };

  const std::size_t amplitude = amplitude_bytes(s);
  const std::size_t patterns = add("patterns", frames * pixels * amplitude + (s.masked ? 12 * pixels : 0),
                                   fmt::format("{} x {} x {} x {} B", s.frames, s.rows, s.cols, amplitude));
  // The estimate, the one before (for dO and dP) and the best until now.
  const std::size_t state_object =
      add("object", 3 * object * complex + (s.potential ? 2 * object * s.real_bytes : 0),
          fmt::format("3 x {} x {} x {} x {} B: now, before, best{}", s.slices, s.object_rows, s.object_cols, complex,
                      s.potential ? ", and phases" : ""));
  const std::size_t probes = 3 + (s.fractional ? 1 : 0);
  const std::size_t state_probe =
      add("probe", probes * modes * pixels * complex,
          fmt::format("{} x {} x {} x {} x {} B", probes, s.modes, s.rows, s.cols, complex));
  // Components now, best and as spectra, their sums in parts of the scan and in double precision; weights now and best.
  const std::size_t components = size(s.components);
  const std::size_t varying =
      components == 0
          ? 0
          : add("probe variation",
                components * pixels * (probes - 1) * complex + components * pixels * 16 +
                    std::min(frames, most_bands) * (components + 1) * pixels * complex +
                    frames * components * (2 * complex + 3 * 16),
                fmt::format("{} components of {} x {}, weights of {} frames", s.components, s.rows, s.cols, s.frames));
  const std::size_t lists =
      add("positions and sums", frames * (3 * 16 + 32 + 2 * 40 + 40), fmt::format("{} frames", s.frames));
  // Of each thread: waves, shifted probes, waves before each slice.
  const std::size_t per_thread = (2 + size(s.slices - 1)) * modes * pixels * complex +
                                 (s.storage == AmplitudeStorage::f32 ? 0 : pixels * s.real_bytes);
  const std::size_t threads = add("threads", 2 * size(s.threads) * per_thread,
                                  fmt::format("{} threads with waves of {} modes", s.threads, s.modes));
  plan.lasting_bytes = patterns + state_object + state_probe + varying + lists + threads;

  std::size_t largest = 0;
  for (const EngineSize& engine : s.engines) {
    const EngineMemoryNeed need = engine_need(engine, s);
    add("engine " + engine.name, need.bytes, need.how);
    largest = std::max(largest, need.bytes);
  }
  if (s.starts > 1)
    plan.lasting_bytes += add("second start", state_object + state_probe + lists + threads + largest,
                              "the best start until now, beside the one that is tried");
  plan.loading_bytes =
      patterns + s.stored_pattern_bytes + (s.refitted ? frames * pixels * std::max<std::size_t>(s.count_bytes, 1) : 0);
  add("while loading", plan.loading_bytes - patterns,
      s.refitted ? "patterns as stored, and fitted" : "patterns as stored");
  plan.peak_bytes = std::max(plan.loading_bytes, plan.lasting_bytes + largest);
  return plan;
}

std::string MemoryPlan::text() const {
  std::string text;
  for (const Line& line : lines)
    text += fmt::format("  {:<20} {:>10}  {}\n", line.what, format_bytes(static_cast<double>(line.bytes)), line.how);
  return text + fmt::format("  {:<20} {:>10}  {} with a tenth of head-room", "peak",
                            format_bytes(static_cast<double>(peak_bytes)),
                            format_bytes(static_cast<double>(needed_bytes())));
}

void require_memory(const MemoryPlan& plan, const RunSizes& sizes, const Budget& budget) {
  if (plan.needed_bytes() <= budget.available_bytes()) return;
  const MemoryPlan::Line& most = *std::max_element(plan.lines.begin(), plan.lines.end(),
                                                   [](const auto& a, const auto& b) { return a.bytes < b.bytes; });
  std::string remedy = "raise --memory";
  if (most.what == "patterns" && sizes.storage != AmplitudeStorage::counts && sizes.count_bytes <= 2)
    remedy += ", or keep counts as they are with --storage counts";
  else if (most.what.starts_with("engine ") && most.how.starts_with("exit waves"))
    remedy += ", or choose an engine that keeps no exit waves, for instance gd";
  else
    remedy += ", or crop the patterns with data.crop";
  throw Error(ErrorKind::budget,
              fmt::format("the reconstruction needs {} and a tenth of head-room, {} in all, but {} may be used: {} are "
                          "missing; most is for {} ({})",
                          format_bytes(static_cast<double>(plan.peak_bytes)),
                          format_bytes(static_cast<double>(plan.needed_bytes())),
                          format_bytes(static_cast<double>(budget.available_bytes())),
                          format_bytes(static_cast<double>(plan.needed_bytes() - budget.available_bytes())), most.what,
                          format_bytes(static_cast<double>(most.bytes))))
      .hint(remedy);
}

}  // namespace sonde::ptycho
