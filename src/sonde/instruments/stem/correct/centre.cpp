// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/correct/centre.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/instruments/stem/correct/centre_methods.h"

namespace sonde::stem {
namespace {

constexpr std::string_view method_names[] = {"edge", "threshold", "plateau", "com", "friedel"};

template <class T>
Pattern checked(View<const T, 2> pattern, std::span<const std::uint8_t> good) {
  Pattern dense;
  dense.rows = pattern.extent[0];
  dense.cols = pattern.extent[1];
  if (dense.rows < 4 || dense.cols < 4)
    throw Error(ErrorKind::bad_input,
                fmt::format("a pattern of {} x {} pixels is too small to find a centre in", dense.rows, dense.cols))
        .hint("give it with " + setting("centre") + " ROW,COL");
  const auto count = static_cast<std::size_t>(dense.rows * dense.cols);
  if (!good.empty() && good.size() != count)
    throw Error(ErrorKind::bad_input,
                fmt::format("the mask of good pixels has {} values for a pattern of {} x {} pixels", good.size(),
                            dense.rows, dense.cols));
  dense.value.assign(count, 0);
  dense.valid.assign(count, 0);
  double lowest = 0, highest = 0;
  bool any = false;
  for (Index row = 0; row < dense.rows; ++row) {
    for (Index col = 0; col < dense.cols; ++col) {
      const std::size_t i = dense.at(row, col);
      const auto value = static_cast<double>(pattern(row, col));
      if ((!good.empty() && good[i] == 0) || !std::isfinite(value)) continue;
      dense.value[i] = value;
      dense.valid[i] = 1;
      lowest = any ? std::min(lowest, value) : value;
      highest = any ? std::max(highest, value) : value;
      any = true;
    }
  }
  if (!any)
    throw Error(ErrorKind::bad_input, "no centre can be found: every pixel of the pattern is bad")
        .hint("give it with " + setting("centre") + " ROW,COL, or use " + setting("ignore_mask"));
  if (lowest == highest)
    throw Error(ErrorKind::bad_input,
                fmt::format("no centre can be found: every good pixel of the pattern holds {}", lowest))
        .hint("give it with " + setting("centre") + " ROW,COL");
  return dense;
}

Centre dispatch(const Pattern& pattern, CentreMethod method) {
  switch (method) {
    case CentreMethod::edge:
      return centre_by_edge(pattern);
    case CentreMethod::threshold:
      return centre_by_threshold(pattern);
    case CentreMethod::plateau:
      return centre_by_plateau(pattern);
    case CentreMethod::com:
      return centre_of_mass(pattern);
    case CentreMethod::friedel:
      return centre_by_friedel(pattern);
  }
  throw Error(ErrorKind::internal, "unknown method of finding the centre");
}

/// Zeroth and first moments of what `weight(i)` keeps.
struct Sums {
  double weight = 0, row = 0, col = 0;
};

template <class Weight>
Sums sums(const Pattern& pattern, Weight&& weight) {
  Sums total;
  for (Index row = 0; row < pattern.rows; ++row) {
    for (Index col = 0; col < pattern.cols; ++col) {
      const std::size_t i = pattern.at(row, col);
      if (pattern.valid[i] == 0) continue;
      const double w = weight(i);
      total.weight += w;
      total.row += w * static_cast<double>(row);
      total.col += w * static_cast<double>(col);
    }
  }
  return total;
}

double radius_of_area(double area) { return std::sqrt(area / std::numbers::pi); }

}  // namespace

std::string_view name(CentreMethod method) { return method_names[static_cast<std::size_t>(method)]; }

CentreMethod parse_centre_method(std::string_view text) {
  std::vector<std::string> known;
  for (std::size_t i = 0; i < std::size(method_names); ++i) {
    if (method_names[i] == text) return static_cast<CentreMethod>(i);
    known.emplace_back(method_names[i]);
  }
  throw Error(ErrorKind::usage,
              fmt::format("unknown method of finding the centre \"{}\"{}", text, did_you_mean(text, known)))
      .hint("known: " + join_words(known));
}

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double threshold_level(const Pattern& pattern) {
  double count = 0, sum = 0, squares = 0;
  for (std::size_t i = 0; i < pattern.value.size(); ++i) {
    if (pattern.valid[i] == 0) continue;
    count += 1;
    sum += pattern.value[i];
  }
  const double mean = sum / count;
  for (std::size_t i = 0; i < pattern.value.size(); ++i)
    if (pattern.valid[i] != 0) squares += (pattern.value[i] - mean) * (pattern.value[i] - mean);
  return mean + std::sqrt(squares / count);
}

Centre centre_by_threshold(const Pattern& pattern) {
  const double level = threshold_level(pattern);
  const Sums above = sums(pattern, [&](std::size_t i) { return pattern.value[i] > level ? 1.0 : 0.0; });
  // The population maximum lies at least one standard deviation above the mean, but may equal it (half and half).
  if (above.weight == 0)
    throw Error(ErrorKind::bad_input, "no centre can be found: no pixel is brighter than mean + standard deviation")
        .hint("try " + setting("centre_method", "edge") + ", or give it with " + setting("centre") + " ROW,COL");
  return {.row = above.row / above.weight,
          .col = above.col / above.weight,
          .radius = radius_of_area(above.weight),
          .confidence = 1,
          .method = CentreMethod::threshold};
}

Centre centre_by_plateau(const Pattern& pattern) {
  constexpr std::size_t steps = 100;
  const double top = *std::max_element(pattern.value.begin(), pattern.value.end());
  std::vector<double> sorted;
  for (std::size_t i = 0; i < pattern.value.size(); ++i)
    if (pattern.valid[i] != 0) sorted.push_back(pattern.value[i]);
  std::sort(sorted.begin(), sorted.end());
  std::vector<double> level(steps), radius(steps), slope(steps);
  for (std::size_t i = 0; i < steps; ++i) {
    level[i] = 0.01 + 0.98 * static_cast<double>(i) / static_cast<double>(steps - 1);
    const auto above = sorted.end() - std::upper_bound(sorted.begin(), sorted.end(), level[i] * top);
    radius[i] = radius_of_area(static_cast<double>(above));
  }
  for (std::size_t i = 0; i < steps; ++i) {
    const std::size_t before = i == 0 ? 0 : i - 1, after = i + 1 == steps ? i : i + 1;
    slope[i] = (radius[after] - radius[before]) / static_cast<double>(after - before);
  }
  std::vector<double> ordered = slope;
  std::sort(ordered.begin(), ordered.end());
  const double limit = ordered[steps / 2 - 1] + ordered[steps / 2];  // twice the median of an even number
  double flat = 0, flat_radius = 0, flat_level = 0;
  for (std::size_t i = 0; i < steps; ++i) {
    if (slope[i] > 0 || slope[i] < limit) continue;
    flat += 1;
    flat_radius += radius[i];
    flat_level += level[i];
  }
  const double cut = flat_level / flat * top;  // the slopes near the median always qualify
  const Sums above = sums(pattern, [&](std::size_t i) { return pattern.value[i] > cut ? pattern.value[i] : 0.0; });
  if (!(above.weight > 0))
    throw Error(ErrorKind::bad_input, "no centre can be found: the pattern has no positive plateau")
        .hint("give it with " + setting("centre") + " ROW,COL");
  return {.row = above.row / above.weight,
          .col = above.col / above.weight,
          .radius = flat_radius / flat,
          .confidence = 1,
          .method = CentreMethod::plateau};
}

Centre centre_of_mass(const Pattern& pattern) {
  const Sums total = sums(pattern, [&](std::size_t i) { return pattern.value[i]; });
  if (!(total.weight > 0))
    throw Error(ErrorKind::bad_input, "no centre of mass: the pattern's sum is not positive")
        .hint("give it with " + setting("centre") + " ROW,COL");
  Centre centre{
      .row = total.row / total.weight, .col = total.col / total.weight, .confidence = 1, .method = CentreMethod::com};
  double second = 0;
  for (Index row = 0; row < pattern.rows; ++row)
    for (Index col = 0; col < pattern.cols; ++col)
      second += pattern.value[pattern.at(row, col)] * (std::pow(static_cast<double>(row) - centre.row, 2) +
                                                       std::pow(static_cast<double>(col) - centre.col, 2));
  centre.radius = std::sqrt(std::max(0.0, 2 * second / total.weight));  // a uniform disk has <d^2> = radius^2 / 2
  return centre;
}

Centre find_disk(View<const double, 2> pattern, std::span<const std::uint8_t> good, CentreMethod method) {
  const Pattern dense = checked(pattern, good);
  const Centre found = dispatch(dense, method);
  // A beam in the corner of the detector has an edge on a quarter of the rays; what has one on fewer than a tenth was
  // tens of pixels from the beam in simulated scans of little dose.
  constexpr double least_confidence = 0.1;
  if (method != CentreMethod::edge || found.confidence >= least_confidence) return found;
  const std::string remedy = "give " + setting("centre") + " ROW,COL and " + setting("radius") +
                             ", or a detector in pixels such as 'circle(ROW,COL,RADIUS)'";
  Centre bright;
  try {
    bright = centre_by_threshold(dense);
  } catch (const Error&) {
    throw Error(ErrorKind::bad_input,
                fmt::format("no bright-field disk was found: {:.0f} % of the rays cross an edge, at least {:.0f} % are "
                            "needed, and no pixel is brighter than mean + standard deviation",
                            100 * found.confidence, 100 * least_confidence))
        .hint(remedy);
  }
  const double level = threshold_level(dense);
  const Sums inside = sums(dense, [&](std::size_t i) {
    const double row = static_cast<double>(static_cast<Index>(i) / dense.cols) - bright.row,
                 col = static_cast<double>(static_cast<Index>(i) % dense.cols) - bright.col;
    return dense.value[i] > level && std::hypot(row, col) <= bright.radius ? 1.0 : 0.0;
  });
  const Sums above = sums(dense, [&](std::size_t i) { return dense.value[i] > level ? 1.0 : 0.0; });
  bright.confidence = inside.weight / above.weight;
  if (bright.confidence < 0.5)
    throw Error(ErrorKind::bad_input,
                fmt::format("no bright-field disk was found: nothing with an edge is above the noise, and of the {} "
                            "brightest pixels {:.0f} % are in the disk of their area; at least 50 % are needed",
                            above.weight, 100 * bright.confidence))
        .hint(remedy);
  bright.notes.push_back("no edge is above the noise: the disk is that of the pixels above mean + standard deviation");
  return bright;
}

Centre find_centre(View<const double, 2> pattern, std::span<const std::uint8_t> good, CentreMethod method) {
  return dispatch(checked(pattern, good), method);
}

Centre find_centre(View<const std::uint64_t, 2> pattern, std::span<const std::uint8_t> good, CentreMethod method) {
  return dispatch(checked(pattern, good), method);
}

}  // namespace sonde::stem
