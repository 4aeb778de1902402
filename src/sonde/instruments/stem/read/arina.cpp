// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/read/arina.h"

#include <fmt/format.h>

#include <filesystem>

#include "sonde/engine/base/log.h"
#include "sonde/instruments/stem/read/calibration.h"
#include "sonde/instruments/stem/read/hdf5_source.h"
#include "sonde/instruments/stem/read/scan_shape.h"
#include "sonde/instruments/stem/read/sidecar.h"

namespace sonde::stem {
namespace {

namespace fs = std::filesystem;
using Note = Choice<std::string>;

const std::string detector = "/entry/instrument/detector", specific = detector + "/detectorSpecific";

std::optional<std::int64_t> integer(const Hdf5File& file, const std::string& path) {
  const auto value = file.value(path);
  return value ? value->integer() : std::nullopt;
}

/// A physical quantity; 0 stands for "not set" in these files.
std::optional<Quantity> positive(const Hdf5File& file, const std::string& path) {
  const auto value = file.value(path);
  const auto number = value ? value->number() : std::nullopt;
  return number && *number > 0 ? std::optional(Quantity{*number, StatedBy::file}) : std::nullopt;
}

std::optional<StatedGrid> grid_of(const std::optional<Hdf5Value>& value, const std::string& source) {
  if (!value || value->elements.size() != 2) return std::nullopt;
  const auto rows = Hdf5Value{{}, {value->elements[0]}}.integer(), cols = Hdf5Value{{}, {value->elements[1]}}.integer();
  if (!rows || !cols || *rows <= 0 || *cols <= 0) return std::nullopt;
  return StatedGrid{*rows, *cols, 0, source};
}

/// Opens the sidecar beside a master; its absence is normal, a broken one is a note.
std::optional<Sidecar> find_sidecar(const std::string& master, std::vector<Note>& notes) {
  const fs::path path = fs::path(master).parent_path() / (arina::base_name(master) + ".h5");
  std::error_code ignored;
  if (path == fs::path(master) || !fs::exists(path, ignored)) return std::nullopt;
  try {
    const Hdf5File file = Hdf5File::open(path.string());
    if (is_sidecar(file)) return read_sidecar(file);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::bad_input) throw;  // an output would take its place
    notes.push_back({"sidecar not used", error.message()});
  }
  return std::nullopt;
}

void read_pixel_mask(const Hdf5File& master, const ReadOptions& options, Acquisition& a) {
  for (const std::string& path : {specific + "/pixel_mask", detector + "/pixel_mask"}) {
    if (!master.is_dataset(path)) continue;
    if (options.ignore_mask) {
      a.notes.push_back({"pixel mask not used", "ignore_mask"});
      return;
    }
    const Hdf5Dataset mask = master.dataset(path);
    if (mask.info().shape != (Shape{a.rows, a.cols})) {
      a.notes.push_back({"pixel mask not used",
                         fmt::format("it is {}, the frames are ({}, {})", mask.info().shape.text(), a.rows, a.cols)});
      log_warning(fmt::format("{}: the pixel mask is {}, the frames are ({}, {}): not used", a.path,
                              mask.info().shape.text(), a.rows, a.cols));
      return;
    }
    const Array elements = mask.read();
    if (mask.info().dtype == DType::u32) {
      const auto* first = static_cast<const std::uint32_t*>(elements.data());
      a.pixel_mask.assign(first, first + elements.count());
    } else if (mask.info().dtype == DType::u8) {
      const auto* first = static_cast<const std::uint8_t*>(elements.data());
      a.pixel_mask.assign(first, first + elements.count());
    } else {
      a.notes.push_back({"pixel mask not used", "its elements are " + mask.info().type_text + ", expected u32"});
    }
    return;
  }
}

std::optional<Hdf5Value> attribute_of(const Hdf5Frames& frames, const std::string& name) {
  return Hdf5File::open(frames.file_path()).attribute(frames.path(), name);
}

bool says_no_sentinels(const Hdf5File& master, const std::optional<Hdf5Value>& of_frames) {
  for (const auto& value : {master.attribute(arina::data_group, "sonde_sentinels"), of_frames})
    if (value && value->integer() == 0) return true;
  return false;
}

/// The rule of "no data" values: judged on the stored type.
void choose_sentinel(const Hdf5File& master, const Hdf5Frames& frames, const ReadOptions& options, Acquisition& a) {
  const auto saturation = integer(master, detector + "/saturation_value");
  if (saturation && *saturation > 0) a.saturation = static_cast<std::uint64_t>(*saturation);
  if (options.sentinel) {
    a.sentinel = options.sentinel;
    a.notes.push_back({fmt::format("{} means no data", *options.sentinel), "sentinel"});
    return;
  }
  if (!is_unsigned(a.stored) || says_no_sentinels(master, attribute_of(frames, "sonde_sentinels"))) return;
  const std::uint64_t largest = max_value(a.stored);
  auto limit = saturation;
  if (!limit || *limit <= 0) limit = integer(master, specific + "/countrate_correction_count_cutoff");
  const bool counts_end_below = limit && *limit > 0 && static_cast<std::uint64_t>(*limit) < largest;
  if (a.stored == DType::u32)
    a.notes.push_back({fmt::format("{} means no data", largest), "files of this detector with 32-bit values"});
  else if (counts_end_below)
    a.notes.push_back({fmt::format("{} means no data", largest),
                       fmt::format("counts end at {}, below the largest value of {}", *limit, name(a.stored))});
  else
    return;
  a.sentinel = largest;
}

void read_calibration(const Hdf5File& master, const std::optional<Sidecar>& sidecar, Calibration& c) {
  if (sidecar) c = sidecar->calibration;
  if (!c.high_tension_v) c.high_tension_v = positive(master, specific + "/photon_energy");  // eV of the beam
  if (!c.camera_length_m) c.camera_length_m = positive(master, detector + "/detector_distance");
  c.detector_pixel_m = positive(master, detector + "/x_pixel_size");
  derive_detector_steps(c);
}

void read_metadata(const Hdf5File& master, const std::optional<Sidecar>& sidecar, Acquisition& a) {
  for (const auto& [path, value] : master.small_values()) a.original_metadata.emplace(path, value.printed());
  if (!sidecar) return;
  for (const auto& [name, value] : sidecar->metadata) a.original_metadata.emplace("sidecar@" + name, value);
}

ScanFacts scan_facts(const Hdf5File& master, const Hdf5Frames& frames, const std::optional<Sidecar>& sidecar,
                     Index count) {
  ScanFacts facts;
  facts.frames = count;
  facts.attribute = grid_of(attribute_of(frames, "scan_shape"), "attribute scan_shape of the frames");
  if (!facts.attribute)
    facts.attribute = grid_of(master.attribute(arina::data_group, "scan_shape"), "attribute scan_shape of /entry/data");
  if (sidecar) facts.sidecar = sidecar->grid;
  facts.ntrigger = integer(master, specific + "/ntrigger");
  facts.nimages = integer(master, specific + "/nimages");
  return facts;
}

void note_parts(const std::vector<Hdf5Frames>& parts, Acquisition& a) {
  Index absent = 0;
  for (const Hdf5Frames& part : parts) absent += part.absent_frames();
  if (absent > 0) a.notes.push_back({fmt::format("{} frames hold the fill value", absent), "they were never written"});
}

/// A data file opened by itself: what its name says it is.
bool is_data_file(const std::string& path) {
  const std::string stem = fs::path(path).stem().string();
  return arina::base_name(path) != stem && !stem.ends_with("_master");
}

void note_data_file(Acquisition& a) {
  const fs::path master = fs::path(a.path).parent_path() / (arina::base_name(a.path) + "_master.h5");
  std::error_code ignored;
  if (fs::exists(master, ignored))
    a.notes.push_back({"opened without its master",
                       fmt::format("pixel mask, scan shape and calibration are in {}", master.string())});
}

}  // namespace

