// SPDX-License-Identifier: Apache-2.0
// Scans in HDF5 files of other programs.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "sonde/engine/base/setting.h"
#include "sonde/engine/base/text.h"
#include "sonde/instruments/stem/read/calibration.h"
#include "sonde/instruments/stem/read/channels.h"
#include "sonde/instruments/stem/read/emd_axes.h"
#include "sonde/instruments/stem/read/emd_calibration.h"
#include "sonde/instruments/stem/read/hdf5_source.h"
#include "sonde/instruments/stem/read/hyperspy/hyperspy_axes.h"
#include "sonde/instruments/stem/read/nion/nion_properties.h"
#include "sonde/instruments/stem/read/scan_shape.h"

namespace sonde::stem {
namespace {

bool may_be_scan(const Hdf5DatasetInfo& info) {
  return info.dtype && *info.dtype != DType::c64 && *info.dtype != DType::c128 &&
         (info.shape.rank() == 3 || info.shape.rank() == 4) && info.shape.count() > 0;
}

struct Candidate {
  std::string path;
  Shape shape;
};

/// The largest array with four dimensions, else with three; among equals the first by name.
Candidate choose_dataset(const Hdf5File& file, std::vector<Choice<std::string>>& notes) {
  std::vector<Candidate> candidates;
  std::vector<std::string> others;
  for (const std::string& path : file.datasets()) {
    const Hdf5DatasetInfo info = file.dataset(path).info();
    if (may_be_scan(info))
      candidates.push_back({path, info.shape});
    else if (others.size() < 3)
      others.push_back(fmt::format("{} {} of {}", path, info.shape.text(), info.type_text));
  }
  if (candidates.empty())
    throw Error(ErrorKind::bad_file,
                fmt::format("{}: no scan found: no array of numbers with three or four dimensions{}", file.path(),
                            others.empty() ? "" : " (there are " + join_words(others) + " ...)"))
        .hint(setting("dataset") + " names the data set when it is reached through a link");
  const auto key = [](const Candidate& c) { return std::pair(c.shape.rank(), c.shape.count()); };
  std::stable_sort(candidates.begin(), candidates.end(),
                   [&](const Candidate& a, const Candidate& b) { return key(a) > key(b); });
  if (candidates.size() > 1)
    notes.push_back(
        {"data set " + candidates[0].path, fmt::format("the largest of {}; dataset chooses another, for instance {}",
                                                       candidates.size(), candidates[1].path)});
  return candidates[0];
}

/// --dataset by name, with near misses named.
Candidate named_dataset(const Hdf5File& file, std::string path) {
  if (!path.starts_with('/')) path = "/" + path;
  if (!file.is_dataset(path))
    throw Error(ErrorKind::bad_input,
                fmt::format("{}: no data set {}{}", file.path(), path, did_you_mean(path, file.datasets())));
  return {path, file.dataset(path).info().shape};
}

ScanShape scan_of(const Hdf5File& file, const Hdf5Frames& frames, const std::optional<StatedGrid>& line,
                  const ReadOptions& options) {
  ScanFacts facts;
  facts.attribute = line;
  facts.frames = frames.frames();
  const Shape& shape = frames.info().shape;
  if (shape.rank() == 4) facts.attribute = StatedGrid{shape[0], shape[1], 0, "the shape of the data set"};
  if (const auto value = file.attribute(frames.path(), "scan_shape"); !facts.attribute && value) {
    const auto at = [&](std::size_t i) { return Hdf5Value{{}, {value->elements[i]}}.integer().value_or(0); };
    if (value->elements.size() == 2 && at(0) > 0 && at(1) > 0)
      facts.attribute = StatedGrid{at(0), at(1), 0, "attribute scan_shape of the frames"};
  }
  return choose_scan_shape(facts, options);
}

/// Calibration and format by whoever wrote axes beside the data set; the scan shape of a line of patterns.
std::optional<StatedGrid> take_axes(const Hdf5File& file, const Candidate& chosen, Acquisition& acquisition) {
  if (const auto signal = read_hyperspy(file, chosen.path, chosen.shape.rank())) {
    acquisition.format = "HyperSpy";
    return take_hyperspy(*signal, chosen.shape, acquisition);
  }
  const auto properties = file.attribute(chosen.path, "properties");
  const auto json = properties ? properties->text() : std::nullopt;
  if (json && json->find("dimensional_calibrations") != std::string::npos) {
    acquisition.format = "Nion Swift HDF5";
    return take_nion_properties(*json, chosen.shape, file.path() + ", properties of " + chosen.path, acquisition);
  }
  acquisition.format = emd_format(file, chosen.path);
  if (chosen.shape.rank() == 4) take_emd_axes(file, chosen.path, acquisition);
  return std::nullopt;
}

}  // namespace

std::unique_ptr<Source> open_hdf5_generic(const Hdf5File& file, const ReadOptions& options) {
  Acquisition a;
  a.path = file.path();
  const Candidate chosen =
      options.dataset.empty() ? choose_dataset(file, a.notes) : named_dataset(file, options.dataset);
  require_no_channels(file, chosen.path, chosen.shape);
  Problems problems;
  std::vector<Hdf5Frames> parts;
  parts.emplace_back(file.dataset(chosen.path), options.memory_bytes);
  const Hdf5Frames& frames = parts.front();
  frames.check_ranges(problems);
  const std::optional<StatedGrid> line = take_axes(file, chosen, a);
  take_emd_calibration(file, chosen.path, frames.frames(), a);
  derive_detector_steps(a.calibration);
  a.files = {frames.file_path()};
  a.frames = frames.frames();
  a.rows = frames.rows();
  a.cols = frames.cols();
  a.stored = frames.dtype();
  a.allow_incomplete = options.allow_incomplete;
  a.sentinel = options.sentinel;
  problems.collect([&] {
    const ScanShape shape = scan_of(file, frames, line, options);
    a.scan = scan_order(shape, options);
    a.scan_because = shape.because;
  });
  if (a.calibration.rotation_rad && (a.scan.flip_rows || a.scan.flip_cols || a.scan.transpose)) {
    a.calibration.rotation_rad.reset();
    a.calibration.transpose.reset();
    a.notes.push_back({"calibration rotation is not used", "it is that of the scan before flips and transposition"});
  }
  problems.throw_if_any(fmt::format("{}: {} problems, nothing was read", a.path, problems.errors().size()));

  for (const auto& [path, value] : file.small_values()) a.original_metadata.emplace(path, value.printed());
  return std::make_unique<Hdf5Source>(std::move(a), std::move(parts));
}

}  // namespace sonde::stem
