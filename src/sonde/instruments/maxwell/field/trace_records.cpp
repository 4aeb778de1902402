// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/field/trace_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sonde/engine/base/setting.h"

namespace sonde::maxwell {
namespace {

void complain(const std::string& problem, const FieldReading& reading, FieldLine& line) {
  if (!reading.allow_truncated)
    throw Error(ErrorKind::bad_file, problem).hint(setting("allow_truncated") + " reads the whole traces");
  line.warnings.push_back(problem);
}

}  // namespace

Index whole_traces(const TraceRecords& records, const FieldReading& reading, FieldLine& line) {
  const std::size_t bytes = records.file > records.first ? records.file - records.first : 0;
  const auto whole = static_cast<Index>(bytes / records.record);
  const std::size_t rest = bytes % records.record;
  if (whole == 0)
    throw Error(ErrorKind::bad_file, fmt::format("{}: no whole trace; a trace of this file has {} bytes, {} follow the "
                                                 "header",
                                                 records.name, records.record, bytes));
  if (rest > 0)
    complain(fmt::format("{}: cut off: {} whole trace{}, and {} of the {} bytes of another{}", records.name, whole,
                         whole == 1 ? "" : "s", rest, records.record,
                         records.said ? fmt::format("; {} says {}", records.said_by, *records.said) : ""),
             reading, line);
  else if (records.said && whole < *records.said)
    complain(fmt::format("{}: {} traces; {} says {}", records.name, whole, records.said_by, *records.said), reading,
             line);
  if (records.said && whole > *records.said)
    line.warnings.push_back(fmt::format("{}: {} traces, all of which are read; {} says {}", records.name, whole,
                                        records.said_by, *records.said));
  return whole;
}

void require_finite(const FieldLine& line, const std::string& name) {
  const auto require = [&name](bool holds, const std::string& what) {
    if (!holds) throw Error(ErrorKind::bad_file, fmt::format("{}: {}; expected a finite number", name, what));
  };
  require(line.dt > 0 && std::isfinite(line.dt), fmt::format("a sample interval of {:g} s", line.dt));
  require(std::isfinite(line.time_zero), fmt::format("time zero at {:g} s", line.time_zero));
  require(std::isfinite(line.separation), fmt::format("antennas {:g} m apart", line.separation));
  require(std::isfinite(line.nominal_frequency), fmt::format("a frequency of {:g} Hz", line.nominal_frequency));
  for (std::size_t i = 0; i < line.positions.size(); ++i)
    require(std::isfinite(line.positions[i]), fmt::format("trace {} at {:g} m", i + 1, line.positions[i]));
  const auto wrong =
      std::find_if(line.values.begin(), line.values.end(), [](float value) { return !std::isfinite(value); });
  if (wrong == line.values.end()) return;
  const Index at = wrong - line.values.begin();
  require(false, fmt::format("sample {} of trace {} is {}", at % line.samples + 1, at / line.samples + 1, *wrong));
}

double unit_of_count(const FieldLine& line, int bits) {
  const double largest = std::ldexp(1, bits - 1) - 1;
  double most = 0;
  bool counts = true;
  for (const float value : line.values) {
    most = std::max(most, std::abs(double{value}));
    counts = counts && value == std::trunc(value) && value <= largest && value >= -largest - 1;
  }
  return counts ? 1 : most / largest;
}

std::vector<double> even_positions(Index traces, double first, double step) {
  std::vector<double> made(static_cast<std::size_t>(traces));
  for (std::size_t i = 0; i < made.size(); ++i) made[i] = first + static_cast<double>(i) * step;
  return made;
}

double mean_step(const FieldLine& line) {
  if (line.positions.size() < 2) return 1;
  return (line.positions.back() - line.positions.front()) / static_cast<double>(line.positions.size() - 1);
}

}  // namespace sonde::maxwell
