// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "sonde/engine/options/value.h"
#include "sonde/engine/report/report.h"

namespace sonde {

/// What to measure and how long; the defaults take about ten seconds.
struct MachineOptions {
  double seconds_each = 0.5;             ///< for each number
  std::size_t array_bytes = 256u << 20;  ///< of each of three arrays: far beyond every cache
  std::size_t file_bytes = 512u << 20;
  std::string folder;  ///< where the disk is measured; empty takes the folder of temporary files
};

/// Measures this machine: copy, triad and read bandwidth for 1, 2, 4, ... all threads (bytes read plus bytes written,
/// as STREAM counts them), multiply-add peak in f32 and f64 for one and all threads, complex
/// f32 transforms of 128 x 128 and 256 x 256 elements on one thread, in its cache, writing and reading a file past
/// the page cache, and for every GPU host-device copies from pinned and pageable memory. Members:
///   "identity", "measured" (UTC), "memory": [{"threads", "copy_bytes_per_s", "triad_bytes_per_s",
///   "read_bytes_per_s"}], "multiply_add": [{"threads", "f32_flops_per_s", "f64_flops_per_s"}],
///   "fft": [{"side", "transforms_per_s"}], "disk": {"folder",
///   "write_bytes_per_s", "read_bytes_per_s"}, "links": [{"device", "name", "to_device_pinned_bytes_per_s", ...}]
/// Throws Error(budget) when the arrays do not fit, Error(io) when the folder cannot be written.
[[nodiscard]] Value measure_machine(const MachineOptions& options = {});

/// Who this machine is: host name, CPU, cores, memory and GPUs. Numbers of another machine are worth nothing.
[[nodiscard]] Value machine_identity();

/// $XDG_CACHE_HOME/sonde/machine.json, else ~/.cache/sonde/machine.json; empty when neither folder is known.
[[nodiscard]] std::string machine_cache_path();

/// The cached numbers, when they are those of this machine and can be read.
[[nodiscard]] std::optional<Value> cached_machine(const std::string& path = machine_cache_path());

/// Writes atomically, making the folder. Throws Error(io).
void cache_machine(const Value& machine, const std::string& path = machine_cache_path());

/// The same; where the cache cannot be written, a note says so and the numbers hold for this run. Whether they were
/// kept.
bool keep_machine(const Value& machine);

/// The limits for work on `threads` threads (the measured count at or above, else the largest). Memory is the largest
/// of copy, triad and read: no operation on memory is faster.
[[nodiscard]] MachineRates machine_rates(const Value& machine, int threads);

[[nodiscard]] std::string machine_text(const Value& machine);

}  // namespace sonde
