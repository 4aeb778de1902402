// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/radial/radial_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/setting.h"
#include "sonde/engine/base/version.h"
#include "sonde/engine/report/json.h"
#include "sonde/instruments/stem/load/visit_frames.h"
#include "sonde/instruments/stem/radial/radial_profiles.h"
#include "sonde/instruments/stem/read/calibration.h"
#include "sonde/instruments/stem/results/detector_images.h"
#include "sonde/instruments/stem/results/provenance.h"

namespace sonde::stem {
namespace {

constexpr double degree = std::numbers::pi / 180;
// Below this a centre is a guess (Centre::confidence).
constexpr double sure = 0.5;
// A mean pattern of counts gives its centre to some tenths of a pixel.
constexpr double beam_elsewhere = 1;  // px

/// The ellipse that the file states, where the caller gave none.
std::optional<Distortion> stated_ellipse(const Calibration& calibration, const RadialOptions& options) {
  return options.ellipse.empty() ? calibration.ellipse : std::nullopt;
}

RadialGeometry geometry_of(const Dataset& dataset, const RadialOptions& options,
                           const std::optional<Distortion>& stated, const std::optional<BeamCentre>& stated_centre,
                           std::optional<Centre>& found) {
  DetectorOptions beam;
  beam.detector = {"com-magnitude"};  // needs a centre, but no disk
  beam.centre = options.centre;
  beam.centre_method = options.centre_method;
  beam.stated_centre = false;
  const DetectorGeometry geometry = detector_geometry(dataset, beam, found);
  if (!geometry.centre_row && !stated_centre)
    throw Error(ErrorKind::bad_input, dataset.acquisition().path + ": no centre was found in the mean pattern")
        .hint("give " + setting("centre", "ROW,COL") + " or another " + setting("centre_method"));
  if (options.centre != "auto") found.reset();
  return {geometry.rows, geometry.cols, stated_centre ? stated_centre->row : *geometry.centre_row,
          stated_centre ? stated_centre->col : *geometry.centre_col,
          stated ? Ellipse{stated->a, stated->b, stated->theta} : options.ellipse_asked()};
}

RadialBins bins_of(const RadialGeometry& geometry, const RadialOptions& options, const RadialScale& scale) {
  RadialBins bins;
  bins.inner = options.inner / scale.per_px;
  // The last ring is closed outside, but a bin is not.
  bins.outer = options.outer ? *options.outer / scale.per_px : std::floor(farthest(geometry)) + 1;
  const double width = bins.outer - bins.inner;
  if (!(width > 0))
    throw Error(ErrorKind::bad_input,
                fmt::format("the outer radius ({1:g} {2}) is not larger than the inner one ({0:g} {2})", options.inner,
                            bins.outer * scale.per_px, scale.unit))
        .hint(setting("outer") + " must be larger than " + setting("inner"));
  bins.radii = options.bins ? *options.bins : std::clamp<Index>(static_cast<Index>(std::ceil(width)), 1, 100'000);
  bins.angles = options.azimuth;
  return bins;
}

/// Bins of the mean pattern, and the share of its counts that is in them.
void describe_mean(RadialResult& result, const Dataset& dataset) {
  const Array& sum = dataset.moments().pattern_sum;
  const auto bins = static_cast<std::size_t>(result.plan.bins().count());
  std::vector<double> sums(bins), squares(bins);
  RadialPlan::Scratch scratch(result.plan);
  double total = 0;
  const auto run = [&](const auto* values) {
    for (Index p = 0; p < sum.count(); ++p) total += static_cast<double>(values[p]);
    result.plan.run(values, 1, std::numeric_limits<double>::infinity(), scratch, sums, squares);
  };
  const bool counts = sum.dtype() == DType::u64;
  if (counts)
    run(static_cast<const std::uint64_t*>(sum.data()));
  else
    run(static_cast<const double*>(sum.data()));
  const auto frames = static_cast<double>(std::count(dataset.valid().begin(), dataset.valid().end(), std::uint8_t{1}));
  result.mean.assign(bins, std::numeric_limits<double>::quiet_NaN());
  if (counts) result.variance = result.mean;
  double in_bins = 0;
  for (std::size_t b = 0; b < bins; ++b) {
    const double pixels = result.plan.area()[b] * frames;
    in_bins += sums[b];
    if (!(pixels > 0)) continue;
    result.mean[b] = sums[b] / pixels;
    if (counts) result.variance[b] = squares[b] / (pixels * pixels);
  }
  result.inside = total > 0 ? in_bins / total : 0;
}

/// Another scan has its beam elsewhere.
void doubt_stated_centre(RadialResult& result) {
  const RadialGeometry& geometry = result.plan.geometry();
  const double off = std::hypot(result.found->row - geometry.row, result.found->col - geometry.col);
  if (result.found->confidence < sure || off < beam_elsewhere) return;
  result.warnings.push_back(
      fmt::format("the direct beam of this scan is at row {:.2f}, column {:.2f}, {:.1f} px from the centre of the "
                  "calibration file: the rings are not round; give {}",
                  result.found->row, result.found->col, off, setting("skip_calibration", "origin")));
}

/// Of each bin the mean over positions of spread / mean^2.
std::vector<double> fluctuation_of(const RadialResult& result) {
  const Index bins = result.plan.bins().count(), positions = result.means.shape()[0];
  const auto *means = static_cast<const float*>(result.means.data()),
             *spreads = static_cast<const float*>(result.spreads.data());
  std::vector<double> all;
  for (Index b = 0; b < bins; ++b) {
    double sum = 0;
    Index count = 0;
    for (Index p = 0; p < positions; ++p) {
      const double mean = static_cast<double>(means[p * bins + b]), spread = static_cast<double>(spreads[p * bins + b]);
      if (!(mean > 0) || !std::isfinite(spread)) continue;
      sum += spread / (mean * mean);
      ++count;
    }
    all.push_back(count > 0 ? sum / static_cast<double>(count) : std::numeric_limits<double>::quiet_NaN());
  }
  return all;
}

void warn(RadialResult& result, const RadialOptions& options) {
  if (result.found && result.stated_centre) doubt_stated_centre(result);
  if (result.found && !result.stated_centre && result.found->confidence < sure)
    result.warnings.push_back(
        fmt::format("the centre is a guess (confidence {:.2f}): a wrong one widens every ring; give {}",
                    result.found->confidence, setting("centre", "ROW,COL")));
  const auto empty = std::count(result.plan.area().begin(), result.plan.area().end(), 0.0);
  if (empty > 0 && options.split == PixelSplit::none)
    result.warnings.push_back(
        fmt::format("{} of {} bins hold no centre of a good pixel and are NaN; give fewer {}, or {}", empty,
                    result.plan.area().size(), setting("bins"), setting("split", "full")));
}

}  // namespace

RadialScale radial_scale(const std::string& path, const Calibration& calibration, Index det_bin, RadialUnit unit) {
  const auto bin = static_cast<double>(det_bin);
  const bool automatic = unit == RadialUnit::automatic;
  if (unit == RadialUnit::px) return {};
  if (unit != RadialUnit::mrad && calibration.detector_step_inv_a)
    return {calibration.detector_step_inv_a->value * bin, "1/A"};
  if (unit != RadialUnit::inverse_angstrom && calibration.detector_step_mrad)
    return {calibration.detector_step_mrad->value * bin, "mrad"};
  if (automatic) return {};
  const bool angle = unit == RadialUnit::mrad;
  throw Error(ErrorKind::bad_input,
              fmt::format("{}: the {} of a detector pixel is not known", path, angle ? "angle" : "reciprocal size"))
      .hint(fmt::format("give {}{}, or {}", setting("camera_length"), angle ? "" : " and " + setting("voltage"),
                        setting("unit", "px")));
}

RadialResult make_radial(const Dataset& dataset, const RadialOptions& options, Budget budget) {
  RadialResult result;
  const Calibration calibration = options.used(dataset.calibration());
  const std::optional<Distortion> stated = stated_ellipse(calibration, options);
  result.scale = radial_scale(dataset.acquisition().path, calibration, dataset.det_bin(), options.unit);
  // Rings are those of equal area; the pixel size of the file belongs to the circle that it makes of the ellipse.
  if (stated && result.scale.unit != "px") result.scale.per_px *= stated->radius / std::sqrt(stated->a * stated->b);
  if (stated) result.ellipse_from = stated->stated_by;
  const std::optional<BeamCentre> centre =
      options.centre == "auto" ? resident_centre(calibration, dataset.det_bin()) : std::nullopt;
  result.stated_centre = centre.has_value();
  const RadialGeometry geometry = geometry_of(dataset, options, stated, centre, result.found);
  result.plan = RadialPlan::prepare(geometry, bins_of(geometry, options, result.scale), options.split, dataset.good());
  const bool counts = dataset.moments().pattern_sum.dtype() == DType::u64;
  const auto values = static_cast<std::size_t>(dataset.positions() * result.plan.bins().count());
  const Reservation room = budget.reserve(values * sizeof(float) * (counts ? 2 : 1), "radial profiles",
                                          "give fewer " + setting("bins") + " or more " + setting("memory"));
  RadialProfiles profiles(result.plan, counts ? RadialProfiles::Variance::of_counts : RadialProfiles::Variance::no);
  std::vector<Operation*> operations = {&profiles};
  const RingWanted wanted = options.wanted();
  const Reservation more =
      budget.reserve(RingStatistics::bytes(wanted, dataset.positions(), result.plan.bins().count()),
                     "statistics of rings", "give fewer " + setting("bins") + " or more " + setting("memory"));
  RingPixels pixels;
  if (wanted.any()) pixels = RingPixels::prepare(geometry, result.plan.bins(), dataset.good(), wanted);
  RingStatistics statistics(pixels, wanted);
  if (wanted.any()) operations.push_back(&statistics);
  result.by_electrons = visit_frames(dataset, "radial profiles", operations);
  result.means = std::move(profiles.mean);
  result.variances = std::move(profiles.variance);
  result.medians = std::move(statistics.median);
  result.spreads = std::move(statistics.spread);
  result.orders = std::move(statistics.orders);
  if (wanted.spread) result.fluctuation = fluctuation_of(result);
  result.valid = dataset.valid();
  result.scan_rows = dataset.shape()[0];
  result.scan_cols = dataset.shape()[1];
  describe_mean(result, dataset);
  warn(result, options);
  return result;
}

Value RadialResult::to_value() const {
  const RadialGeometry& geometry = plan.geometry();
  Value value;
  value["centre"]["row"] = geometry.row;
  value["centre"]["col"] = geometry.col;
  if (stated_centre) value["centre"]["from"] = who_says(StatedBy::calibration);
  if (found && !stated_centre) value["centre"]["confidence"] = found->confidence;
  value["ellipse"]["a"] = geometry.ellipse.a;
  value["ellipse"]["b"] = geometry.ellipse.b;
  value["ellipse"]["degrees"] = geometry.ellipse.theta / degree;
  value["ellipse"]["from"] = who_says(ellipse_from.value_or(StatedBy::user));
  value["rings"] = plan.bins().radii;
  value["sectors"] = plan.bins().angles;
  value["inner"] = plan.bins().inner * scale.per_px;
  value["outer"] = plan.bins().outer * scale.per_px;
  value["unit"] = scale.unit;
  value["split"] = name(plan.split());
  value["counts_inside"] = inside;
  value["warnings"] = warnings;
  return value;
}

std::vector<std::string> RadialResult::lines() const {
  const RadialGeometry& geometry = plan.geometry();
  std::vector<std::string> lines = {
      fmt::format("centre    row {:.3f}, col {:.3f}{}", geometry.row, geometry.col,
                  stated_centre ? std::string(" (calibration file)")
                  : found       ? fmt::format(" (confidence {:.2f})", found->confidence)
                                : std::string(" (given)")),
      fmt::format("rings     {} from {:.4g} to {:.4g} {}, split {}", plan.bins().radii,
                  plan.bins().inner * scale.per_px, plan.bins().outer * scale.per_px, scale.unit, name(plan.split()))};
  if (plan.bins().angles > 1) lines.back() += fmt::format(", {} sectors", plan.bins().angles);
  if (ellipse_from)
    lines.push_back(fmt::format("ellipse   {:.4g} : {:.4g} at {:.1f} degrees, stated by the {}", geometry.ellipse.a,
                                geometry.ellipse.b, geometry.ellipse.theta / degree,
                                *ellipse_from == StatedBy::calibration ? "calibration file" : "file"));
  lines.push_back(fmt::format("counts    {:.2f} % of those in good pixels are in the rings", 100 * inside));
  return lines;
}

Contents RadialResult::contents(const std::string& command) const {
  const RadialBins& bins = plan.bins();
  const bool sectors = bins.angles > 1;
  Contents contents;
  contents.attribute("schema", std::string("sonde.stem.radial/1"));
  const auto describe = [&](const std::string& name, std::vector<std::string> axes, Array values,
                            const std::string& unit) -> Contents::Variable& {
    if (sectors && axes.back() == "radius" && values.shape().rank() > 1) axes.emplace_back("angle");
    Contents::Variable& variable = contents.add(name, std::move(axes), std::move(values)).unit(unit);
    variable.attributes.emplace_back("frame", std::string("detector"));
    variable.attributes.emplace_back("calibration", to_json(to_value(), -1));
    variable.attributes.emplace_back("sonde_version", std::string(build_info().version));
    variable.attributes.emplace_back("command", command);
    return variable;
  };
  const auto of_bins = [&](const std::vector<double>& values) {
    return sectors ? Array::from(values, {bins.radii, bins.angles}) : Array::from(values, {bins.radii});
  };
  const auto of_scan = [&](const Array& values) {
    return sectors ? alias(values).reshaped({scan_rows, scan_cols, bins.radii, bins.angles})
                   : alias(values).reshaped({scan_rows, scan_cols, bins.radii});
  };
  describe("radial/mean", {"scan row", "scan column", "radius"}, of_scan(means), "counts");
  if (!variances.empty())
    describe("radial/variance", {"scan row", "scan column", "radius"}, of_scan(variances), "counts^2");
  if (!medians.empty()) describe("radial/median", {"scan row", "scan column", "radius"}, of_scan(medians), "counts");
  if (!spreads.empty()) {
    describe("radial/spread", {"scan row", "scan column", "radius"}, of_scan(spreads), "counts^2");
    describe("radial/fluctuation_of_scan", {"radius"}, of_bins(fluctuation), "");
  }
  if (!orders.empty())
    describe("radial/orders", {"scan row", "scan column", "radius", "order"},
             alias(orders).reshaped({scan_rows, scan_cols, bins.radii, orders.shape()[2]}), "counts");
  describe("radial/mean_of_scan", {"radius"}, of_bins(mean), "counts");
  if (!variance.empty()) describe("radial/variance_of_scan", {"radius"}, of_bins(variance), "counts^2");
  describe("radial/area", {"radius"}, of_bins(plan.area()), "px");
  describe("radial/valid", {"scan row", "scan column"}, Array::from(valid, {scan_rows, scan_cols}), "");
  std::vector<double> radii, angles;
  for (Index i = 0; i < bins.radii; ++i) radii.push_back(bins.radius(i) * scale.per_px);
  contents.add("radius", {"radius"}, Array::from(radii, {bins.radii})).unit(scale.unit);
  if (!sectors) return contents;
  for (Index i = 0; i < bins.angles; ++i)
    angles.push_back(2 * std::numbers::pi * (static_cast<double>(i) + 0.5) / static_cast<double>(bins.angles));
  contents.add("angle", {"angle"}, Array::from(angles, {bins.angles})).unit("rad");
  return contents;
}

Chart RadialResult::chart() const {
  const RadialBins& bins = plan.bins();
  Facet profile;
  profile.title = "Mean pattern of the scan";
  const Axis radius{
      .title = "radius", .unit = scale.unit, .low = bins.inner * scale.per_px, .high = bins.outer * scale.per_px};
  profile.x = radius;
  profile.y = {.title = "counts of a pixel", .log = true};
  Series series{.name = "", .mark = Mark::lines};
  std::vector<double> decades;
  for (Index ring = 0; ring < bins.radii; ++ring) {
    double sum = 0, area = 0;
    for (Index angle = 0; angle < bins.angles; ++angle) {
      const auto b = static_cast<std::size_t>(ring * bins.angles + angle);
      if (!std::isfinite(mean[b])) continue;
      sum += mean[b] * plan.area()[b];
      area += plan.area()[b];
    }
    series.x.push_back(bins.radius(ring) * scale.per_px);
    // A logarithm of zero has no place.
    series.y.push_back(sum > 0 ? sum / area : std::numeric_limits<double>::quiet_NaN());
  }
  profile.series.push_back(std::move(series));
  Chart chart;
  chart.facets.push_back(std::move(profile));
  if (bins.angles == 1) return chart;
  Facet cake;
  cake.title = "By angle";
  cake.x = radius;
  cake.y = {.title = "angle", .unit = "degrees", .low = 0, .high = 360};
  for (int quarter = 0; quarter <= 4; ++quarter) cake.y.ticks.push_back({90.0 * quarter, std::to_string(90 * quarter)});
  HeightMap map;
  map.title = "log10 of counts of a pixel";
  for (Index ring = 0; ring < bins.radii; ++ring) map.x.push_back(bins.radius(ring) * scale.per_px);
  for (Index angle = 0; angle < bins.angles; ++angle) {
    map.y.push_back(360 * (static_cast<double>(angle) + 0.5) / static_cast<double>(bins.angles));
    for (Index ring = 0; ring < bins.radii; ++ring) {
      const double value = mean[static_cast<std::size_t>(ring * bins.angles + angle)];
      map.z.push_back(value > 0 ? std::log10(value) : std::numeric_limits<double>::quiet_NaN());
    }
  }
  cake.map = std::move(map);
  chart.facets.push_back(std::move(cake));
  return chart;
}

}  // namespace sonde::stem
