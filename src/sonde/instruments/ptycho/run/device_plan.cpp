// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/run/device_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "sonde/engine/base/text.h"
#include "sonde/instruments/ptycho/run/plan_numbers.h"

namespace sonde::ptycho {

MemoryPlan plan_device_memory(const RunSizes& s, const DeviceRoom& room) {
  MemoryPlan plan{.head_room_percent = head_room_percent};
  const std::size_t complex = s.complex_bytes();
  const std::size_t pixels = s.pixels(), wave = pixels * complex, probe = s.wave_bytes();
  const std::size_t object = s.object_pixels();
  const Index waves_per_pattern = s.modes * (s.slices + (s.fractional ? 1 : 0));
  Index group = 1;
  for (const EngineSize& engine : s.engines) {
    const Index together = engine.setup->passes().sums_of_scan ? s.frames : engine.batch(s.frames).frames;
    group = std::max(group, group_size(together, wave, waves_per_pattern, room.groups));
  }
  const auto add = [&](std::string what, std::size_t bytes, std::string how) {
    plan.lasting_bytes += plan.add(std::move(what), bytes, std::move(how));
  };

  const std::size_t amplitude = amplitude_bytes(s);
  if (room.patterns == PatternTier::device)
    add("patterns", size(s.frames) * pixels * amplitude,
        fmt::format("{} x {} x {} x {} B", s.frames, s.rows, s.cols, amplitude));
  else
    add("patterns", 2 * size(group) * pixels * amplitude, fmt::format("two groups of {}, the others wait", group));
  add("estimate", object * (complex + (s.potential ? s.real_bytes : 0)) + (s.fractional ? 2 : 1) * probe,
      "object and probe");
  add("sums", object * (complex + s.real_bytes) + probe + pixels * s.real_bytes, "of a batch, with their weights");
  add("waves", size(group) * size(waves_per_pattern) * wave, fmt::format("of {} patterns", group));
  add("tables",
      size(s.slices - 1) * wave + (s.fractional ? size(group * (s.rows + s.cols)) * complex : 0) +
          (s.masked ? pixels * s.real_bytes : 0),
      "free space between slices, shifts, weights");
  add("transforms", size(group) * probe, "the library's workspace, at most");
  // Which patterns follow each other, and the groups they are in, whose six numbers each stand for one frame at least.
  add("lists", size(s.frames) * (sizeof(Placement) + 7 * sizeof(Index) + sizeof(FrameSums)),
      fmt::format("{} frames", s.frames));
  if (s.moves)
    add("position correction", (2 * size(group) + 1) * probe,
        fmt::format("derivatives of the waves of {} patterns", group));
  std::size_t largest = 0;
  for (const EngineSize& engine : s.engines) {
    const MemoryNeed need = engine.setup->memory_there(s, engine.batch(s.frames), group);
    largest = std::max(largest, need.bytes);
    plan.add("engine " + engine.name, need.bytes, need.how);
  }
  if (s.starts > 1)
    add("second start", plan.lasting_bytes + largest, "the best start until now, beside the one that is tried");
  plan.peak_bytes = plan.lasting_bytes + largest;
  return plan;
}

Choice<DeviceRoom> choose_device_room(const RunSizes& sizes, const Budget& device) {
  const std::size_t available = device.available_bytes();
  DeviceRoom room;
  const MemoryPlan resident = plan_device_memory(sizes, room);
  if (resident.needed_bytes() <= available)
    return {room, fmt::format("{} with all patterns, {} may be used", bytes_text(resident.needed_bytes()),
                              bytes_text(available))};
  room.patterns = PatternTier::host;
  MemoryPlan streamed = plan_device_memory(sizes, room);
  while (streamed.needed_bytes() > available && room.groups.waves_bytes > sizes.wave_bytes()) {
    room.groups.waves_bytes /= 2;
    streamed = plan_device_memory(sizes, room);
  }
  require_memory(streamed, sizes, device);
  return {room,
          fmt::format("{} with all patterns, but {} may be used; {} without them{}",
                      bytes_text(resident.needed_bytes()), bytes_text(available), bytes_text(streamed.needed_bytes()),
                      room.groups.waves_bytes < GroupLimits{}.waves_bytes ? " and with small groups" : "")};
}

}  // namespace sonde::ptycho
