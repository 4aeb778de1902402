// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/results/traces_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sonde/engine/base/error.h"

namespace sonde::maxwell {
namespace {

std::vector<double> nanoseconds(double start, double dt, std::size_t count) {
  std::vector<double> made(count);
  for (std::size_t n = 0; n < count; ++n) made[n] = 1e9 * (start + dt * static_cast<double>(n));
  return made;
}

/// Every so many rows and columns of a picture: more than these cannot be seen, and the script holds each as text.
constexpr Index most_rows = 800, most_columns = 1600;

/// Every column of a picture has one width.
bool is_even(const std::vector<double>& positions) {
  const double step = positions.size() < 2 ? 0 : positions[1] - positions[0];
  for (std::size_t i = 1; i < positions.size(); ++i)
    if (!(std::abs(positions[i] - positions[i - 1] - step) <= 0.01 * std::abs(step))) return false;
  return step != 0;
}

/// The largest magnitude; of counts, where the wave between the antennas is far above all others, that which one sample
/// in a hundred exceeds.
double colour_limit(const FieldLine& line) {
  std::vector<float> sizes(line.values.size());
  std::transform(line.values.begin(), line.values.end(), sizes.begin(), [](float value) { return std::abs(value); });
  const double largest = *std::max_element(sizes.begin(), sizes.end());
  if (line.unit != "count") return largest;
  const auto at = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() * 99 / 100);
  std::nth_element(sizes.begin(), at, sizes.end());
  return *at > 0 ? double{*at} : largest;
}

}  // namespace

Chart ascan_chart(const std::string& title, double dt, const std::vector<NamedTrace>& traces) {
  Chart chart{.title = title};
  for (const NamedTrace& trace : traces) {
    Facet& facet = chart.facets.emplace_back();
    facet.title = trace.name;
    facet.x = {.title = "time", .unit = "ns"};
    facet.y = {.title = trace.name, .unit = trace.unit};
    facet.series.push_back(
        {.name = "", .x = nanoseconds(trace.start, dt, trace.samples.size()), .y = trace.samples, .mark = Mark::lines});
  }
  return chart;
}

Chart bscan_chart(const FieldLine& line) {
  if (line.traces < 2)
    throw Error(ErrorKind::bad_input, fmt::format("{} trace: a B-scan has at least two", line.traces))
        .hint("run the model several times, `-n 60`, with #src_steps and #rx_steps, or draw an A-scan");
  const Index row_step = (line.samples + most_rows - 1) / most_rows;
  const Index column_step = (line.traces + most_columns - 1) / most_columns;
  const bool placed = is_even(line.positions);
  const bool descending = placed && line.positions.front() > line.positions.back();
  HeightMap map;
  std::vector<Index> columns;
  for (Index i = 0; i < line.traces; i += column_step) columns.push_back(i);
  if (descending) std::reverse(columns.begin(), columns.end());
  for (const Index i : columns)
    map.x.push_back(placed ? line.positions[static_cast<std::size_t>(i)] : static_cast<double>(i + 1));
  for (Index n = 0; n < line.samples; n += row_step) {
    map.y.push_back(1e9 * (line.dt * static_cast<double>(n) - line.time_zero));
    for (const Index i : columns) map.z.push_back(line.trace(i)[n]);
  }
  map.title = fmt::format("{} ({})", line.quantity, line.unit);
  const double most = colour_limit(line);
  if (most > 0) map.both_signs = most;
  const double half = std::abs(map.x[1] - map.x[0]) / 2;  // a trace is as wide as the way to the next
  const double first = map.x.front() - half, last = map.x.back() + half;
  Chart chart{.title = line.title};
  Facet& facet = chart.facets.emplace_back();
  facet.x = {.title = placed ? "position" : "trace", .unit = placed ? "m" : "", .low = first, .high = last};
  // Time runs downwards, as depth does.
  facet.y = {.title = "time", .unit = "ns", .low = map.y.back(), .high = map.y.front()};
  facet.map = std::move(map);
  return chart;
}

Chart line_chart(const FieldLine& line) {
  if (line.traces > 1) return bscan_chart(line);
  return ascan_chart(line.title, line.dt,
                     {{line.quantity, line.unit, {line.values.begin(), line.values.end()}, -line.time_zero}});
}

}  // namespace sonde::maxwell
