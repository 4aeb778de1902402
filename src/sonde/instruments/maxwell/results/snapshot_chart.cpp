// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/results/snapshot_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/maxwell/results/gprmax_result.h"
#include "sonde/instruments/maxwell/results/thinned_map.h"

namespace sonde::maxwell {
namespace {

/// Where the frames are cut: at index `at` of this axis.
struct Cut {
  std::size_t axis = 1;
  Index at = 0;
};

Cut cut_of(const FrameReader& frames) {
  Cut made;
  for (const std::size_t u : {std::size_t{1}, std::size_t{2}, std::size_t{0}})
    if (frames.count[u] < frames.count[made.axis]) made.axis = u;
  made.at = frames.count[made.axis] / 2;
  return made;
}

std::vector<Index> shown_frames(const FrameReader& frames, const std::optional<Index>& asked) {
  constexpr Index most = 6;
  if (asked) {
    if (*asked >= frames.frames)
      throw Error(ErrorKind::bad_input, fmt::format("frame {}: the file has 0 to {}", *asked, frames.frames - 1));
    return {*asked};
  }
  std::vector<Index> made;
  const Index count = std::min(most, frames.frames);
  for (Index i = 1; i <= count; ++i) made.push_back(i * frames.frames / count - 1);
  return made;
}

using Planes = std::vector<std::vector<double>>;

Planes planes_of(const FrameReader& frames, Component c, const std::vector<Index>& shown, const Cut& cut) {
  Planes made;
  for (const Index frame : shown) made.push_back(frames.plane(c, frame, cut.axis, cut.at));
  return made;
}

/// The magnitude that 99.5 % of the samples stay below; the largest where that is zero.
double scale_of(const Planes& planes) {
  std::vector<double> magnitudes;
  for (const std::vector<double>& plane : planes)
    for (const double sample : plane)
      if (std::isfinite(sample)) magnitudes.push_back(std::abs(sample));
  if (magnitudes.empty()) return 0;
  const auto at = magnitudes.begin() + static_cast<std::ptrdiff_t>(0.995 * static_cast<double>(magnitudes.size() - 1));
  std::nth_element(magnitudes.begin(), at, magnitudes.end());
  return *at > 0 ? *at : *std::max_element(magnitudes.begin(), magnitudes.end());
}

Component chosen(const FrameReader& frames, const std::vector<Index>& shown, const Cut& cut,
                 const std::optional<Component>& asked) {
  const auto has = [&](Component c) {
    return std::find(frames.components.begin(), frames.components.end(), c) != frames.components.end();
  };
  if (asked) {
    if (!has(*asked)) throw Error(ErrorKind::bad_input, fmt::format("the file has no {}", name(*asked)));
    return *asked;
  }
  Component best = frames.components.front();
  double largest = -1;
  for (const Component c : frames.components) {
    if (!is_electric(c)) continue;
    double squares = 0;
    for (const std::vector<double>& plane : planes_of(frames, c, shown, cut))
      for (const double sample : plane) squares += sample * sample;
    if (squares > largest) {
      largest = squares;
      best = c;
    }
  }
  return best;
}

/// A power of 1000, so that numbers beside the scale are short.
int thousands_of(double scale) {
  return scale >= 1e-2 && scale < 1e5 ? 0 : scale > 0 ? 3 * static_cast<int>(std::floor(std::log10(scale) / 3)) : 0;
}

}  // namespace

Chart snapshot_chart(const FrameReader& frames, const SnapshotChoice& choice) {
  const Cut cut = cut_of(frames);
  const std::size_t across = cut.axis == 0 ? 1 : 0, up = cut.axis == 2 ? 1 : 2;
  if (frames.count[across] < 2 || frames.count[up] < 2)
    throw Error(ErrorKind::bad_input, fmt::format("{} x {} x {} samples; expected two or more along two axes",
                                                  frames.count[0], frames.count[1], frames.count[2]));
  const std::vector<Index> shown = shown_frames(frames, choice.frame);
  const Component c = chosen(frames, shown, cut, choice.component);
  Planes planes = planes_of(frames, c, shown, cut);
  const int thousands = thousands_of(scale_of(planes));
  for (std::vector<double>& plane : planes)
    for (double& sample : plane) sample *= std::pow(10, -thousands);
  const double scale = scale_of(planes);
  const std::string unit = thousands == 0 ? unit_of(c) : fmt::format("1e{} {}", thousands, unit_of(c));
  Chart chart{.title = frames.title};
  for (std::size_t i = 0; i < shown.size(); ++i) {
    Facet& facet = chart.facets.emplace_back();
    facet.title = fmt::format("{:.4g} ns", 1e9 * frames.times[static_cast<std::size_t>(shown[i])]);
    if (frames.count[cut.axis] > 1)
      facet.title += fmt::format(", {} = {:.4g} m", xyz_letters[cut.axis],
                                 frames.positions[cut.axis][static_cast<std::size_t>(cut.at)]);
    HeightMap map = thinned_map(frames.positions[across], frames.positions[up], planes[i]);
    map.title = fmt::format("{} ({})", name(c), unit);
    if (scale > 0) map.both_signs = scale;
    set_axes(facet, std::move(map), {std::string(1, xyz_letters[across]), std::string(1, xyz_letters[up])},
             frames.depth && up == 2);
  }
  return chart;
}

}  // namespace sonde::maxwell
