// SPDX-License-Identifier: Apache-2.0
#include "sonde/app/cli/bench_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/bench/machine.h"

namespace sonde::cli {
namespace {

double number_of(const Value& object, const char* key) {
  const Value* value = object.find(key);
  return value != nullptr && value->is_number() ? value->as_real() : 0;
}

std::string device_name(const Value& point) {
  const std::string device = point.find("device")->as_text();
  return device == "cpu" ? fmt::format("cpu × {}", point.find("workers")->as_whole()) : device;
}

/// One measured row in the form a chart needs: what was done, and by whom.
struct Row {
  std::string operation, who;
  double size = 0, seconds = 0, mad = 0, bytes = 0;
};

std::optional<double> size_number(const std::string& size) {
  try {
    double product = 1;  // "32x32x64": how many elements, up to what does not change from size to size
    for (const std::string& word : split(size, 'x')) product *= static_cast<double>(parse_bytes(word));
    return product;
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// Sizes of several numbers stand below the axis as they are; so do those within a hundredfold, where there are few
/// powers of ten.
std::vector<Tick> ticks_of(const Value& points) {
  std::vector<Tick> ticks;
  bool several = false;
  for (const Value& point : points.items()) {
    const std::string size = point.find("size")->as_text();
    several = several || size.find('x') != std::string::npos;
    const double at = size_number(size).value_or(0);
    if (at > 0 && (ticks.empty() || ticks.back().at != at)) ticks.push_back({at, size});
  }
  const bool close = !ticks.empty() && ticks.back().at < 100 * ticks.front().at;
  return several || close ? ticks : std::vector<Tick>{};
}

/// Where another series becomes the fastest, between two sizes.
std::vector<ReferenceLine> crossings(const Value& points, bool same_work) {
  std::vector<ReferenceLine> lines;
  const Value found = crossovers(points, same_work);
  for (const Value& crossing : found.items()) {
    const Value::List& between = crossing.find("between")->items();
    const double below = size_number(between[0].as_text()).value_or(0);
    const double above = size_number(between[1].as_text()).value_or(0);
    if (below > 0 && above > 0)
      lines.push_back({.value = std::sqrt(below * above), .label = crossing.find("to")->as_text(), .upright = true});
  }
  return lines;
}

std::vector<Row> rows_of(const Value& points) {
  std::vector<Row> rows;
  for (const Value& point : points.items()) {
    const double size = size_number(point.find("size")->as_text()).value_or(0);
    double bytes = 0;
    const auto add = [&](const std::string& operation, const std::string& who, const Value& measured) {
      const Value& steady = *measured.find("steady_s");
      rows.push_back({operation, who, size, number_of(steady, "median"), number_of(steady, "mad"), bytes});
    };
    for (const Value& operation : point.find("operations")->items()) {
      bytes = number_of(operation, "bytes");
      add(operation.find("name")->as_text(), device_name(point), operation);
    }
    // A peer does the same work as the first operation.
    if (point.find("operations")->size() == 0) continue;  // the size was not run
    const Value& first = point.find("operations")->items().front();
    bytes = number_of(first, "bytes");
    for (const Value& peer : point.find("peers")->items())
      if (peer.find("steady_s") != nullptr) add(first.find("name")->as_text(), peer.find("name")->as_text(), peer);
  }
  return rows;
}

Series& named(std::vector<Series>& all, const std::string& name) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const Series& s) { return s.name == name; });
  return found != all.end() ? *found : all.emplace_back(Series{.name = name});
}

Facet curves(const std::vector<Row>& rows, bool as_rate) {
  Facet facet;
  facet.x = {.title = "size", .log = true};
  facet.y = as_rate ? Axis{.title = "rate", .unit = "GB/s", .low = 0}
                    : Axis{.title = "median time", .unit = "s", .log = true};
  for (const Row& row : rows) {
    if (!(row.seconds > 0)) continue;
    Series* series = &named(facet.series, fmt::format("{}, {}", row.operation, row.who));
    const auto shown = [&](double seconds) { return as_rate ? row.bytes / seconds / 1e9 : seconds; };
    series->x.push_back(row.size);
    series->y.push_back(shown(row.seconds));
    // Never below zero time: a spread as large as the median has no lower end that a logarithm could show.
    series->low.push_back(shown(as_rate ? row.seconds + row.mad : std::max(row.seconds - row.mad, row.seconds / 10)));
    series->high.push_back(shown(as_rate ? std::max(row.seconds - row.mad, row.seconds / 10) : row.seconds + row.mad));
  }
  return facet;
}

/// Median times over that of the fastest of the same size: which lines touch 1 is what changes at a crossover.
Facet over_the_fastest(std::vector<Row> rows) {
  std::map<double, double> fastest;
  for (const Row& row : rows)
    if (row.seconds > 0 && (fastest[row.size] == 0 || row.seconds < fastest[row.size])) fastest[row.size] = row.seconds;
  for (Row& row : rows) {
    row.mad /= fastest[row.size];
    row.seconds /= fastest[row.size];
  }
  Facet facet = curves(rows, false);
  facet.y = {.title = "time over that of the fastest", .low = 0};
  return facet;
}

Facet bars(const std::vector<Row>& rows, bool as_rate) {
  Facet facet;
  facet.x = as_rate ? Axis{.title = "rate", .unit = "GB/s"} : Axis{.title = "median time", .unit = "ms"};
  for (const Row& row : rows)
    if (std::find(facet.categories.begin(), facet.categories.end(), row.operation) == facet.categories.end())
      facet.categories.push_back(row.operation);
  for (const Row& row : rows) {
    Series& series = named(facet.series, row.who);
    series.mark = Mark::bars;
    series.y.resize(facet.categories.size(), std::nan(""));
    const auto at = std::find(facet.categories.begin(), facet.categories.end(), row.operation);
    series.y[static_cast<std::size_t>(at - facet.categories.begin())] =
        as_rate ? row.bytes / row.seconds / 1e9 : row.seconds * 1e3;
  }
  return facet;
}

}  // namespace

Chart bench_chart(const BenchCase& bench_case, const Value& points, const Value& machine) {
  const std::vector<Row> rows = rows_of(points);
  std::map<double, int> sizes;
  for (const Row& row : rows) ++sizes[row.size];
  const bool over_sizes = sizes.size() > 1;
  const bool has_rates = std::all_of(rows.begin(), rows.end(), [](const Row& row) { return row.bytes > 0; });

  Chart chart;
  chart.title = fmt::format("{}: {}", bench_case.name, bench_case.summary);
  chart.facets.push_back(over_sizes ? curves(rows, false) : bars(rows, false));
  if (over_sizes && bench_case.same_work) {
    chart.facets.push_back(over_the_fastest(rows));
    chart.facets.back().references = crossings(points, true);
  }
  chart.one_legend = over_sizes;  // the names of many operations need the width of all facets
  if (has_rates) chart.facets.push_back(over_sizes ? curves(rows, true) : bars(rows, true));
  if (over_sizes)
    for (Facet& facet : chart.facets) facet.x.ticks = ticks_of(points);
  if (!has_rates) return chart;
  int workers = 1;
  for (const Value& point : points.items()) workers = std::max(workers, static_cast<int>(number_of(point, "workers")));
  if (const double limit = machine_rates(machine, workers).memory_bytes_per_s; limit > 0)
    chart.facets.back().references.push_back(
        {.value = limit / 1e9, .label = fmt::format("memory, {} threads", workers)});
  return chart;
}

}  // namespace sonde::cli
