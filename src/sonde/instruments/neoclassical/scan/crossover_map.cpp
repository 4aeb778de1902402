// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/scan/crossover_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/bench/machine.h"
#include "sonde/engine/io/cache_file.h"
#include "sonde/engine/report/json.h"

namespace sonde::neoclassical {
namespace {

constexpr const char* format = "sonde neoclassical crossover 1";

std::size_t index(ComputePath compute_path) { return static_cast<std::size_t>(compute_path); }

Value to_value(const MeasuredScan& scan) {
  Value made;
  made["unknowns"] = scan.unknowns;
  made["points"] = scan.points;
  made["threads"] = scan.threads;
  for (const ComputePath compute_path : all_compute_paths)
    if (scan.seconds[index(compute_path)]) made[name(compute_path)] = *scan.seconds[index(compute_path)];
  return made;
}

/// Throws Error for anything that to_value() does not make.
MeasuredScan from_value(const Value& value) {
  const auto whole = [&](const char* key) {
    const Value* found = value.find(key);
    if (found == nullptr || !found->is_whole() || found->as_whole() < 1)
      throw Error(ErrorKind::bad_file, fmt::format("{} is not a count", key));
    return found->as_whole();
  };
  MeasuredScan made{.unknowns = whole("unknowns"), .points = whole("points"), .threads = whole("threads")};
  for (const ComputePath compute_path : all_compute_paths)
    if (const Value* found = value.find(name(compute_path))) {
      if (!found->is_number() || !(found->as_real() > 0))
        throw Error(ErrorKind::bad_file, fmt::format("{} is not a time", name(compute_path)));
      made.seconds[index(compute_path)] = found->as_real();
    }
  return made;
}

}  // namespace

const char* name(ComputePath compute_path) {
  switch (compute_path) {
    case ComputePath::cpu_f64:
      return "CPU, f64";
    case ComputePath::cpu_f32_refine:
      return "CPU, f32-refine";
    case ComputePath::gpu:
      return "GPU, f64";
  }
  return "";
}

Choice<ComputePath> fastest_path(std::span<const MeasuredScan> map, Index unknowns, Index points, Index threads,
                                 std::span<const ComputePath> possible) {
  if (possible.empty()) throw Error(ErrorKind::bad_input, "no compute path to choose from");
  const auto apart = [](Index a, Index b) {
    return std::abs(std::log(static_cast<double>(a) / static_cast<double>(b)));
  };
  const auto distance = [&](const MeasuredScan& scan) {
    return apart(scan.unknowns, unknowns) + apart(scan.points, points) + apart(scan.threads, threads);
  };
  const auto nearest = std::min_element(
      map.begin(), map.end(), [&](const MeasuredScan& a, const MeasuredScan& b) { return distance(a) < distance(b); });
  const ComputePath first = possible.front();
  if (nearest == map.end() || !nearest->seconds[index(first)]) return {first, "not measured"};
  constexpr double clearly = 0.9;
  ComputePath best = first;
  std::string times;
  for (const ComputePath compute_path : possible) {
    const std::optional<double>& took = nearest->seconds[index(compute_path)];
    if (!took) continue;
    times += fmt::format("{}{} {}", times.empty() ? "" : ", ", name(compute_path), format_seconds(*took));
    const double to_beat = *nearest->seconds[index(best)];
    if (*took < (best == first ? clearly * to_beat : to_beat)) best = compute_path;
  }
  return {best, fmt::format("{} points of {} unknowns on {} threads took: {}", nearest->points, nearest->unknowns,
                            nearest->threads, times)};
}

KeptMap kept_crossover_map(const std::string& path) {
  const std::optional<std::string> text = read_cache(path);
  if (!text) return {};
  try {
    const Value kept = parse_json(*text, path);
    if (text_at(kept, "format") != format) throw Error(ErrorKind::bad_file, path + ": not a map of crossovers");
    const Value *identity = kept.find("machine"), *scans = kept.find("scans");
    if (identity == nullptr || !(*identity == machine_identity()))
      return {.scans = {}, .note = path + ": was measured on another machine, and is not used"};
    if (scans == nullptr || !scans->is_list()) throw Error(ErrorKind::bad_file, path + ": has no scans");
    KeptMap made;
    for (const Value& scan : scans->items()) made.scans.push_back(from_value(scan));
    return made;
  } catch (const Error& error) {
    return {.scans = {}, .note = fmt::format("{}: is damaged and not used ({})", path, error.message())};
  }
}

void keep_crossover_map(std::span<const MeasuredScan> map, const std::string& path) {
  Value made;
  made["schema"] = "sonde.neoclassical.crossover/1";
  made["format"] = format;
  made["machine"] = machine_identity();
  made["scans"] = Value::list();
  for (const MeasuredScan& scan : map) made["scans"].push_back(to_value(scan));
  write_cache(path, to_json(made) + "\n");
}

}  // namespace sonde::neoclassical
