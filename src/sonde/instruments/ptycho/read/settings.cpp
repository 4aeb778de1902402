// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/read/settings.h"

#include <fmt/format.h>

#include <charconv>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"

namespace sonde::ptycho {
namespace {

std::optional<Index> whole(std::string_view text) {
  Index number = 0;
  text = trim(text);
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  return status == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

void require_extent(std::string_view text, std::string_view where) { (void)parse_extent(text, where); }

}  // namespace

void DataSettings::describe(Fields& fields) {
  fields.add("file", file, {.help = "file with the patterns; a relative path starts at the folder of the run file"});
  fields.choice(
      "format", format,
      {{"auto", SourceFormat::automatic},
       {"plain", SourceFormat::plain},
       {"sonde", SourceFormat::sonde},
       {"cxi", SourceFormat::cxi},
       {"ptyd", SourceFormat::ptyd},
       {"stem", SourceFormat::stem}},
      {.help = "layout of the file: plain is an HDF5 or NPY stack, sonde what `sonde ptycho simulate` writes, stem "
               "whatever `sonde stem` opens"});
  fields.add("patterns", patterns,
             {.help = "plain HDF5: the data set of the patterns; empty takes the only one of 3 or 4 dimensions"});
  fields.add(
      "positions", positions,
      {.help = "data set of the positions (frames, 2) as row, column, or FILE.npy, or FILE.h5:DATASET; empty means "
               "those of the format, else a data set called positions beside the only patterns, else a raster",
       .array = true});
  fields.add("scan_shape", scan_shape,
             {.help = "rows and columns of a raster whose patterns are one stack",
              .metavar = "ROWS,COLS",
              .check = require_extent});
  fields.choice("zero_frequency", zero_frequency,
                {{"auto", std::nullopt}, {"center", ZeroFrequency::centre}, {"corner", ZeroFrequency::corner}},
                {.help = "where the undiffracted beam is: at index floor(N/2) (auto, unless the format says "
                         "otherwise), or at [0, 0]"});
  fields.add("mask", mask,
             {.help = "which pixels were measured, after detector_bin: data set inside the file, FILE.npy or "
                      "FILE.h5:DATASET",
              .array = true});
  fields.choice("mask_good", mask_good, {{"nonzero", MaskGood::nonzero}, {"zero", MaskGood::zero}},
                {.help = "which values of the mask mark measured pixels"});
  fields.add("skip", skip,
             {.help = "frames that take no part, counted from 0",
              .metavar = "3,7,10-12",
              .check = [](std::string_view text, std::string_view where) { (void)parse_frames(text, where); }});
  fields.add("skip_empty", skip_empty, {.help = "frames without a single count take no part"});
  fields.add("clip_negative", clip_negative, {.help = "negative counts become zero"});
  fields.add(
      "counts_per_unit", counts_per_unit,
      {.help = "counts (electrons, photons) that a value of 1 means, where values are not counts: the floor of R_I "
               "follows from it; unset: estimated",
       .min = 1e-30,
       .max = 1e30});
  fields.add("detector_bin", detector_bin,
             {.help = "files that `sonde stem` opens: sum N x N detector pixels", .min = 1, .max = 1024});
  fields.add("crop", crop,
             {.help = "keep this many detector pixels around the zero frequency: a coarser object, computed faster",
              .metavar = "N|ROWS,COLS",
              .check = require_extent});
  fields.add("centre", centre,
             {.help = "detector pixel of the direct beam, counted from 0,; empty: the middle, "
                      "index floor(n/2). Lines that then come from outside of the detector are not measured",
              .metavar = "ROW,COL",
              .check = [](std::string_view text, std::string_view where) { (void)parse_numbers(text, where); }});
  fields.add(
      "holdout", holdout,
      {.help = "share of the frames that only judge (R_free); unset: 0.03 from 160 frames on", .min = 0, .max = 0.5});
  fields.choice("storage", storage,
                {{"auto", std::nullopt},
                 {"f32", AmplitudeStorage::f32},
                 {"f64", AmplitudeStorage::f64},
                 {"f16", AmplitudeStorage::f16},
                 {"bf16", AmplitudeStorage::bf16},
                 {"counts", AmplitudeStorage::counts}},
                {.help = "how measured amplitudes are kept: auto takes f32 while it fits, then counts, which keeps "
                         "small integers as they are, or f16"});
  fields.choice("tier", tier, {{"auto", std::nullopt}, {"host", Tier::host}, {"disk", Tier::disk}},
                {.help = "where the patterns are: in memory, or in a file that is read ahead of the work"});
}

void GeometrySettings::describe(Fields& fields) {
  fields.choice("units", units, {{"A", Units::angstrom}, {"pixel", Units::pixel}},
                {.help = "lengths in angstrom, or all in object pixels when energy and angles are not known"});
  fields.choice("probe_type", probe_type,
                {{"auto", std::nullopt}, {"electron", ProbeType::electron}, {"photon", ProbeType::photon}},
                {.help = "what the probe is made of; auto: what the file says (photons for CXI and PtyD, unless energy "
                         "and angles are those of electrons), "
                         "else electrons"});
  fields.add("energy_keV", energy_kev, {.help = "energy of the electrons or photons", .unit = "keV"});
  fields.add("semiangle_mrad", semiangle_mrad, {.help = "convergence semiangle of the probe", .unit = "mrad"});
  fields.add("detector_mrad_per_px", detector_mrad_per_px,
             {.help = "angle of a detector pixel, after detector_bin", .unit = "mrad"});
  fields.add("detector_inv_A_per_px", detector_inv_a_per_px,
             {.help = "instead of the angle: reciprocal size of a detector pixel, angle / wavelength (no 2 pi), after "
                      "detector_bin",
              .unit = "1/A"});
  fields.add("detector_pixel_m", detector_pixel_m,
             {.help = "size of a detector pixel: with the distance it gives the angle", .unit = "m"});
  fields.add("distance_m", distance_m, {.help = "from the specimen to the detector (camera length)", .unit = "m"});
  fields.add("object_pixel_A", object_pixel_a,
             {.help = "object pixel: checked against energy and angle, or instead of the angle", .unit = "A"});
  fields.add("scan_step_A", scan_step_a, {.help = "step of a raster", .unit = "A"});
  fields.add("scan_step_px", scan_step_px,
             {.help = "the same in object pixels; checked when both are given", .unit = "px"});
  fields.add(
      "scan_rotation_deg", scan_rotation_deg,
      {.help = "turns the positions about their mean, counter-clockwise", .unit = "deg", .min = -360, .max = 360});
  fields.add("transpose", transpose, {.help = "exchanges rows and columns of the positions, before the rotation"});
}

void PositionListSettings::describe(Fields& fields) {
  fields.choice("unit", unit, {{"auto", std::nullopt}, {"A", LengthUnit::angstrom}, {"px", LengthUnit::pixel}},
                {.help = "unit of a list of positions; auto: as its name ends (_px, _A), else A, or px when "
                         "geometry.units is pixel"});
  fields.choice("reference", reference,
                {{"auto", std::nullopt},
                 {"window_center", Reference::window_centre},
                 {"window_corner", Reference::window_corner}},
                {.help = "which place of the probe's window they are: index floor(N/2) (auto), or index [0, 0]"});
  fields.add("whole_pixels", whole_pixels, {.help = "round positions to whole object pixels: faster, less accurate"});
}

Extent parse_extent(std::string_view text, std::string_view key) {
  const std::vector<std::string> parts = split(text, ',');
  const std::optional<Index> rows = parts.empty() ? std::nullopt : whole(parts.front());
  const std::optional<Index> cols = parts.empty() ? std::nullopt : whole(parts.back());
  if (parts.empty() || parts.size() > 2 || !rows || !cols || *rows < 1 || *cols < 1)
    throw Error(ErrorKind::usage, fmt::format("{}: \"{}\" is not ROWS,COLS", key, text))
        .hint("write for instance 128,96");
  return {*rows, *cols};
}

std::vector<Index> parse_frames(std::string_view text, std::string_view key) {
  std::vector<Index> frames;
  for (const std::string& part : split(text, ',')) {
    const std::size_t dash = part.find('-', 1);
    const std::optional<Index> first = whole(std::string_view(part).substr(0, dash));
    const std::optional<Index> last =
        dash == std::string::npos ? first : whole(std::string_view(part).substr(dash + 1));
    constexpr Index most = Index{1} << 32;
    if (!first || !last || *first < 0 || *last < *first || *last >= most)
      throw Error(ErrorKind::usage, fmt::format("{}: \"{}\" is not a list of frames", key, text))
          .hint("write for instance 3,7,10-12");
    for (Index frame = *first; frame <= *last; ++frame) frames.push_back(frame);
  }
  return frames;
}

}  // namespace sonde::ptycho
