// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/run/device_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "sonde/engine/base/text.h"
#include "sonde/instruments/ptycho/model/device_pass.h"

namespace sonde::ptycho {
namespace {

std::size_t size(Index n) { return static_cast<std::size_t>(n); }

std::string bytes_text(std::size_t bytes) { return format_bytes(static_cast<double>(bytes)); }

}  // namespace

MemoryPlan plan_device_memory(const RunSizes& s, PatternTier patterns) {
  MemoryPlan plan;
  const std::size_t complex = 2 * s.real_bytes;
  const std::size_t pixels = size(s.rows * s.cols), wave = pixels * complex, probe = size(s.modes) * wave;
  const std::size_t object = size(s.slices * s.object_rows * s.object_cols);
  Index batch = 1;
  for (const EngineSize& engine : s.engines) batch = std::max(batch, std::min(engine.batch, s.frames));
  const Index waves_per_pattern = s.modes * (s.slices + (s.fractional ? 1 : 0));
  const Index group = group_size(batch, wave, waves_per_pattern);
  const auto add = [&](std::string what, std::size_t bytes, std::string how) {
    plan.lines.push_back({std::move(what), bytes, std::move(how)});
    plan.lasting_bytes += bytes;
  };

  const std::size_t amplitude = amplitude_bytes(s);
  if (patterns == PatternTier::device)
    add("patterns", size(s.frames) * pixels * amplitude,
        fmt::format("{} x {} x {} x {} B", s.frames, s.rows, s.cols, amplitude));
  else
    add("patterns", 2 * size(group) * pixels * amplitude, fmt::format("two groups of {}, the others wait", group));
  add("estimate", object * (complex + (s.potential ? s.real_bytes : 0)) + (s.fractional ? 2 : 1) * probe,
      "object and probe");
  add("sums", object * (complex + s.real_bytes) + probe + pixels * s.real_bytes, "of a batch, with their weights");
  add("waves", size(group) * size(waves_per_pattern) * wave, fmt::format("of {} patterns", group));
  add("transforms", size(group) * probe, "the library's workspace, at most");
  add("lists", size(s.frames) * (sizeof(Placement) + 4 * sizeof(Index) + sizeof(FrameSums)),
      fmt::format("{} frames", s.frames));
  if (s.starts > 1) add("second start", plan.lasting_bytes, "the best start until now, beside the one that is tried");
  plan.peak_bytes = plan.lasting_bytes;
  return plan;
}

Choice<PatternTier> choose_pattern_tier(const RunSizes& sizes, const Budget& device) {
  const MemoryPlan resident = plan_device_memory(sizes, PatternTier::device);
  if (resident.needed_bytes() <= device.available_bytes())
    return {PatternTier::device,
            fmt::format("{} with all patterns, {} may be used", bytes_text(resident.needed_bytes()),
                        bytes_text(device.available_bytes()))};
  const MemoryPlan streamed = plan_device_memory(sizes, PatternTier::host);
  require_memory(streamed, sizes, device);
  return {PatternTier::host,
          fmt::format("{} with all patterns, but {} may be used; {} without them", bytes_text(resident.needed_bytes()),
                      bytes_text(device.available_bytes()), bytes_text(streamed.needed_bytes()))};
}

}  // namespace sonde::ptycho