bool is_arina(const Hdf5File& file) {
  for (const Hdf5Link& link : file.list(arina::data_group))
    if (arina::is_numbered(link.name)) return true;
  return file.is_dataset(arina::frames_path) && file.dataset(arina::frames_path).info().shape.rank() == 3;
}

std::unique_ptr<Source> open_arina(const Hdf5File& file, const ReadOptions& options) {
  Problems problems;
  arina::Files files = arina::open_files(file, options.memory_bytes, problems);
  arina::check_image_numbers(files.parts, options.allow_incomplete, problems);
  Acquisition a;
  a.path = file.path();
  a.format = "ARINA";
  a.files = files.paths;
  a.notes = std::move(files.notes);
  a.allow_incomplete = options.allow_incomplete;
  for (const Hdf5Frames& part : files.parts) a.frames += part.frames();

  if (!files.parts.empty()) {
    const Hdf5Frames& first = files.parts.front();
    a.rows = first.rows();
    a.cols = first.cols();
    a.stored = first.dtype();
    const bool alone = is_data_file(a.path);  // then the sidecar describes more than these frames
    const std::optional<Sidecar> sidecar = alone ? std::nullopt : find_sidecar(a.path, a.notes);
    // With parts missing the number of frames means nothing; their absence is already a problem.
    if (files.complete)
      problems.collect([&] {
        const ScanShape shape = choose_scan_shape(scan_facts(file, first, sidecar, a.frames), options);
        a.scan = scan_order(shape, options);
        a.scan_because = shape.because;
        if (shape.prescan > 0)
          a.notes.push_back({fmt::format("{} prescan columns dropped", shape.prescan), shape.because});
      });
    problems.collect([&] { read_pixel_mask(file, options, a); });
    choose_sentinel(file, first, options, a);
    read_calibration(file, sidecar, a.calibration);
    read_metadata(file, sidecar, a);
    note_parts(files.parts, a);
    if (alone) note_data_file(a);
  }
  problems.throw_if_any(fmt::format("{}: {} problems, nothing was read", a.path, problems.errors().size()));
  return std::make_unique<Hdf5Source>(std::move(a), std::move(files.parts));
}

}  // namespace sonde::stem
