// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/load/load_options.h"

#include <fmt/format.h>
#include <algorithm>

#include <optional>
#include <string_view>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/instruments/stem/load/parse_numbers.h"

namespace sonde::stem {
namespace {

/// "256,256", "255,auto", "auto": unset is to be found.
struct ScanShape {
  std::optional<Index> rows{}, cols{};
};

ScanShape parse_scan_shape(std::string_view text, std::string_view where) {
  ScanShape shape;
  if (text == "auto") return shape;
  const std::vector<std::string> parts = split(text, ',');
  if (parts.size() != 2)
    throw Error(ErrorKind::usage, fmt::format("{}: \"{}\" is not ROWS,COLS", where, text))
        .hint("write for instance 256,256 or 255,auto");
  if (parts[0] != "auto") shape.rows = parse_index(parts[0], where, "256,256");
  if (parts[1] != "auto") shape.cols = parse_index(parts[1], where, "256,256");
  for (const auto& extent : {shape.rows, shape.cols})
    if (extent && *extent < 1)
      throw Error(ErrorKind::usage, fmt::format("{}: {} is not a number of positions", where, *extent));
  return shape;
}

std::vector<Index> parse_raw_shape(std::string_view text, std::string_view where) {
  return parse_list(std::string(text), 4, where, "256,256,128,130");
}

std::vector<Index> parse_scan_region(std::string_view text, std::string_view where) {
  return parse_list(std::string(text), 4, where, "0,64,0,64");
}

std::optional<Index> parse_det_bin(std::string_view text, std::string_view where) {
  return text == "auto" ? std::nullopt : std::optional(parse_index(text, where, "2"));
}

/// Whether `parse` takes a text, for FieldInfo::check.
template <auto parse>
void require(std::string_view text, std::string_view where) {
  (void)parse(text, where);
}

}  // namespace

void LoadOptions::describe_without(std::initializer_list<std::string_view> keys, Fields& fields) {
  Fields all;
  describe(all);
  for (const Field& field : all.all()) {
    if (std::find(keys.begin(), keys.end(), field.key) != keys.end()) continue;
    fields.heading(field.heading);
    fields.add(field);
  }
  fields.heading("");
}

void LoadOptions::describe(Fields& fields) {
  fields.heading("What the file does not say");
  fields.add("scan_shape", scan_shape,
             {.help = "scan rows and columns; one of them may be auto",
              .metavar = "ROWS,COLS|auto",
              .check = require<parse_scan_shape>});
  fields.choice(
      "scan_flip", scan_flip,
      {{"none", ScanFlip::none}, {"rows", ScanFlip::rows}, {"cols", ScanFlip::cols}, {"both", ScanFlip::both}},
      {.help = "mirror the scan"});
  fields.add("transpose_scan", transpose_scan, {.help = "exchange scan rows and columns"});
  fields.add("transpose_detector", transpose_detector, {.help = "exchange detector rows and columns"});
  fields.add("allow_incomplete", allow_incomplete,
             {.help = "load a scan that ended early; missing positions are zero and marked"});
  fields.add("drop_extra", drop_extra, {.help = "leave frames out that are more than the scan has positions"});
  fields.add("ignore_mask", ignore_mask, {.help = "do not use the pixel mask of the file"});
  fields.add("mask_file", mask_file,
             {.help = "further bad pixels: an image of the detector that is non-zero where bad (NPY, TIFF, PNG)",
              .metavar = "FILE"});
  fields.add("sentinel", sentinel,
             {.help = "stored value that means no data, for formats that declare none", .min = 1});
  fields.add("dataset", dataset, {.help = "object inside an HDF5 file or a Zarr folder", .metavar = "PATH"});
  fields.add(
      "raw_shape", raw_shape,
      {.help = "shape of a raw file", .metavar = "RY,RX,QY,QX", .alias = "shape", .check = require<parse_raw_shape>});
  fields.add("raw_dtype", raw_dtype, {.help = "element type of a raw file", .metavar = "u1|u2|u4|i2|f4|f8"});
  fields.add("raw_big_endian", raw_big_endian, {.help = "a raw file has its most significant byte first"});
  fields.add("raw_offset", raw_offset, {.help = "bytes before the first frame of a raw file", .alias = "offset"});
  fields.add("raw_gap", raw_gap, {.help = "bytes after every frame of a raw file", .alias = "gap"});
  fields.add("preset", preset, {.help = "known raw layout", .metavar = "empad"});
  fields.heading("Calibration the file lacks (recorded as given by the user)");
  fields.add("calibration", calibration,
             {.help = "use the pixel size, ellipse, centre, rotation and origins of this file in place of those of the "
                      "scan: a result of sonde stem calibrate, com or phase, or a scan that states them (EMD)",
              .metavar = "FILE"});
  fields.add("voltage", voltage, {.help = "accelerating voltage", .unit = "kV", .min = 1, .max = 3000});
  fields.add("camera_length", camera_length, {.help = "camera length", .unit = "m", .min = 1e-4, .max = 1e3});
  fields.add("scan_step", scan_step, {.help = "distance of scan positions", .unit = "nm", .min = 1e-6, .max = 1e6});
  fields.add("rotation", rotation,
             {.help = "rotation between scan and detector", .unit = "degrees", .min = -360, .max = 360});
  fields.heading("What is kept");
  fields.add("det_bin", det_bin,
             {.help = "sum N x N detector pixels; auto takes the smallest bin that fits the memory",
              .metavar = "N|auto",
              .check = require<parse_det_bin>});
  fields.choice("bin_mode", bin_mode, {{"sum", BinMode::sum}, {"mean", BinMode::mean}},
                {.help = "exact sums of counts, or means over good pixels in f32"});
  fields.choice("edge", edge, {{"keep", Edge::keep}, {"drop", Edge::drop}}, {.help = "incomplete bins at the edge"});
  fields.add("scan_bin", scan_bin, {.help = "sum N x N scan positions", .min = 1, .max = 4096});
  fields.add("scan_region", scan_region,
             {.help = "load these positions only; the last ones are exclusive",
              .metavar = "ROW0,ROW1,COL0,COL1",
              .check = require<parse_scan_region>});
  fields.choice(
      "dtype", dtype,
      {{"auto", ResultType::automatic},
       {"u8", ResultType::u8},
       {"u16", ResultType::u16},
       {"u32", ResultType::u32},
       {"f32", ResultType::f32}},
      {.help =
           "element type held; auto is the narrowest that loses nothing, a given one clips and counts what it clips"});
  fields.choice("layout", layout,
                {{"auto", LayoutChoice::automatic},
                 {"frame", LayoutChoice::frame},
                 {"pixel", LayoutChoice::pixel},
                 {"compressed", LayoutChoice::compressed},
                 {"file", LayoutChoice::file}},
                {.help = "how the scan is held in memory"});
  fields.choice(
      "hot_pixels", hot_pixels,
      {{"auto", BadPixelAction::automatic},
       {"zero", BadPixelAction::zero},
       {"sampled", BadPixelAction::sampled},
       {"interpolate", BadPixelAction::interpolate},
       {"mark", BadPixelAction::mark},
       {"none", BadPixelAction::none}},
      {.help =
           "what is done to bad pixels that the mask does not name; zero judges by all frames, sampled by 128 of them; "
           "auto is zero for 100 frames or more (sampled for an image), mark for fewer, and none for a conversion"});
  fields.choice("on_error", on_error, {{"fail", OnError::fail}, {"zero", OnError::zero}},
                {.help = "a broken frame ends the load, or is zeroed and listed"});
  fields.heading("");
}

ReadOptions LoadOptions::read_options() const {
  ReadOptions read;
  if (scan_shape != "auto") {
    const auto [rows, cols] = parse_scan_shape(scan_shape, setting("scan_shape"));
    read.scan_rows = rows;
    read.scan_cols = cols;
    read.scan_shape_auto = !rows && !cols;
  }
  read.flip_rows = scan_flip == ScanFlip::rows || scan_flip == ScanFlip::both;
  read.flip_cols = scan_flip == ScanFlip::cols || scan_flip == ScanFlip::both;
  read.transpose_scan = transpose_scan;
  read.allow_incomplete = allow_incomplete;
  read.drop_extra = drop_extra;
  read.ignore_mask = ignore_mask;
  if (sentinel) read.sentinel = static_cast<std::uint64_t>(*sentinel);
  read.dataset = dataset;
  if (!raw_shape.empty()) read.raw_shape = parse_raw_shape(raw_shape, setting("raw_shape"));
  read.raw_dtype = raw_dtype;
  read.raw_big_endian = raw_big_endian;
  read.raw_offset = raw_offset.value;
  read.raw_gap = raw_gap.value;
  read.preset = preset;
  return read;
}

std::optional<ScanRegion> LoadOptions::region() const {
  if (scan_region.empty()) return std::nullopt;
  const std::vector<Index> values = parse_scan_region(scan_region, setting("scan_region"));
  return ScanRegion{values[0], values[1], values[2], values[3]};
}

std::optional<Index> LoadOptions::detector_bin() const { return parse_det_bin(det_bin, setting("det_bin")); }

}  // namespace sonde::stem
