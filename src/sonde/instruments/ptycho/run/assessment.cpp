// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/run/assessment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/ptycho/model/metrics.h"
#include "sonde/instruments/ptycho/scan/groups.h"
#include "sonde/instruments/ptycho/scan/probe_support.h"

namespace sonde::ptycho {
namespace {

constexpr double least_overlap = 0.6;  // below it reconstructions are rarely to be trusted

/// A distance of object pixels for people. Where pixels are oblong it is about that many A.
std::string length(double pixels, const Scan& scan) {
  return scan.sampling.calibrated()
             ? fmt::format("{:.3g} A", pixels * std::sqrt(scan.sampling.pixel_row() * scan.sampling.pixel_col()))
             : fmt::format("{:.3g} px", pixels);
}

std::vector<Index> active_of(const Scan& scan) {
  std::vector<Index> active;
  for (Index j = 0; j < static_cast<Index>(scan.positions.size()); ++j)
    if (!std::binary_search(scan.skip.begin(), scan.skip.end(), j)) active.push_back(j);
  return active;
}

/// Which frame `place` is, when those that are skipped are counted as well.
Index frame_of(const Scan& scan, Index place) { return active_of(scan)[static_cast<std::size_t>(place)]; }

}  // namespace

std::string ScanAssessment::text() const {
  constexpr double alike = 0.01;
  return along - overlap < alike ? fmt::format("neighbours overlap by {:.0f} %", 100 * overlap)
                                 : fmt::format(
                                       "neighbours overlap by {:.0f} % along the shorter step and {:.0f} % "
                                       "along the longer",
                                       100 * along, 100 * overlap);
}

ScanAssessment assess_scan(const Scan& scan, const Spacing& spacing, const Array& probe) {
  const Window window{probe.shape()[1], probe.shape()[2]};
  ScanAssessment assessment;
  assessment.diameter = probe_diameter(probe, pixel_sampling(window.rows, window.cols));
  assessment.along = linear_overlap(spacing.nearest, assessment.diameter);
  assessment.overlap = linear_overlap(spacing.across, assessment.diameter);
  assessment.worst = linear_overlap(spacing.widest, assessment.diameter);
  std::vector<Index> all(scan.positions.size());
  std::iota(all.begin(), all.end(), Index{0});
  assessment.groups = DisjointGroups(all, place_all(scan.positions, window), probe_support(probe)).groups().count();
  return assessment;
}

std::string step_text(const Spacing& spacing, const Scan& scan) {
  constexpr double alike = 1.01;
  return spacing.across < alike * spacing.nearest
             ? fmt::format("step {}", length(spacing.nearest, scan))
             : fmt::format("steps of {} and {}", length(spacing.nearest, scan), length(spacing.across, scan));
}

std::vector<std::string> overlap_warnings(const ScanAssessment& assessment, const Scan& scan, const Spacing& spacing) {
  std::vector<std::string> warnings;
  if (const auto side = static_cast<double>(std::min(scan.window.rows, scan.window.cols)); assessment.diameter > side)
    warnings.push_back(fmt::format(
        "the probe is {} wide (99 % of its power), its window {}: it wraps around. Check the defocus and its unit (A), "
        "semiangle and pixel size; a larger window takes a finer detector_mrad_per_px",
        length(assessment.diameter, scan), length(side, scan)));
  if (spacing.places < 2) return warnings;
  if (assessment.diameter == 0) {
    warnings.push_back(fmt::format(
        "the probe is narrower than an object pixel of {}: nothing overlaps. Check [probe] and its unit (A), "
        "and the pixel size",
        length(1, scan)));
    return warnings;
  }
  if (assessment.overlap < least_overlap)
    warnings.push_back(fmt::format(
        "{} ({}, a probe {} wide), below {:.0f} %: results are rarely to be trusted. Scan more finely, or defocus the "
        "probe",
        assessment.text(), step_text(spacing, scan), length(assessment.diameter, scan), 100 * least_overlap));
  else if (assessment.worst < least_overlap)
    warnings.push_back(fmt::format(
        "frame {} is {} from its nearest neighbour and overlaps with it by {:.0f} %, below "
        "{:.0f} %: leave such frames out with data.skip",
        frame_of(scan, spacing.loneliest), length(spacing.widest, scan), 100 * assessment.worst, 100 * least_overlap));
  return warnings;
}

Spacing spacing_of_active(const Scan& scan) {
  std::vector<Point> active;
  for (const Index j : active_of(scan)) active.push_back(scan.positions[static_cast<std::size_t>(j)]);
  const Spacing spacing = spacing_of(active, Interruption::looked_for);
  if (active.size() > 1 && spacing.places == 1)
    throw Error(ErrorKind::bad_input,
                fmt::format("all {} frames are at one place, ({:.6g}, {:.6g}) object pixels: nothing overlaps",
                            active.size(), active.front().row, active.front().col))
        .hint("check data.positions, geometry.scan_step_A and positions.unit");
  return spacing;
}

std::vector<std::string> position_warnings(const Scan& scan, const Spacing& spacing, const ObjectExtent& extent) {
  std::vector<std::string> warnings;
  const auto active = static_cast<Index>(scan.positions.size() - scan.skip.size());
  if (spacing.places < active)
    warnings.push_back(fmt::format("{} of {} positions repeat another frame's", active - spacing.places, active));
  // A scan that moves on by less than this separates all frames by nothing but noise.
  constexpr double least_step = 0.01;
  if (spacing.places > 1 && spacing.across < least_step)
    warnings.push_back(
        fmt::format("the scan moves by {:.3g} object pixels of {}: check geometry.scan_step_A, "
                    "positions.unit and the pixel size",
                    spacing.across, length(1, scan)));
  const auto window = static_cast<double>(std::max(scan.window.rows, scan.window.cols));
  if (spacing.places > 1 && spacing.nearest > window)
    warnings.push_back(
        fmt::format("neighbours do not overlap at all: the positions are {} apart, and the probe's window is {} wide: "
                    "check the unit of the positions or the step, and the pixel size",
                    length(spacing.nearest, scan), length(window, scan)));
  // A raster's own corners are never more than a few steps from their neighbours.
  constexpr double far = 20;
  if (spacing.places > 2 && spacing.widest > far * spacing.across)
    warnings.push_back(fmt::format(
        "frame {} is {} from all others, {:.3g} times the typical step, and the object has {} x {} pixels to hold "
        "it: correct its position",
        frame_of(scan, spacing.loneliest), length(spacing.widest, scan), spacing.widest / spacing.across, extent.rows,
        extent.cols));
  return warnings;
}

std::vector<std::string> fit_warnings(const FitFacts& fit) {
  std::vector<std::string> warnings;
  if (fit.floor > 0) {
    constexpr double poor = 3;
    const double ratio = fit.last_r_intensity / fit.floor;
    if (ratio > poor)
      warnings.push_back(fmt::format(
          "R_I is {:.3g} times its floor: more iterations are needed, or step, energy, angles, defocus or orientation "
          "(`sonde ptycho orient`) are wrong; or the values are not counts, and data.counts_per_unit is {:.3g}",
          ratio, fit.counts_per_unit / (ratio * ratio)));
    if (ratio < over_fitted_ratio)
      warnings.push_back(
          fmt::format("R_I is {:.3g} times its floor: noise is fitted, because the overlap is too small or too much is "
                      "free; or the values are not counts, and data.counts_per_unit is {:.3g}",
                      ratio, fit.counts_per_unit / (ratio * ratio)));
  }
  constexpr double unlike = 1.2;
  if (fit.r_free && *fit.r_free > unlike * fit.r_intensity)
    warnings.push_back(fmt::format(
        "R_free is {:.3g} times R_I: frames that were held out are explained less well, so what is between the "
        "positions is known less well than R_I suggests; check the scan step and the overlap ({:.0f} %)",
        *fit.r_free / fit.r_intensity, 100 * fit.overlap));
  return warnings;
}

std::string dose_advice(double counts_per_pixel, std::span<const EngineRun> engines) {
  const auto biased = std::find_if(engines.begin(), engines.end(),
                                   [](const EngineRun& each) { return each.setup->loss() == Loss::amplitude; });
  if (counts_per_pixel >= 1 || counts_per_pixel == 0 || biased == engines.end()) return "";
  return fmt::format(
      "the patterns have {:.2g} counts per pixel: below one, amplitudes are biased, which {} compares; once the probe "
      "is "
      "about right, continue with adam or lsqml and loss = \"poisson\"",
      counts_per_pixel, biased->name);
}

}  // namespace sonde::ptycho
