// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/calibrate/calibrate_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <span>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/setting.h"
#include "sonde/engine/base/version.h"
#include "sonde/engine/report/json.h"
#include "sonde/instruments/stem/radial/radial_plan.h"
#include "sonde/instruments/stem/results/detector_images.h"

namespace sonde::stem {
namespace {

constexpr double degree = std::numbers::pi / 180;
constexpr double beyond_disk = 1.5;  // radii of the direct disk: its edge and the halo are not rings
constexpr double bin_width = 0.5;    // px
constexpr double sure = 3;           // standard errors
constexpr double large_ratio = 1.15;
constexpr double large_error = 0.01;

struct MeanPattern {
  std::vector<double> values;
  bool counts = false;
};

MeanPattern mean_of(const Dataset& dataset) {
  const Array& sum = dataset.moments().pattern_sum;
  const auto frames = static_cast<double>(std::count(dataset.valid().begin(), dataset.valid().end(), std::uint8_t{1}));
  MeanPattern mean;
  mean.counts = sum.dtype() == DType::u64;
  for (Index p = 0; p < sum.count(); ++p)
    mean.values.push_back((mean.counts ? static_cast<double>(static_cast<const std::uint64_t*>(sum.data())[p])
                                       : static_cast<const double*>(sum.data())[p]) /
                          std::max(1.0, frames));
  return mean;
}

RingRange range_of(const CalibrateOptions& options, const DetectorGeometry& geometry, double radius,
                   const std::string& path) {
  const double row = *geometry.centre_row, col = *geometry.centre_col,
               last_row = static_cast<double>(geometry.rows - 1), last_col = static_cast<double>(geometry.cols - 1);
  if (!(row >= 0 && row <= last_row && col >= 0 && col <= last_col))
    throw Error(ErrorKind::bad_input,
                fmt::format("{}: the centre ({:g}, {:g}) is not on the detector of {} x {} pixels", path, row, col,
                            geometry.rows, geometry.cols))
        .hint("give another " + setting("centre", "ROW,COL"));
  const double farthest = std::hypot(std::max(row, last_row - row), std::max(col, last_col - col));
  if (options.outer && *options.outer > farthest)
    throw Error(ErrorKind::bad_input,
                fmt::format("{}: rings up to {:g} px; the farthest pixel is {:.1f} px from the centre", path,
                            *options.outer, farthest))
        .hint("give a smaller " + setting("outer"));
  RingRange range;
  range.inner = options.inner.value_or(std::max(3.0, beyond_disk * radius));
  // Whole rings: to the nearest edge.
  const double whole = std::min({*geometry.centre_row, *geometry.centre_col,
                                 static_cast<double>(geometry.rows - 1) - *geometry.centre_row,
                                 static_cast<double>(geometry.cols - 1) - *geometry.centre_col});
  range.outer = options.outer.value_or(whole);
  if (!(range.outer - range.inner >= 4))
    throw Error(ErrorKind::bad_input,
                fmt::format("{}: no rings between {:.1f} px, {}, and {:.1f} px, {}", path, range.inner,
                            options.inner ? "as given" : "1.5 radii of the direct disk", range.outer,
                            options.outer ? "as given" : "the nearest edge of the detector"))
        .hint("give " + setting("inner") + ", " + setting("outer") + " or " + setting("centre", "ROW,COL"));
  return range;
}

void make_profile(CalibrateResult& result, const MeanPattern& mean, const Dataset& dataset) {
  const auto frames = static_cast<double>(std::count(dataset.valid().begin(), dataset.valid().end(), std::uint8_t{1}));
  RadialBins bins{.inner = result.range.inner, .outer = result.range.outer};
  bins.radii = static_cast<Index>(std::floor((bins.outer - bins.inner) / bin_width));
  bins.outer = bins.inner + bin_width * static_cast<double>(bins.radii);
  const RadialPlan plan = RadialPlan::prepare({.rows = dataset.shape()[2],
                                               .cols = dataset.shape()[3],
                                               .row = result.ellipse.row,
                                               .col = result.ellipse.col,
                                               .ellipse = result.ellipse.ellipse},
                                              bins, PixelSplit::full, dataset.good());
  std::vector<double> sums(static_cast<std::size_t>(bins.radii)), squares(sums.size());
  RadialPlan::Scratch scratch(plan);
  plan.run(mean.values.data(), 1, std::numeric_limits<double>::infinity(), scratch, sums, squares);
  for (Index bin = 0; bin < bins.radii; ++bin) {
    const auto i = static_cast<std::size_t>(bin);
    const double area = plan.area()[i];
    result.radius.push_back(bins.radius(bin));
    result.profile.push_back(area > 0 ? sums[i] / area : std::numeric_limits<double>::quiet_NaN());
    result.sigma.push_back(area > 0 ? std::sqrt(squares[i] / frames) / area : std::numeric_limits<double>::quiet_NaN());
  }
  if (mean.counts) return;
  // Without counts: the scatter of second differences, which peaks hardly have in the median.
  std::vector<double> differences;
  for (std::size_t i = 1; i + 1 < result.profile.size(); ++i)
    if (const double d = result.profile[i - 1] - 2 * result.profile[i] + result.profile[i + 1]; std::isfinite(d))
      differences.push_back(std::abs(d));
  if (differences.empty()) return;
  const auto middle = differences.begin() + static_cast<std::ptrdiff_t>(differences.size() / 2);
  std::nth_element(differences.begin(), middle, differences.end());
  std::fill(result.sigma.begin(), result.sigma.end(), std::max(1e-300, *middle / 0.6745 / std::sqrt(6.0)));
}

void warn(CalibrateResult& result) {
  const RingEllipse& found = result.ellipse;
  if (result.peaks.size() < 2)
    result.warnings.push_back(
        fmt::format("{} rings were found: this is not the pattern of a powder, or {} and {} leave "
                    "its rings out",
                    result.peaks.size(), setting("inner"), setting("outer")));
  if (result.fitted && !found.converged)
    result.warnings.push_back("the ellipse has not converged: are there rings? " + setting("inner") + " and " +
                              setting("outer") + " choose where they are looked for");
  else if (result.fitted && found.ratio_error > large_error)
    result.warnings.push_back(
        fmt::format("the ellipse is not certain: {:.3f} +/- {:.3f}; more counts or more grains are needed",
                    found.ratio(), found.ratio_error));
  else if (result.fitted && found.ratio() > large_ratio)
    result.warnings.push_back(fmt::format(
        "an ellipse of {:.2f} : 1 is more than lenses make: are these the rings of a powder?", found.ratio()));
  if (result.scale && !result.scale->refused.empty())
    result.warnings.push_back("the size of a pixel is not determined: " + result.scale->refused);
}

}  // namespace

CalibrateResult make_calibration(const Dataset& dataset, const CalibrateOptions& options) {
  CalibrateResult result;
  result.det_bin = dataset.det_bin();
  result.frame = calibration_frame(dataset.acquisition(), dataset.options());
  result.fitted = options.fit_ellipse;
  result.calibrant = options.calibrant;
  if (!options.calibrant.empty()) result.lines = read_lines(options.calibrant, options.k_max);
  DetectorOptions beam;
  beam.detector = {"com-magnitude"};  // needs a centre, but no disk
  beam.centre = options.centre;
  beam.centre_method = options.centre_method;
  beam.stated_centre = false;
  std::optional<Centre> centre;
  const DetectorGeometry geometry = detector_geometry(dataset, beam, centre);
  const std::string& path = dataset.acquisition().path;
  if (!geometry.centre_row)
    throw Error(ErrorKind::bad_input, path + ": no centre was found in the mean pattern")
        .hint("give " + setting("centre", "ROW,COL") + " or another " + setting("centre_method"));
  result.range = range_of(options, geometry, centre ? centre->radius : 0, path);
  const MeanPattern mean = mean_of(dataset);
  if (options.fit_ellipse)
    result.ellipse = fit_ring_ellipse(View<const double, 2>(mean.values.data(), geometry.rows, geometry.cols),
                                      dataset.good(), *geometry.centre_row, *geometry.centre_col, result.range);
  else
    result.ellipse = {.row = *geometry.centre_row, .col = *geometry.centre_col, .converged = true};
  make_profile(result, mean, dataset);
  result.peaks = find_ring_peaks(result.profile, result.sigma, result.range.inner, bin_width);
  if (!result.lines.empty())
    result.scale = fit_ring_scale(result.peaks, result.lines, result.range.inner, result.range.outer);
  warn(result);
  return result;
}

std::optional<double> CalibrateResult::q_pixel_stored() const {
  if (!scale || !scale->refused.empty()) return std::nullopt;
  return scale->q_pixel / static_cast<double>(det_bin);
}

Value CalibrateResult::to_value() const {
  Value value;
  value["centre"]["row"] = ellipse.row;
  value["centre"]["col"] = ellipse.col;
  value["centre"]["row_error"] = ellipse.row_error;
  value["centre"]["col_error"] = ellipse.col_error;
  if (fitted) {
    value["ellipse"]["ratio"] = ellipse.ratio();
    value["ellipse"]["ratio_error"] = ellipse.ratio_error;
    value["ellipse"]["degrees"] = ellipse.ellipse.theta / degree;
    value["ellipse"]["degrees_error"] = ellipse.theta_error / degree;
    value["ellipse"]["variance_left"] = ellipse.variance_left;
  }
  value["inner"] = range.inner;
  value["outer"] = range.outer;
  value["rings"] = static_cast<Index>(peaks.size());
  if (scale) {
    value["q_pixel"]["value"] = q_pixel_stored() ? Value(*q_pixel_stored()) : Value();
    value["q_pixel"]["standard_error"] = scale->standard_error / static_cast<double>(det_bin);
    value["q_pixel"]["rings_on_lines"] = scale->matched;
    value["q_pixel"]["missing"] = scale->missing;
    value["q_pixel"]["refused"] = scale->refused;
  }
  value["warnings"] = warnings;
  return value;
}

std::vector<std::string> CalibrateResult::lines_of_report() const {
  std::vector<std::string> said = {fmt::format("centre    row {:.3f} +/- {:.3f}, col {:.3f} +/- {:.3f}", ellipse.row,
                                               ellipse.row_error, ellipse.col, ellipse.col_error)};
  if (fitted)
    said.push_back(fmt::format("ellipse   {:.4f} +/- {:.4f} : 1 at {:.1f} +/- {:.1f} degrees{}", ellipse.ratio(),
                               ellipse.ratio_error, ellipse.ellipse.theta / degree, ellipse.theta_error / degree,
                               ellipse.ratio() - 1 < sure * ellipse.ratio_error ? ": round within its error" : ""));
  said.push_back(fmt::format("rings     {} from {:.1f} to {:.1f} px", peaks.size(), range.inner, range.outer));
  if (scale && scale->refused.empty())
    said.push_back(fmt::format("pixel     {:.6g} +/- {:.2g} 1/A of a stored pixel: {} of {} rings on lines of {}",
                               *q_pixel_stored(), scale->standard_error / static_cast<double>(det_bin), scale->matched,
                               peaks.size(), calibrant));
  return said;
}

Contents CalibrateResult::contents(const std::string& command) const {
  Contents contents;
  contents.attribute("schema", std::string("sonde.stem.calibration/1"));
  const std::string record = to_json(to_value(), -1);
  const auto add = [&](const std::string& name, const std::vector<double>& values, const std::string& axis,
                       const std::string& unit) {
    Contents::Variable& variable =
        contents.add(name, {axis}, Array::from(values, {static_cast<Index>(values.size())})).unit(unit);
    variable.attributes.emplace_back("frame", std::string("detector"));
    variable.attributes.emplace_back("calibration", record);
    variable.attributes.emplace_back("sonde_version", std::string(build_info().version));
    variable.attributes.emplace_back("command", command);
  };
  if (fitted && ellipse.converged) {
    contents.add("calibration/ellipse_a", ellipse.ellipse.a);
    contents.add("calibration/ellipse_b", ellipse.ellipse.b);
    contents.add("calibration/ellipse_theta", ellipse.ellipse.theta).unit("rad");
    contents.add("calibration/ellipse_ratio_error", ellipse.ratio_error);
  }
  if (const std::optional<double> q_pixel = q_pixel_stored()) {
    contents.add("calibration/q_pixel", *q_pixel).unit("1/A");
    contents.add("calibration/q_pixel_error", scale->standard_error / static_cast<double>(det_bin)).unit("1/A");
  }
  describe(frame, det_bin, contents);
  contents.add("centre/row", ellipse.row).unit("px");
  contents.add("centre/col", ellipse.col).unit("px");
  add("profile/mean", profile, "radius", "counts");
  add("profile/sigma", sigma, "radius", "counts");
  add("radius", radius, "radius", "px");
  std::vector<double> places, errors, lengths;
  for (const RingPeak& peak : peaks) {
    places.push_back(peak.radius);
    errors.push_back(peak.error);
    lengths.push_back(peak.line < 0 ? std::numeric_limits<double>::quiet_NaN()
                                    : lines[static_cast<std::size_t>(peak.line)].length);
  }
  if (peaks.empty()) return contents;
  add("rings/radius", places, "ring", "px");
  add("rings/error", errors, "ring", "px");
  if (scale) add("rings/line", lengths, "ring", "1/A");
  return contents;
}

Chart CalibrateResult::chart() const {
  const bool scaled = q_pixel_stored().has_value();
  const double per_px = scaled ? scale->q_pixel : 1;
  Facet facet;
  facet.title = "Mean pattern of the scan over its rings";
  facet.x = {
      .title = "radius", .unit = scaled ? "1/A" : "px", .low = range.inner * per_px, .high = range.outer * per_px};
  facet.y = {.title = "counts of a pixel", .log = true};
  Series curve{.name = "", .mark = Mark::lines};
  for (std::size_t i = 0; i < radius.size(); ++i) {
    curve.x.push_back(radius[i] * per_px);
    curve.y.push_back(profile[i] > 0 ? profile[i] : std::numeric_limits<double>::quiet_NaN());
  }
  facet.series.push_back(std::move(curve));
  Series rings{.name = "rings", .mark = Mark::points, .symbol = Symbol::ring};
  for (const RingPeak& peak : peaks) {
    rings.x.push_back(peak.radius * per_px);
    const auto bin = static_cast<std::size_t>(
        std::clamp((peak.radius - range.inner) / bin_width, 0.0, static_cast<double>(profile.size()) - 1));
    rings.y.push_back(profile[bin]);
  }
  facet.series.push_back(std::move(rings));
  if (scaled)
    for (const Line& line : lines)
      if (line.length > range.inner * per_px && line.length < range.outer * per_px)
        facet.references.push_back({.value = line.length, .label = line.name, .upright = true});
  Chart chart;
  chart.facets.push_back(std::move(facet));
  return chart;
}

}  // namespace sonde::stem
