// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "sonde/instruments/maxwell/field/field_bytes.h"
#include "sonde/instruments/maxwell/field/field_formats.h"
#include "sonde/instruments/maxwell/field/header_text.h"
#include "sonde/instruments/maxwell/field/trace_records.h"

namespace sonde::maxwell {
namespace {

/// s. FREQUENCY is that of sampling, in MHz; the window, in ns, is rounded in some files.
double sampling_interval(const HeaderText& header, const std::string& name, FieldLine& line) {
  const auto samples = static_cast<double>(line.samples);
  if (!header.text("FREQUENCY")) return header.above_zero("TIMEWINDOW") * 1e-9 / samples;
  const double dt = 1e-6 / header.above_zero("FREQUENCY");
  const double window = header.number("TIMEWINDOW").value_or(0) * 1e-9;
  // Some files have the time of the last sample there.
  if (window > 0 && std::abs(window / dt - samples) > 1.5 && std::abs(window / (dt * samples) - 1) > 1e-2)
    line.warnings.push_back(fmt::format("{}: TIMEWINDOW {:g} ns; SAMPLES and FREQUENCY are {:g} ns, which is taken",
                                        name, window * 1e9, dt * samples * 1e9));
  return dt;
}

/// The first number of a name like "RTA 50 MHz"; 0 where there is none.
double frequency_of_antennas(const std::string& antennas) {
  const std::size_t first = antennas.find_first_of("0123456789");
  double megahertz = 0;
  for (std::size_t i = first; i < antennas.size() && antennas[i] >= '0' && antennas[i] <= '9'; ++i)
    megahertz = 10 * megahertz + (antennas[i] - '0');
  return megahertz < 1e5 ? megahertz * 1e6 : 0;
}

}  // namespace

FieldLine parse_mala(const HeaderAndTraces& files, std::size_t sample_bytes, const FieldReading& reading) {
  const HeaderText header(files.header, ':', files.header_name);
  FieldLine line{.format = sample_bytes == 2 ? "MALA RD3" : "MALA RD7", .samples = header.count("SAMPLES")};
  line.dt = sampling_interval(header, files.header_name, line);
  line.traces = whole_traces({.name = files.traces_name,
                              .record = sample_bytes * static_cast<std::size_t>(line.samples),
                              .file = files.traces.size(),
                              .said = header.later_count("LAST TRACE"),
                              .said_by = files.header_name},
                             reading, line);
  line.values.resize(static_cast<std::size_t>(line.traces * line.samples));
  for (std::size_t i = 0; i < line.values.size(); ++i)
    line.values[i] = sample_bytes == 2
                         ? static_cast<float>(load<std::int16_t>(files.traces, i * sample_bytes, ByteOrder::little))
                         : static_cast<float>(load<std::int32_t>(files.traces, i * sample_bytes, ByteOrder::little));
  const double step = header.number("DISTANCE INTERVAL").value_or(0);
  if (step != 0)
    line.positions = even_positions(line.traces, header.number("START POSITION").value_or(0), step);
  else
    line.warnings.push_back(files.header_name + ": no DISTANCE INTERVAL, so the traces have no positions");
  line.separation = header.number("ANTENNA SEPARATION").value_or(0);
  line.nominal_frequency = frequency_of_antennas(header.text("ANTENNAS").value_or(""));
  take_own_lines(header, line);
  require_finite(line, files.header_name);
  return line;
}

WrittenField mala_of(const FieldLine& line, std::size_t sample_bytes) {
  const double unit = unit_of_count(line, sample_bytes == 2 ? 16 : 32), step = mean_step(line);
  WrittenField made;
  const auto add = [&made](const char* key, const std::string& value) {
    made.header += fmt::format("{}:{}\r\n", key, value);
  };
  add("SAMPLES", fmt::format("{}", line.samples));
  add("FREQUENCY", fmt::format("{:.15g}", 1e-6 / line.dt));
  add("FREQUENCY STEPS", "1");
  add("DISTANCE FLAG", "1");
  add("TIME FLAG", "0");
  add("DISTANCE INTERVAL", fmt::format("{:.15g}", step));
  add("ANTENNAS", fmt::format("{:.0f} MHz", line.nominal_frequency * 1e-6));
  add("ANTENNA SEPARATION", fmt::format("{:.15g}", line.separation));
  add("COMMENT", line.title);
  add("TIMEWINDOW", fmt::format("{:.15g}", line.dt * static_cast<double>(line.samples) * 1e9));
  add("STACKS", "1");
  add("LAST TRACE", fmt::format("{}", line.traces));
  const double start = line.positions.empty() ? 0 : line.positions.front();
  add("STOP POSITION", fmt::format("{:.15g}", start + step * static_cast<double>(line.traces - 1)));
  add("START POSITION", fmt::format("{:.15g}", start));
  made.header += own_lines(line, unit, ":");
  made.traces.resize(line.values.size() * sample_bytes);
  for (std::size_t i = 0; i < line.values.size(); ++i) {
    const auto count = static_cast<std::int32_t>(std::lround(line.values[i] / unit));
    if (sample_bytes == 2)
      store(made.traces, i * sample_bytes, static_cast<std::int16_t>(count), ByteOrder::little);
    else
      store(made.traces, i * sample_bytes, count, ByteOrder::little);
  }
  return made;
}

}  // namespace sonde::maxwell
