// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/verbs/open_measurement.h"

#include <fmt/format.h>

#include <utility>

namespace sonde::ptycho {
namespace {

/// The frames of a scan that stays on file. Everything is decoded twice: once to find the pixels that are bad over all
/// frames, and once for the reconstruction. That costs less than an iteration, and the scan is in memory once.
Source open_scan(const DataSettings& settings, Run& run) {
  Frames frames = run.open_frames({.file = settings.file,
                                   .dataset = settings.patterns,
                                   .scan_shape = settings.scan_shape,
                                   .detector_bin = settings.detector_bin});
  Source source;
  source.file = frames.file;
  source.format = frames.format;
  source.scan_shape = Extent{frames.scan_rows, frames.scan_cols};
  source.shape = frames.shape;
  source.dtype = frames.dtype;
  source.together = frames.together;
  source.reading_bytes = frames.reading_bytes;
  source.probe_type = ProbeType::electron;
  source.energy_kev = frames.energy_kev;
  source.mrad_per_px = frames.mrad_per_px;
  source.inv_a_per_px = frames.inv_a_per_px;
  source.step_a = frames.step_a;
  source.warnings = std::move(frames.warnings);
  take_named_arrays(settings, source, [&run](const std::string& name) { return run.array(name); });
  require_fitting(source);
  source.find_good = [find = std::move(frames.find_good), named = source.good] { return find(named); };
  source.read_frames = frames.read;
  source.read_patterns = [read = std::move(frames.read), count = source.shape[0]] { return read(0, count); };
  return source;
}

}  // namespace

Source open_measurement(const DataSettings& settings, Run& run) {
  const FindArray find = [&run](const std::string& name) { return run.array(name); };
  if (const std::shared_ptr<const Array> patterns = run.array(settings.file))
    return open_array(patterns, settings, find);
  if (settings.file.empty() || is_own_format(settings)) return open_source(settings, find);
  return open_scan(settings, run);
}

void say_source(const Source& source, const Run& run) {
  run.say(fmt::format("data      {}: {} patterns of {} x {} pixels, {}", source.file, source.shape[0], source.shape[1],
                      source.shape[2], source.format));
}

}  // namespace sonde::ptycho
