// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sonde/instruments/stem/dose/dose_report.h"

namespace sonde::stem {
namespace {

std::string text(const Measured& ratio) { return fmt::format("{:.2f}+-{:.2f}", ratio.value, ratio.sigma); }

std::string text(const Strain& strain) {
  return fmt::format("e_xx {:.2e}, e_yy {:.2e}, e_xy {:.2e}, theta {:.2e} rad", strain.xx, strain.yy, strain.xy,
                     strain.theta);
}

Value value_of(const Strain& strain) {
  Value value;
  value["e_xx"] = strain.xx;
  value["e_yy"] = strain.yy;
  value["e_xy"] = strain.xy;
  value["theta"] = strain.theta;
  return value;
}

}  // namespace

std::vector<std::string> DoseReport::lines() const {
  std::vector<std::string> lines;
  lines.push_back(
      fmt::format("dose      {} patterns, {} with a lattice; {} disks found in both halves of the counts, of {:.4g} "
                  "electrons (median); {} missed, {} misplaced",
                  patterns, with_lattice, disks, counts, missed, misplaced));
  lines.push_back(noise ? fmt::format("noise     variance {}+-{} of the mean {}: counted electrons",
                                      fmt::format("{:.3f}", noise->value), fmt::format("{:.3f}", noise->sigma),
                                      noise_in_disks ? "inside the disks" : "between the disks")
                        : std::string("noise     too few counts to show that they are electrons"));
  lines.push_back(
      fmt::format("places    scatter by {:.4f} px along each axis (median disk), from two halves", scatter()));
  lines.push_back(
      fmt::format("bound     {:.4f} px (Cramer-Rao): the scatter is {} times it, {:.0f} % of the counts lost", bound,
                  text(over_bound), 100 * std::max(0.0, 1 - 1 / (over_bound.value * over_bound.value))));
  lines.push_back(
      over_stated ? fmt::format("stated    the scatter is {} times the standard error of each disk", text(*over_stated))
                  : std::string("stated    no standard errors: newton and mle with cross-correlation state them"));
  lines.push_back(fmt::format("lattice   distances from it are {} times the bound: {}", text(lattice_over_bound),
                              systematic() > 0 ? fmt::format("{:.4f} px do not come from counts", systematic())
                                               : std::string("no more than the counts explain")));
  if (strained == 0) {
    lines.push_back("strain    no pattern has a lattice in both halves");
    return lines;
  }
  const double error = 1 / std::sqrt(2 * static_cast<double>(strained));
  lines.push_back(
      fmt::format("strain    {} at each position ({} patterns, +-{:.0f} %)", text(strain), strained, 100 * error));
  lines.push_back(fmt::format("          {} allowed by the bound", text(strain_bound)));
  lines.push_back(fmt::format("          {} stated by the fit", text(strain_stated)));
  lines.push_back(fmt::format("needed    {:.0f} electrons in a disk for a strain of 1e-3", counts_for(1e-3)));
  return lines;
}

Value DoseReport::to_value() const {
  Value value;
  value["patterns"] = patterns;
  value["patterns_with_lattice"] = with_lattice;
  value["sites"] = sites;
  value["disks"] = disks;
  value["missed"] = missed;
  value["misplaced"] = misplaced;
  value["disk_radius"] = profile.radius;
  value["disk_edge"] = profile.edge;
  value["gain"] = gain;
  if (noise) {
    value["variance_over_mean"] = noise->value;
    value["variance_over_mean_sigma"] = noise->sigma;
    value["variance_measured_in"] = noise_in_disks ? "disks" : "background";
  }
  value["median_counts"] = counts;
  value["median_bound_px"] = bound;
  value["scatter_px"] = scatter();
  value["over_bound"] = over_bound.value;
  value["over_bound_sigma"] = over_bound.sigma;
  if (over_stated) {
    value["over_stated"] = over_stated->value;
    value["over_stated_sigma"] = over_stated->sigma;
  }
  value["lattice_over_bound"] = lattice_over_bound.value;
  value["lattice_over_bound_sigma"] = lattice_over_bound.sigma;
  value["systematic_px"] = systematic();
  value["strained_patterns"] = strained;
  if (strained > 0) {
    value["strain_sigma"] = value_of(strain);
    value["strain_sigma_of_bound"] = value_of(strain_bound);
    value["strain_sigma_stated"] = value_of(strain_stated);
    value["counts_for_strain_1e-3"] = counts_for(1e-3);
  }
  value["warnings"] = warnings;
  return value;
}

}  // namespace sonde::stem
