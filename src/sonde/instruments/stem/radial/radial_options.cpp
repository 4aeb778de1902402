// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/radial/radial_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>
#include <string_view>
#include <utility>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/setting.h"
#include "sonde/engine/base/text.h"
#include "sonde/instruments/stem/read/calibration_steps.h"

namespace sonde::stem {
namespace {

Ellipse parse_ellipse(std::string_view text, std::string_view where) {
  if (text.empty()) return {};
  double values[3] = {};
  const std::vector<std::string> parts = split(std::string(text), ',');
  bool numbers = parts.size() == 3;
  for (std::size_t i = 0; numbers && i < 3; ++i) {
    const std::string& part = parts[i];
    const auto [end, problem] = std::from_chars(part.data(), part.data() + part.size(), values[i]);
    numbers = problem == std::errc() && end == part.data() + part.size() && std::isfinite(values[i]);
  }
  if (!numbers || !(values[0] > 0) || !(values[1] > 0))
    throw Error(ErrorKind::usage,
                fmt::format("{}: \"{}\"; expected A,B,DEGREES with two lengths above 0", where, text));
  return {values[0], values[1], values[2] * std::numbers::pi / 180};
}

void check_ellipse(std::string_view text, std::string_view where) { (void)parse_ellipse(text, where); }

}  // namespace

Ellipse RadialOptions::ellipse_asked() const { return parse_ellipse(ellipse, setting("ellipse")); }

Calibration RadialOptions::used(Calibration calibration) const {
  return without(std::move(calibration), parse_steps(skip_calibration, setting("skip_calibration")));
}

void RadialOptions::check() const {
  (void)ellipse_asked();
  check_steps(skip_calibration, setting("skip_calibration"));
  if (outer && *outer <= inner)
    throw Error(ErrorKind::usage,
                fmt::format("the outer radius ({:g}) is not larger than the inner one ({:g})", *outer, inner))
        .hint("give a larger " + setting("outer") + " or a smaller " + setting("inner"));
  if (orders && azimuth > 1)
    throw Error(ErrorKind::usage,
                fmt::format("angular orders are those of whole rings, but rings have {} sectors", azimuth))
        .hint("leave out " + setting("orders") + " or " + setting("azimuth"));
}

Index RadialOptions::most_bins(Index rows, Index cols) const {
  const Ellipse shape = ellipse_asked();
  const double stretch = std::sqrt(std::max(shape.a / shape.b, shape.b / shape.a));
  const double across = stretch * std::hypot(static_cast<double>(rows), static_cast<double>(cols));
  return azimuth * bins.value_or(static_cast<Index>(std::ceil(across)) + 1);
}

void RadialOptions::describe(Fields& fields) {
  fields.heading("Rings");
  fields.add("centre", centre,
             {.help = "centre of the pattern in pixels after binning; auto finds it in the mean pattern",
              .metavar = "ROW,COL|auto",
              .alias = "center"});
  fields.choice("centre_method", centre_method,
                {{"edge", CentreMethod::edge},
                 {"threshold", CentreMethod::threshold},
                 {"plateau", CentreMethod::plateau},
                 {"com", CentreMethod::com},
                 {"friedel", CentreMethod::friedel}},
                {.help = "how the centre is found", .alias = "center_method"});
  fields.add("bins", bins,
             {.help = "rings of equal width; else one for each pixel of radius", .min = 1, .max = 100'000});
  fields.choice("unit", unit,
                {{"auto", RadialUnit::automatic},
                 {"px", RadialUnit::px},
                 {"mrad", RadialUnit::mrad},
                 {"1/A", RadialUnit::inverse_angstrom}},
                {.help = "of radii, given and written; auto: 1/A where it is known, else mrad, else px"});
  fields.add("inner", inner, {.help = "inner radius of the first ring, in that unit", .min = 0});
  fields.add("outer", outer, {.help = "outer radius of the last ring; else the farthest pixel is in it", .min = 0});
  fields.add("azimuth", azimuth,
             {.help = "sectors of each ring, the first from the columns toward the rows; 1: whole rings",
              .min = 1,
              .max = 3600});
  fields.add("ellipse", ellipse,
             {.help = "shape of a ring on the detector: semi-axes (their ratio counts) and the angle of the first one "
                      "from the columns toward the rows; else as the file states it",
              .metavar = "A,B,DEGREES",
              .check = check_ellipse});
  fields.add("skip_calibration", skip_calibration,
             {.help = "steps of the calibration in the file that are not applied: origin, ellipse, pixel",
              .metavar = "STEP,...",
              .check = check_steps});
  fields.choice("split", split, {{"none", PixelSplit::none}, {"bbox", PixelSplit::bbox}, {"full", PixelSplit::full}},
                {.help = "how a pixel on an edge is shared: none: its centre decides; bbox: by the radii of its "
                         "corners; full: by area"});
  fields.add("median", median,
             {.help = "also the median of each ring, which Bragg disks hardly change: the background between them"});
  fields.add("spread", spread,
             {.help = "also the variance of the pixels around each ring (counts^2), and of the scan its mean over the "
                      "square of the mean, the fluctuation profile"});
  fields.add("orders", orders,
             {.help = "also the angular orders 0 to N of each ring: mean of the counts times exp(i m angle)",
              .min = 0,
              .max = most_orders});
  fields.heading("");
}

}  // namespace sonde::stem
