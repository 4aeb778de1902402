// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/bragg/bragg_faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/setting.h"
#include "sonde/instruments/stem/correct/centre.h"

namespace sonde::stem {
namespace {

// A tenth of the brightest: weaker maxima may be noise, which is anywhere.
constexpr float bright = 0.1F;
// Of Centre and of Probe: below, the result is a guess.
constexpr double sure_of = 0.5, round = 0.85;

/// Whether most pixels of the central disk have one and the same largest value: counts scatter, a full scale does not.
std::optional<double> full_scale(const BraggResult& result, const Dataset& dataset) {
  if (dataset.moments().pattern_max.dtype() != DType::u64) return std::nullopt;
  const View<const std::uint64_t, 2> most = dataset.moments().pattern_max.view<std::uint64_t, 2>();
  const Probe& probe = result.probe;
  std::uint64_t largest = 0;
  Index pixels = 0, full = 0;
  const auto for_disk = [&](auto&& body) {
    for (Index row = 0; row < most.extent[0]; ++row)
      for (Index col = 0; col < most.extent[1]; ++col)
        if (dataset.good()[static_cast<std::size_t>(row * most.extent[1] + col)] != 0 &&
            std::hypot(static_cast<double>(row) - probe.row, static_cast<double>(col) - probe.col) < 0.8 * probe.radius)
          body(most(row, col));
  };
  for_disk([&](std::uint64_t value) { largest = std::max(largest, value); });
  for_disk([&](std::uint64_t value) {
    ++pixels;
    if (value == largest) ++full;
  });
  // Of few counts the largest values are alike by chance.
  constexpr std::uint64_t few = 16;
  if (largest < few || 2 * full <= pixels) return std::nullopt;
  return static_cast<double>(largest);
}

/// The point of symmetry of the mean pattern, where it has one.
std::optional<Centre> symmetry(const BraggResult& result, const Dataset& dataset) {
  try {
    const Centre centre = find_centre(result.mean.view<double, 2>(), dataset.good(), CentreMethod::friedel);
    if (centre.confidence >= sure_of) return centre;
  } catch (const Error&) {
    // No pattern at all; others say so.
  }
  return std::nullopt;
}

}  // namespace

double nearest_distance(const BraggVectors& vectors) {
  std::vector<double> distances;
  for (Index p = 0; p < vectors.positions(); ++p) {
    const auto first = static_cast<std::size_t>(vectors.first(p)), last = static_cast<std::size_t>(vectors.last(p));
    std::size_t end = first;
    while (end < last && vectors.intensity[end] >= bright * vectors.intensity[first]) ++end;
    for (std::size_t i = first; i < end; ++i) {
      double nearest = std::numeric_limits<double>::infinity();
      for (std::size_t j = first; j < end; ++j)
        if (j != i)
          nearest = std::min(nearest, std::hypot(static_cast<double>(vectors.qy[i] - vectors.qy[j]),
                                                 static_cast<double>(vectors.qx[i] - vectors.qx[j])));
      if (std::isfinite(nearest)) distances.push_back(nearest);
    }
  }
  if (distances.empty()) return 0;
  const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
  std::nth_element(distances.begin(), middle, distances.end());
  return *middle;
}

std::vector<std::string> bragg_faults(const BraggResult& result, const BraggOptions& options, const Dataset& dataset) {
  std::vector<std::string> faults;
  const Probe& probe = result.probe;
  const bool found = options.probe == "auto";
  if (const auto full = found ? full_scale(result, dataset) : std::nullopt)
    faults.push_back(
        fmt::format("the central disk is saturated: most of its pixels reach {:g} and no more; its place "
                    "and brightness are not those of the beam",
                    *full));
  if (found)
    if (const auto centre = symmetry(result, dataset);
        centre && std::hypot(centre->row - probe.row, centre->col - probe.col) > 1.5 * probe.radius)
      faults.push_back(fmt::format(
          "the brightest disk (row {:.1f}, col {:.1f}) is not where the mean pattern is symmetric (row {:.1f}, col "
          "{:.1f}): a beam stop may hide the central one",
          probe.row, probe.col, centre->row, centre->col));
  if (found && probe.confidence < round)
    faults.push_back(
        fmt::format("what is taken for the central disk is not round ({:.2f} of 1): disks may touch or be "
                    "distorted; give {} or a vacuum scan",
                    probe.confidence, setting("probe", "RADIUS")));
  if (result.nearest > 0 && result.nearest < 2 * probe.radius)
    faults.push_back(fmt::format(
        "disks overlap: neighbours are {:.1f} px apart and {:.1f} px wide; {}", result.nearest, 2 * probe.radius,
        options.subpixel == Refinement::mle ? "places and their errors are right only where every neighbour was found"
                                            : "places are pulled toward the brighter one"));
  else if (result.nearest > 0 && result.nearest < 2.6 * probe.radius)
    faults.push_back(
        fmt::format("disks nearly touch: neighbours are {:.1f} px apart and {:.1f} px wide; weak disks beside "
                    "bright ones may be misplaced by tenths of a pixel",
                    result.nearest, 2 * probe.radius));
  if (!result.converged())
    faults.push_back(fmt::format("{} of {} patterns have no disk: {} maxima were found, {} of them below {}",
                                 result.without, result.patterns, result.filters.found,
                                 result.filters.absolute + result.filters.relative, setting("min_absolute_intensity")));
  if (result.filters.number > 0)
    faults.push_back(fmt::format("{} disks were left out because a pattern may have {}; raise {} or {}",
                                 result.filters.number, options.max_num_peaks, setting("max_num_peaks"),
                                 setting("min_relative_intensity")));
  return faults;
}

}  // namespace sonde::stem
