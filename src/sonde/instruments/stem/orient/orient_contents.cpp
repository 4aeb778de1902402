// SPDX-License-Identifier: Apache-2.0
// What a result of orientations says, writes and draws.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <numbers>
#include <utility>

#include "sonde/engine/base/version.h"
#include "sonde/engine/figure/image.h"
#include "sonde/engine/report/json.h"
#include "sonde/instruments/stem/lattice/strain_picture.h"
#include "sonde/instruments/stem/orient/euler_angles.h"
#include "sonde/instruments/stem/orient/orient_result.h"

namespace sonde::stem {
namespace {

using std::numbers::pi;
constexpr float nothing = std::numeric_limits<float>::quiet_NaN();
constexpr Index map_side = 480;  // px
constexpr Index legend_side = map_side / 3;

double mean_of(const std::vector<double>& values) {
  double total = 0, count = 0;
  for (const double value : values)
    if (std::isfinite(value)) {
      total += value;
      ++count;
    }
  return count > 0 ? total / count : 0;
}

/// Numbers by which programs of EDAX TSL call Laue groups.
int tsl_symmetry(const std::string& symbol) {
  static const std::map<std::string, int> numbers = {{"-1", 1},     {"2/m", 20}, {"mmm", 22}, {"4/m", 4},
                                                     {"4/mmm", 42}, {"-3", 3},   {"-3m", 32}, {"6/m", 6},
                                                     {"6/mmm", 62}, {"m-3", 23}, {"m-3m", 43}};
  const auto found = numbers.find(symbol);
  return found == numbers.end() ? 1 : found->second;
}

Index in_grains(const GrainMap& map) {
  Index positions = 0;
  for (const Grain& grain : map.grains) positions += grain.positions;
  return positions;
}

float in_degrees(double angle) { return static_cast<float>(angle * 180 / pi); }

void put(std::vector<float>& values, const Orientation& orientation) {
  for (const Vec3& row : orientation)
    for (const double part : row) values.push_back(static_cast<float>(part));
}

}  // namespace

namespace {

std::vector<ZoneSector> sectors_of(const OrientResult& result) {
  std::vector<ZoneSector> sectors;
  for (std::size_t k = 0; k < result.crystals(); ++k)
    sectors.emplace_back(result.plan_of(k).crystal(), result.plan_of(k).group());
  return sectors;
}

Strain median_strain(const StrainResult& result) {
  Strain medians;
  for (double Strain::*part : {&Strain::xx, &Strain::yy, &Strain::xy, &Strain::theta}) {
    std::vector<double> values;
    for (const Strain& each : result.strain)
      if (std::isfinite(each.*part)) values.push_back(each.*part);
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    medians.*part = *middle;
  }
  return medians;
}

/// The lines of a .ang file that describe one crystal.
std::string ang_phase(const OrientationPlan& plan, std::size_t number) {
  const UnitCell& cell = plan.crystal().cell;
  return fmt::format(
      "# Phase {}\n# MaterialName  \t{}\n# Symmetry              {}\n"
      "# LatticeConstants      {:.4f} {:.4f} {:.4f} {:.3f} {:.3f} {:.3f}\n#\n",
      number, plan.crystal().name, tsl_symmetry(plan.group().symbol()), cell.a, cell.b, cell.c, cell.alpha, cell.beta,
      cell.gamma);
}

}  // namespace

Value OrientResult::to_value() const {
  std::vector<double> correlation, reliability;
  for (const PatternMatch& each : matches)
    if (!each.matches.empty()) {
      correlation.push_back(each.matches[0].correlation);
      reliability.push_back(each.reliability);
    }
  Value value;
  value["positions"] = positions();
  value["matched"] = matched();
  value["ambiguous"] = ambiguous();
  value["laue_group"] = plan.group().symbol();
  value["zone_axes"] = plan.zones().size();
  value["rings"] = plan.radii().size();
  value["angles"] = plan.angles();
  value["q_pixel"] = q_pixel;
  if (q_pixel_error) value["q_pixel_error"] = *q_pixel_error;
  value["voltage"] = plan.options().voltage;
  value["mean_correlation"] = mean_of(correlation);
  value["mean_reliability"] = mean_of(reliability);
  value["mean_explained"] = mean_of(explained);
  value["refined"] = refined;
  if (!grains.empty()) {
    value["grains"] = grains.grains.size();
    value["in_grains"] = in_grains(grains);
    value["settled"] = grains.count(Settled::kept) + grains.count(Settled::exchanged);
    value["exchanged"] = grains.count(Settled::exchanged);
  }
  if (const double error = misorientation_error(); std::isfinite(error)) value["misorientation_error"] = error;
  value["frame"] = "detector";
  if (phases) value["phases"] = phases->to_value();
  if (strain && strain->fitted() > 0) {
    value["strain"]["fitted"] = strain->fitted();
    value["strain"]["frame"] = strain->frame.name();
    value["strain"]["residual_px"] = strain->residual;
  }
  value["warnings"] = warnings;
  return value;
}

std::vector<std::string> OrientResult::lines() const {
  const Value value = to_value();
  std::vector<std::string> lines;
  for (std::size_t k = 0; k < crystals(); ++k) {
    const OrientationPlan& of = plan_of(k);
    lines.push_back(fmt::format("crystal   {}, Laue group {}; pixel {:.5g} 1/A, {:g} kV", of.crystal().name,
                                of.group().symbol().empty() ? "unknown" : of.group().symbol(), q_pixel,
                                of.options().voltage));
    lines.push_back(
        fmt::format("plan      {} zone axes, {} rings, {} angles", of.zones().size(), of.radii().size(), of.angles()));
  }
  lines.push_back(
      fmt::format("matched   {} of {} positions, {} with two orientations", matched(), positions(), ambiguous()));
  if (phases) lines.push_back(phases->line());
  lines.push_back(fmt::format("sanity    {:.0f} % of the disks explained, correlation {:.2f}, reliability {:.0f}",
                              100 * number_at(value, "mean_explained"), number_at(value, "mean_correlation"),
                              number_at(value, "mean_reliability")));
  if (const double error = misorientation_error(); std::isfinite(error))
    lines.push_back(
        fmt::format("refined   standard error {:.2g} degrees (median), from how the disks of a pattern scatter about "
                    "kinematic ones",
                    error));
  if (!grains.empty())
    lines.push_back(
        fmt::format("grains    {}, of {} positions; neighbours settle {} of {} with two orientations, {} "
                    "otherwise than their overlap",
                    grains.grains.size(), in_grains(grains), ambiguous() - grains.count(Settled::open), ambiguous(),
                    grains.count(Settled::exchanged)));
  if (strain && strain->fitted() > 0)
    lines.push_back(fmt::format(
        "strain    of {} positions against the cell, along the axes of the {}; median {}; sigma {}; residual {:.2f} px",
        strain->fitted(), strain->frame.name(), strain_text(median_strain(*strain), "{:.1e}"),
        strain_text(strain->median_sigma(), "{:.1e}"), strain->residual));
  for (const Choice<std::string>& choice : choices)
    lines.push_back(fmt::format("chosen    {}: {}", choice.value, choice.because));
  return lines;
}

Contents OrientResult::contents(const std::string& command) const {
  Contents contents;
  contents.attribute("schema", std::string("sonde.stem.orientation/1"));
  const std::vector<ZoneSector> sectors = sectors_of(*this);
  std::vector<float> matrix, corr, zone, in_plane, overlap, turn_errors, errors, reliability, share, other;
  std::vector<std::uint8_t> mirrored, ambiguous_at, valid;
  for (std::size_t i = 0; i < matches.size(); ++i) {
    const auto& found = matches[i].matches;
    const ZoneSector& sector = sectors[phase_at(i)];
    for (std::size_t n = 0; n < static_cast<std::size_t>(most_matches); ++n) {
      const bool there = n < found.size();
      if (there)
        put(matrix, found[n].orientation);
      else
        matrix.insert(matrix.end(), 9, nothing);
      const Vec3 beam = there ? sector.reduced(transposed(found[n].orientation)[2]) : Vec3{};
      for (const double part : beam) zone.push_back(there ? static_cast<float>(part) : nothing);
      corr.push_back(there ? static_cast<float>(found[n].correlation) : nothing);
      in_plane.push_back(there ? static_cast<float>(found[n].in_plane) : nothing);
      mirrored.push_back(there && found[n].mirrored ? 1 : 0);
      const bool known = there && found[n].refined;
      overlap.push_back(known ? static_cast<float>(found[n].refined->overlap) : nothing);
      errors.push_back(known ? in_degrees(found[n].refined->standard_error()) : nothing);
      for (std::size_t axis = 0; axis < 3; ++axis)
        turn_errors.push_back(known ? in_degrees(std::sqrt(found[n].refined->covariance[axis][axis])) : nothing);
    }
    const bool any = !found.empty(), two = any && found[0].other;
    valid.push_back(any ? 1 : 0);
    ambiguous_at.push_back(two ? 1 : 0);
    if (two)
      put(other, *found[0].other);
    else
      other.insert(other.end(), 9, nothing);
    reliability.push_back(any ? static_cast<float>(matches[i].reliability) : nothing);
    share.push_back(static_cast<float>(explained[i]));
  }
  const std::string calibration = to_json(to_value(), -1);
  const auto add = [&](const std::string& name, std::vector<std::string> axes, Array values, const std::string& unit) {
    axes.insert(axes.begin(), {"scan row", "scan column"});
    Contents::Variable& variable = contents.add("orientation/" + name, std::move(axes), std::move(values)).unit(unit);
    variable.attributes.emplace_back("frame", std::string("detector"));
    variable.attributes.emplace_back("calibration", calibration);
    variable.attributes.emplace_back("sonde_version", std::string(build_info().version));
    variable.attributes.emplace_back("command", command);
  };
  const Index n = most_matches, r = scan_rows, c = scan_cols;
  add("matrix", {"match", "crystal axis", "detector axis"}, Array::from(matrix, {r, c, n, 3, 3}), "");
  add("corr", {"match"}, Array::from(corr, {r, c, n}), "");
  add("zone", {"match", "crystal axis"}, Array::from(zone, {r, c, n, 3}), "");
  add("inplane", {"match"}, Array::from(in_plane, {r, c, n}), "rad");
  add("mirrored", {"match"}, Array::from(mirrored, {r, c, n}), "");
  if (refined) {
    add("overlap", {"match"}, Array::from(overlap, {r, c, n}), "");
    add("standard_error", {"match", "detector axis"}, Array::from(turn_errors, {r, c, n, 3}), "degrees");
    add("misorientation_error", {"match"}, Array::from(errors, {r, c, n}), "degrees");
  }
  if (phases) {
    std::vector<std::uint8_t> decided;
    for (std::size_t i = 0; i < matches.size(); ++i) decided.push_back(phases->decided(i) ? 1 : 0);
    const auto narrow = [](const std::vector<double>& values) {
      return std::vector<float>(values.begin(), values.end());
    };
    const auto count = static_cast<Index>(crystals());
    contents.attribute("orientation/phases", fmt::format("{}", fmt::join(phases->names, ", ")));
    add("phase", {}, Array::from(phases->phase, {r, c}), "");
    add("phase_decided", {}, Array::from(decided, {r, c}), "");
    add("phase_reliability", {}, Array::from(narrow(phases->reliability), {r, c}), "");
    add("phase_score", {"crystal"}, Array::from(narrow(phases->score), {r, c, count}), "");
  }
  add("reliability", {}, Array::from(reliability, {r, c}), "");
  add("explained", {}, Array::from(share, {r, c}), "");
  add("ambiguous", {}, Array::from(ambiguous_at, {r, c}), "");
  add("other", {"crystal axis", "detector axis"}, Array::from(other, {r, c, 3, 3}), "");
  add("valid", {}, Array::from(valid, {r, c}), "");
  add("colours", {"colour"}, colours(), "");
  if (sectors[0].corners())
    contents.add("orientation/legend", {"legend row", "legend column", "colour"}, sectors[0].legend(legend_side));
  contents.add_text(
      "orientation/colours_are",
      phases ? phases->names[0] + " " + sectors[0].legend_text() + "; each crystal its own" : sectors[0].legend_text());
  if (strain) strain->add_strain(contents, calibration, command);
  if (grains.empty()) return contents;
  const auto degrees_of = [&](const std::vector<double>& angles) {
    std::vector<float> values(angles.size());
    std::transform(angles.begin(), angles.end(), values.begin(), in_degrees);
    return Array::from(values, {r, c});
  };
  std::vector<std::uint8_t> settled(grains.settled.size());
  std::transform(grains.settled.begin(), grains.settled.end(), settled.begin(),
                 [](Settled each) { return static_cast<std::uint8_t>(each); });
  add("grain", {}, Array::from(grains.grain, {r, c}), "");
  add("from_mean", {}, degrees_of(grains.from_mean), "degrees");
  add("boundary", {}, degrees_of(grains.boundary), "degrees");
  add("settled", {}, Array::from(settled, {r, c}), "");
  add_grains(contents, grains, sectors, {scan_step_row, scan_step_col});
  return contents;
}

Value OrientResult::grain_table() const {
  return stem::grain_table(grains, sectors_of(*this), {scan_step_row, scan_step_col});
}

std::string OrientResult::ang() const {
  const bool known = scan_step_row > 0 && scan_step_col > 0;
  const double down = known ? scan_step_row / 1e3 : 1, right = known ? scan_step_col / 1e3 : 1;
  std::string text = "# Sample axes: columns, rows and beam of the detector\n";
  for (std::size_t k = 0; k < crystals(); ++k) text += ang_phase(plan_of(k), k + 1);
  text += fmt::format(
      "# GRID: SqrGrid\n# XSTEP: {:.6f}\n# YSTEP: {:.6f}\n# NCOLS_ODD: {}\n# NCOLS_EVEN: {}\n# NROWS: {}\n#\n", right,
      down, scan_cols, scan_cols, scan_rows);
  for (Index row = 0; row < scan_rows; ++row)
    for (Index col = 0; col < scan_cols; ++col) {
      const auto here = static_cast<std::size_t>(row * scan_cols + col);
      const bool there = !matches[here].matches.empty();
      // Files with one phase say 0, with several the number of its header.
      const int phase = phases ? static_cast<int>(phase_at(here)) + 1 : 0;
      const EulerAngles angles = there ? euler_angles(matches[here].matches[0].orientation) : EulerAngles{};
      text +=
          fmt::format("  {:.5f}  {:.5f}  {:.5f}  {:.6f}  {:.6f}  {:.4f}  {:.4f}  {}\n", angles.phi1, angles.capital_phi,
                      angles.phi2, right * static_cast<double>(col), down * static_cast<double>(row),
                      there ? explained[here] : 0, there ? matches[here].reliability / 100 : -1, there ? phase : -1);
    }
  return text;
}

Array OrientResult::colours() const {
  const std::vector<ZoneSector> sectors = sectors_of(*this);
  Array map(Device::cpu(), Shape{scan_rows, scan_cols, 3}, DType::u8);
  const auto view = map.view<std::uint8_t, 3>();
  for (Index row = 0; row < scan_rows; ++row)
    for (Index col = 0; col < scan_cols; ++col) {
      const auto here = static_cast<std::size_t>(row * scan_cols + col);
      const PatternMatch& each = matches[here];
      const Colour colour = each.matches.empty()
                                ? not_finite
                                : sectors[phase_at(here)].colour(transposed(each.matches[0].orientation)[2]);
      view(row, col, 0) = colour.red;
      view(row, col, 1) = colour.green;
      view(row, col, 2) = colour.blue;
    }
  return map;
}

Array OrientResult::picture() const {
  const std::vector<ZoneSector> sectors = sectors_of(*this);
  const Index zoom = std::max<Index>(1, map_side / std::max(scan_rows, scan_cols));
  Array map(Device::cpu(), Shape{scan_rows * zoom, scan_cols * zoom, 3}, DType::u8);
  const auto view = map.view<std::uint8_t, 3>();
  const Array of_positions = colours();
  const auto colour = of_positions.view<std::uint8_t, 3>();
  std::vector<double> reliability;
  for (const PatternMatch& each : matches)
    reliability.push_back(each.matches.empty() ? std::numeric_limits<double>::quiet_NaN() : each.reliability);
  for (Index row = 0; row < map.shape()[0]; ++row)
    for (Index col = 0; col < map.shape()[1]; ++col)
      for (Index part = 0; part < 3; ++part) view(row, col, part) = colour(row / zoom, col / zoom, part);
  ImageStyle style{.colours = ColourMap::viridis, .low = 0, .zoom = zoom, .colour_bar = true};
  if (scan_step_col > 0) {
    style.pixel_size = scan_step_col;
    style.unit = "nm";
  }
  std::vector<Panel> panels;
  panels.push_back(
      {"beam along: " + (phases ? "in the colours of its phase" : sectors[0].legend_text()), std::move(map)});
  for (std::size_t k = 0; k < sectors.size(); ++k)
    if (sectors[k].corners())
      panels.push_back(
          {phases ? phases->names[k] + ": " + sectors[k].legend_text() : "legend", sectors[k].legend(legend_side)});
  if (!grains.empty())
    panels.push_back(
        {fmt::format("{} grains", grains.grains.size()), draw_grains(grains, scan_rows, scan_cols, sectors, zoom)});
  if (phases) {
    panels.push_back({phase_legend(*phases), phase_picture(*this, zoom)});
    panels.push_back(
        {"phase reliability", render_image(Array::from(phases->reliability, Shape{scan_rows, scan_cols}), style)});
  }
  panels.push_back({"reliability", render_image(Array::from(reliability, Shape{scan_rows, scan_cols}), style)});
  Array maps = montage(panels, phases ? 0 : static_cast<Index>(panels.size()));
  if (!strain || strain->fitted() == 0) return maps;
  std::vector<Panel> both;
  both.push_back({"", std::move(maps)});
  both.push_back({"against the cell of the crystal", strain_picture(*strain)});
  return montage(both, 1);
}

}  // namespace sonde::stem
