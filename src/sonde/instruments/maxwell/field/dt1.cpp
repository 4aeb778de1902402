// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string>

#include "sonde/engine/base/text.h"
#include "sonde/engine/base/version.h"
#include "sonde/instruments/maxwell/field/field_bytes.h"
#include "sonde/instruments/maxwell/field/field_formats.h"
#include "sonde/instruments/maxwell/field/header_text.h"
#include "sonde/instruments/maxwell/field/trace_records.h"

namespace sonde::maxwell {
namespace {

constexpr std::size_t dt1_header_bytes = 128, dt1_sample_bytes = 2;
constexpr double foot = 0.3048;  // m

/// Values of a trace's header, by their place.
enum class Dt1Value : std::size_t {
  number = 0,
  position = 1,
  samples = 2,
  bytes_per_sample = 5,
  interval_ps = 6,
  stacks = 7
};

constexpr std::size_t place_of(Dt1Value which) { return 4 * static_cast<std::size_t>(which); }

double value_at(Bytes bytes, std::size_t trace, Dt1Value which) {
  return load<float>(bytes, trace + place_of(which), ByteOrder::little);
}

/// The decimal number that a float32 was made from: 0.1, not 0.100000001.
double decimal(double single) { return std::stod(fmt::format("{}", static_cast<float>(single))); }

/// m.
double unit_of_positions(const HeaderText& header, FieldLine& line, const std::string& name) {
  const std::string unit = to_lower(header.text("POSITION UNITS").value_or("m"));
  if (unit == "ft" || unit == "feet") return foot;
  if (unit != "m" && unit != "metres" && unit != "meters")
    line.warnings.push_back(fmt::format("{}: POSITION UNITS {}; taken as m", name, unit));
  return 1;
}

void check_trace(const HeaderAndTraces& files, std::size_t at, Index trace, Index count) {
  const auto bad = [&](const std::string& what) {
    return Error(ErrorKind::bad_file, fmt::format("{}: trace {} has {}", files.traces_name, trace + 1, what));
  };
  if (const double own = value_at(files.traces, at, Dt1Value::samples); own != static_cast<double>(count))
    throw bad(fmt::format("{:g} samples in its header; {} says {}", own, files.header_name, count));
  const double bytes = value_at(files.traces, at, Dt1Value::bytes_per_sample);
  if (bytes == 4)
    throw Error(ErrorKind::not_supported, files.traces_name + ": samples of 4 bytes are not supported yet");
  if (bytes != 2) throw bad(fmt::format("samples of {:g} bytes; expected 2", bytes));
  if (!std::isfinite(value_at(files.traces, at, Dt1Value::position))) throw bad("a position that is not a number");
}

/// Where start, end and step of the header make other traces than there are, that is a warning: those of the traces
/// were measured with them.
void compare_positions(const HeaderText& header, const HeaderAndTraces& files, double unit, FieldLine& line) {
  const auto start = header.number("STARTING POSITION"), end = header.number("FINAL POSITION"),
             step = header.number("STEP SIZE USED");
  if (!start || !end || !step || *step == 0) return;
  const double planned = std::round((*end - *start) / *step) + 1, first = line.positions.front() / unit;
  if (planned == static_cast<double>(line.traces) && std::abs(first - *start) < std::abs(*step) / 2) return;
  line.warnings.push_back(fmt::format(
      "{}: positions from {:g} to {:g} in steps of {:g} are {:g} traces; {} has {} from {:g} to {:g}, which are taken",
      files.header_name, *start, *end, *step, planned, files.traces_name, line.traces, first,
      line.positions.back() / unit));
}

}  // namespace

FieldLine parse_dt1(const HeaderAndTraces& files, const FieldReading& reading) {
  const HeaderText header(files.header, '=', files.header_name);
  FieldLine line{.format = "Sensors & Software DT1", .samples = header.count("NUMBER OF PTS/TRC")};
  line.dt = header.above_zero("TOTAL TIME WINDOW") * 1e-9 / static_cast<double>(line.samples);
  const std::size_t record = dt1_header_bytes + dt1_sample_bytes * static_cast<std::size_t>(line.samples);
  line.traces = whole_traces({.name = files.traces_name,
                              .record = record,
                              .file = files.traces.size(),
                              .said = header.later_count("NUMBER OF TRACES"),
                              .said_by = files.header_name},
                             reading, line);
  line.values.resize(static_cast<std::size_t>(line.traces * line.samples));
  const double unit = unit_of_positions(header, line, files.header_name);
  for (Index i = 0; i < line.traces; ++i) {
    const std::size_t at = record * static_cast<std::size_t>(i);
    check_trace(files, at, i, line.samples);
    line.positions.push_back(decimal(value_at(files.traces, at, Dt1Value::position)) * unit);
    for (Index n = 0; n < line.samples; ++n)
      line.trace(i)[n] = load<std::int16_t>(
          files.traces, at + dt1_header_bytes + dt1_sample_bytes * static_cast<std::size_t>(n), ByteOrder::little);
  }
  const double interval = value_at(files.traces, 0, Dt1Value::interval_ps) * 1e-12;
  if (!(std::abs(interval - line.dt) <= 1e-3 * line.dt))
    line.warnings.push_back(fmt::format("{}: a sample interval of {:g} s; {} says {:g} s, which is taken",
                                        files.traces_name, interval, files.header_name, line.dt));
  compare_positions(header, files, unit, line);
  line.time_zero = header.number("TIMEZERO AT POINT").value_or(0) * line.dt;
  line.nominal_frequency = std::max(0.0, header.number("NOMINAL FREQUENCY").value_or(0)) * 1e6;
  line.separation = header.number("ANTENNA SEPARATION").value_or(0) * unit;
  take_own_lines(header, line);
  require_finite(line, files.header_name);
  return line;
}

WrittenField dt1_of(const FieldLine& line) {
  const double unit = unit_of_count(line, 16), step = mean_step(line);
  const std::vector<double> positions = line.positions.empty() ? even_positions(line.traces, 0, step) : line.positions;
  WrittenField made;
  const auto add = [&made](const char* key, const std::string& value) {
    made.header += fmt::format("{:<18} = {}\r\n", key, value);
  };
  made.header = fmt::format("1234\r\nWritten by sonde {}\r\n{}\r\n", build_info().version, line.title);
  add("NUMBER OF TRACES", fmt::format("{}", line.traces));
  add("NUMBER OF PTS/TRC", fmt::format("{}", line.samples));
  add("TIMEZERO AT POINT", fmt::format("{:.15g}", line.time_zero / line.dt));
  add("TOTAL TIME WINDOW", fmt::format("{:.15g}", line.dt * static_cast<double>(line.samples) * 1e9));
  add("STARTING POSITION", fmt::format("{:.15g}", positions.front()));
  add("FINAL POSITION", fmt::format("{:.15g}", positions.back()));
  add("STEP SIZE USED", fmt::format("{:.15g}", step));
  add("POSITION UNITS", "m");
  add("NOMINAL FREQUENCY", fmt::format("{:.15g}", line.nominal_frequency * 1e-6));
  add("ANTENNA SEPARATION", fmt::format("{:.15g}", line.separation));
  made.header += own_lines(line, unit, " = ");
  const std::size_t record = dt1_header_bytes + dt1_sample_bytes * static_cast<std::size_t>(line.samples);
  made.traces.resize(record * static_cast<std::size_t>(line.traces));
  for (Index i = 0; i < line.traces; ++i) {
    const std::size_t at = record * static_cast<std::size_t>(i);
    const auto put = [&](Dt1Value which, double value) {
      store(made.traces, at + place_of(which), static_cast<float>(value), ByteOrder::little);
    };
    put(Dt1Value::number, static_cast<double>(i + 1));
    put(Dt1Value::position, positions[static_cast<std::size_t>(i)]);
    put(Dt1Value::samples, static_cast<double>(line.samples));
    put(Dt1Value::bytes_per_sample, dt1_sample_bytes);
    put(Dt1Value::interval_ps, line.dt * 1e12);
    put(Dt1Value::stacks, 1);
    for (Index n = 0; n < line.samples; ++n)
      store(made.traces, at + dt1_header_bytes + dt1_sample_bytes * static_cast<std::size_t>(n),
            static_cast<std::int16_t>(std::lround(line.trace(i)[n] / unit)), ByteOrder::little);
  }
  return made;
}

}  // namespace sonde::maxwell
