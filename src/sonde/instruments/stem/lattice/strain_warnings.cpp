// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/lattice/strain_warnings.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "sonde/engine/base/setting.h"

namespace sonde::stem {
namespace {

constexpr double many_invalid = 0.1, little_indexed = 0.7;
constexpr double close = 0.66;            // of the spacing: a template of two radii reaches the next disk
constexpr double far_from_lattice = 1.5;  // standard deviations of the disks; 1 where they are right

/// The name of the fault behind most positions without a lattice.
const char* fault(FitOutcome outcome) {
  switch (outcome) {
    case FitOutcome::collinear:
      return "collinear lattice";
    case FitOutcome::few_disks:
      return "too few disks";
    case FitOutcome::few_on_lattice:
      return "disks off the lattice";
    case FitOutcome::lost:
      return "several lattices";
    case FitOutcome::fitted:
    case FitOutcome::no_pattern:
      break;
  }
  return "no patterns";
}

std::string counted(const StrainResult& result) {
  std::string list;
  for (std::size_t i = 1; i < fit_outcomes; ++i)
    if (result.outcomes[i] > 0 && static_cast<FitOutcome>(i) != FitOutcome::no_pattern)
      list += fmt::format("{}{}: {}", list.empty() ? "" : ", ", reason(static_cast<FitOutcome>(i)), result.outcomes[i]);
  return list;
}

Index median_disks(const BraggVectors& vectors) {
  std::vector<Index> counts;
  for (Index position = 0; position < vectors.positions(); ++position)
    if (vectors.valid[static_cast<std::size_t>(position)] != 0) counts.push_back(vectors.count(position));
  if (counts.empty()) return 0;
  const auto middle = counts.begin() + static_cast<std::ptrdiff_t>(counts.size() / 2);
  std::nth_element(counts.begin(), middle, counts.end());
  return *middle;
}

}  // namespace

FitOutcome doubt_lattice(const BraggVectors& vectors, const std::vector<LatticePeak>& maxima, StrainResult& result) {
  if (vectors.disks() == 0) {
    result.warnings.emplace_back("no disks: none of the patterns has one, so there is no lattice");
  } else if (maxima.empty() || median_disks(vectors) <= 1) {
    result.warnings.push_back(
        fmt::format("one disk: the patterns have {} of them (median), which is the direct one, so there is no lattice; "
                    "find fainter disks, or take a crystal nearer to a zone axis",
                    std::max<Index>(1, median_disks(vectors))));
  } else {
    result.warnings.push_back(
        fmt::format("collinear lattice: the {} maxima of the map of disks are along one line, so that the strain "
                    "across it is not defined; find fainter disks, or take a crystal nearer to a zone axis",
                    maxima.size()));
    return FitOutcome::collinear;
  }
  return FitOutcome::few_disks;
}

void doubt_frame(const StrainFrame& frame, const BraggCalibration& calibration, const std::string& transpose,
                 std::vector<std::string>& warnings) {
  if (!frame.scan)
    warnings.push_back(
        "the rotation from detector to scan is not known: x and y are the axes of the detector, "
        "not those of the image of the scan; give " +
        setting("rotation"));
  else if (transpose == "auto" && !calibration.transpose)
    warnings.push_back("it is not known whether rows and columns of the detector are exchanged; give " +
                       setting("transpose"));
}

void doubt_strain(const BraggVectors& vectors, const StrainOptions& options, StrainResult& result) {
  const bool lattice = result.warnings.empty();
  if (lattice && result.invalid_share() > many_invalid) {
    const auto worst = std::max_element(result.outcomes.begin() + 2, result.outcomes.end());
    result.warnings.push_back(fmt::format("{}: {:.0f} % of the patterns have no lattice ({})",
                                          fault(static_cast<FitOutcome>(worst - result.outcomes.begin())),
                                          100 * result.invalid_share(), counted(result)));
  }
  if (lattice && result.overlap > 1)
    result.warnings.push_back(
        fmt::format("overlapping disks: they are {:.1f} px wide and {:.1f} px apart, so that neighbours pull each "
                    "other's positions; a smaller convergence angle keeps them apart",
                    2 * vectors.probe_radius, 2 * vectors.probe_radius / result.overlap));
  doubt_frame(result.frame, vectors.calibration, options.transpose, result.warnings);
  if (!lattice) return;
  if (result.found && result.found->indexed < little_indexed)
    result.warnings.push_back(
        fmt::format("{:.0f} % of the intensity of the map of disks is not on the lattice: several crystals, double "
                    "diffraction, or another basis ({})",
                    100 * (1 - result.found->indexed), setting("basis")));
  if (result.over_sigma > far_from_lattice) {
    const std::string how =
        fmt::format("disks are {:.1f} times as far from the lattice as their variances say", result.over_sigma);
    result.warnings.push_back(
        result.overlap > close
            ? fmt::format(
                  "close disks: they are {:.1f} px apart and {:.1f} px wide, so that templates see the edges of "
                  "the neighbours; {}. A template that ends before them ({} of stem bragg) errs less",
                  2 * vectors.probe_radius / result.overlap, 2 * vectors.probe_radius, how, setting("kernel_outer"))
            : how + ": disks that are unevenly filled, or several crystals under the beam");
  }
}

}  // namespace sonde::stem
