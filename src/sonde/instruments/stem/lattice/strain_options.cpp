// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/lattice/strain_options.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/setting.h"
#include "sonde/engine/base/text.h"
#include "sonde/instruments/stem/bragg/bragg_calibration.h"
#include "sonde/instruments/stem/load/parse_numbers.h"

namespace sonde::stem {

Basis parse_basis(std::string_view text, std::string_view where) {
  constexpr double least_sine = 0.05;  // of the angle between the vectors: 3 degrees
  std::array<double, 4> values{};
  const std::vector<std::string> parts = split(std::string(text), ',');
  bool numbers = parts.size() == values.size();
  for (std::size_t i = 0; numbers && i < values.size(); ++i) {
    const std::string_view part = trim(parts[i]);
    const auto [end, problem] = std::from_chars(part.data(), part.data() + part.size(), values[i]);
    numbers = problem == std::errc() && end == part.data() + part.size() && std::isfinite(values[i]);
  }
  if (!numbers)
    throw Error(ErrorKind::usage, fmt::format("{}: \"{}\"; expected four numbers, G1X,G1Y,G2X,G2Y", where, text));
  const Basis basis{values[0], values[1], values[2], values[3]};
  if (basis.opening() < least_sine)
    throw Error(ErrorKind::usage,
                fmt::format("{}: ({:g}, {:g}) and ({:g}, {:g}) are along one line; expected two directions", where,
                            basis.g1_x, basis.g1_y, basis.g2_x, basis.g2_y));
  return basis;
}

namespace {

void check_basis(std::string_view text, std::string_view where) {
  if (text != "auto") (void)parse_basis(text, where);
}

void check_reference(std::string_view text, std::string_view where) {
  if (text != "median") (void)parse_basis(text, where);
}

std::array<Index, 4> parse_region(std::string_view text, std::string_view where) {
  const std::vector<Index> values = parse_list(std::string(text), 4, where, "0,8,0,40");
  if (values[0] < 0 || values[2] < 0 || values[1] <= values[0] || values[3] <= values[2])
    throw Error(
        ErrorKind::usage,
        fmt::format("{}: \"{}\" has no positions; expected ROW0,ROW1,COL0,COL1, the last ones exclusive", where, text));
  return {values[0], values[1], values[2], values[3]};
}

void check_reference_region(std::string_view text, std::string_view where) { (void)parse_region(text, where); }

}  // namespace

void check_transpose(std::string_view text, std::string_view where) {
  if (text != "auto" && text != "0" && text != "1")
    throw Error(ErrorKind::usage, fmt::format("{}: \"{}\"; expected auto, 0 or 1", where, text));
}

void describe_frame(Fields& fields, std::optional<double>& rotation, std::string& transpose) {
  fields.add("rotation", rotation,
             {.help = "from the axes of the detector to those of the scan, clockwise on a screen; unset: that of the "
                      "file, and without one the axes are those of the detector",
              .unit = "degrees",
              .min = -360,
              .max = 360});
  fields.add("transpose", transpose,
             {.help = "rows and columns of the detector are exchanged before that; auto: as the file says, else not",
              .metavar = "auto|0|1",
              .check = check_transpose});
}

std::optional<Basis> StrainOptions::basis_asked() const {
  if (basis == "auto") return std::nullopt;
  return parse_basis(basis, setting("basis"));
}

std::optional<Basis> StrainOptions::reference_asked() const {
  if (reference == "median") return std::nullopt;
  return parse_basis(reference, setting("reference"));
}

std::optional<std::array<Index, 4>> StrainOptions::region_asked() const {
  if (reference_region.empty()) return std::nullopt;
  return parse_region(reference_region, setting("reference_region"));
}

void StrainOptions::check() const {
  (void)basis_asked();
  (void)reference_asked();
  (void)region_asked();
  check_steps(skip_calibration, setting("skip_calibration"));
  check_transpose(transpose, setting("transpose"));
  if (reference_asked() && region_asked())
    throw Error(ErrorKind::usage, setting("reference") + " is given, so no positions are chosen for it")
        .hint("leave out " + setting("reference_region") + " or " + setting("reference"));
}

void StrainOptions::describe(Fields& fields) {
  fields.heading("Lattice");
  fields.choice(
      "origin", origin,
      {{"auto", OriginChoice::automatic}, {"nearest", OriginChoice::nearest}, {"brightest", OriginChoice::brightest}},
      {.help = "direct disk of each pattern: that nearest the mean place of all disks, or the brightest one; auto: the "
               "origin in the file's calibration, else nearest"});
  fields.choice("origin_fit", origin_fit,
                {{"none", OriginFit::none},
                 {"constant", OriginFit::mean},
                 {"plane", OriginFit::plane},
                 {"parabola", OriginFit::parabola}},
                {.help = "surface through the direct disks of the scan: descan; none: each as measured"});
  fields.add("basis", basis,
             {.help = "lattice vectors in pixels of the detector; auto finds them in the map of all disks",
              .metavar = "G1X,G1Y,G2X,G2Y|auto",
              .check = check_basis});
  fields.add("max_peak_spacing", max_peak_spacing,
             {.help = "farthest that a disk on the lattice is from its site; unset: a fraction of the lattice vectors",
              .unit = "px",
              .min = 1e-3});
  fields.add("min_num_peaks", min_num_peaks, {.help = "disks on the lattice that a position needs", .min = 4});
  fields.choice("weights", weights,
                {{"intensity", PeakWeight::intensity},
                 {"uniform", PeakWeight::uniform},
                 {"sqrt", PeakWeight::sqrt},
                 {"intensity_squared", PeakWeight::intensity_squared},
                 {"variance", PeakWeight::variance}},
                {.help = "weight of a disk; intensity suits counts, intensity_squared is what py4DSTEM does, variance "
                         "takes the variances of the disks"});
  fields.add("robust", robust, {.help = "leave out disks that are far from the fit of the others"});
  fields.heading("Strain");
  fields.add("reference", reference,
             {.help = "unstrained lattice: the median of the scan, or vectors in pixels of the detector",
              .metavar = "median|G1X,G1Y,G2X,G2Y",
              .check = check_reference});
  fields.add("reference_region", reference_region,
             {.help = "positions whose median is the reference; the last ones are exclusive; unset: all",
              .metavar = "ROW0,ROW1,COL0,COL1",
              .check = check_reference_region});
  fields.choice("measure", measure,
                {{"biot", StrainMeasure::biot},
                 {"infinitesimal", StrainMeasure::infinitesimal},
                 {"green_lagrange", StrainMeasure::green_lagrange},
                 {"reciprocal_first_order", StrainMeasure::reciprocal_first_order}},
                {.help = "what strain means where it is large; reciprocal_first_order is what py4DSTEM computes"});
  describe_frame(fields, rotation, transpose);
  fields.add("skip_calibration", skip_calibration,
             {.help = "steps of the calibration in the file that are not applied: origin, ellipse, pixel, transpose, "
                      "rotation",
              .metavar = "STEP,...",
              .check = check_steps});
  fields.heading("");
}

}  // namespace sonde::stem
