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

/// Every so many rows of a picture: more than this cannot be seen, and the script holds each as text.
constexpr Index most_rows = 800;

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

Chart bscan_chart(const Line& line) {
  if (line.traces < 2)
    throw Error(ErrorKind::bad_input, fmt::format("{} trace: a B-scan has at least two", line.traces))
        .hint("run the model several times, `-n 60`, with #src_steps and #rx_steps, or draw an A-scan");
  const Index times = static_cast<Index>(line.samples.size()) / line.traces;
  const Index every = (times + most_rows - 1) / most_rows;
  HeightMap map;
  const bool descending = line.positions.size() > 1 && line.positions.front() > line.positions.back();
  const auto source_of = [&](Index trace) { return descending ? line.traces - 1 - trace : trace; };
  for (Index i = 0; i < line.traces; ++i)
    map.x.push_back(line.positions.empty() ? static_cast<double>(i + 1)
                                           : line.positions[static_cast<std::size_t>(source_of(i))]);
  for (Index n = 0; n < times; n += every) {
    map.y.push_back(1e9 * (line.start + line.dt * static_cast<double>(n)));
    for (Index i = 0; i < line.traces; ++i)
      map.z.push_back(line.samples[static_cast<std::size_t>(n * line.traces + source_of(i))]);
  }
  map.title = fmt::format("{} ({})", line.name, line.unit);
  double largest = 0;
  for (const double sample : line.samples) largest = std::max(largest, std::abs(sample));
  if (largest > 0) map.both_signs = largest;
  const double half = std::abs(map.x[1] - map.x[0]) / 2;  // a trace is as wide as the way to the next
  const double first = map.x.front() - half, last = map.x.back() + half;
  Chart chart{.title = line.title};
  Facet& facet = chart.facets.emplace_back();
  facet.x = {.title = line.positions.empty() ? "trace" : "position",
             .unit = line.positions.empty() ? "" : "m",
             .low = first,
             .high = last};
  // Time runs downwards, as depth does.
  facet.y = {.title = "time", .unit = "ns", .low = map.y.back(), .high = map.y.front()};
  facet.map = std::move(map);
  return chart;
}

}  // namespace sonde::maxwell
