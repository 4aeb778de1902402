// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/printable.h"
#include "sonde/engine/base/text.h"
#include "sonde/instruments/maxwell/field/field_bytes.h"
#include "sonde/instruments/maxwell/field/field_formats.h"
#include "sonde/instruments/maxwell/field/trace_records.h"

namespace sonde::maxwell {
namespace {

constexpr std::size_t dzt_header_bytes = 1024;
constexpr Index dzt_counters = 2;  // first samples of a scan, which are none

/// Where the numbers of a header are (GSSI, RADAN manual, "File header format").
struct DztHeader {
  Index data, samples, bits, channels;
  double scans_per_metre, position_ns, range_ns;
  std::string antenna;

  DztHeader(Bytes bytes, std::size_t from)
      : data(load<std::uint16_t>(bytes, from + 2, ByteOrder::little)),
        samples(load<std::uint16_t>(bytes, from + 4, ByteOrder::little)),
        bits(load<std::uint16_t>(bytes, from + 6, ByteOrder::little)),
        channels(load<std::uint16_t>(bytes, from + 52, ByteOrder::little)),
        scans_per_metre(load<float>(bytes, from + 14, ByteOrder::little)),
        position_ns(load<float>(bytes, from + 22, ByteOrder::little)),
        range_ns(load<float>(bytes, from + 26, ByteOrder::little)) {
    for (std::size_t i = 98; i < 112 && bytes[from + i] != std::byte{0}; ++i)
      antenna += static_cast<char>(bytes[from + i]);
    antenna = printable(trim(antenna));
  }
};

/// Of a name that gives it: "400MHz". Others are order numbers.
double frequency_of_model(const std::string& antenna) {
  double megahertz = 0;
  const auto [end, status] = std::from_chars(antenna.data(), antenna.data() + antenna.size(), megahertz);
  if (status != std::errc() || to_lower(trim(end)) != "mhz" || !(megahertz > 0 && megahertz < 1e6)) return 0;
  return megahertz * 1e6;
}

float dzt_sample(Bytes bytes, std::size_t at, Index bits) {
  if (bits == 8) return static_cast<float>(load<std::uint8_t>(bytes, at, ByteOrder::little)) - 128.0F;
  if (bits == 16) return static_cast<float>(load<std::uint16_t>(bytes, at, ByteOrder::little)) - 32768.0F;
  return static_cast<float>(load<std::int32_t>(bytes, at, ByteOrder::little));
}

}  // namespace

FieldLine parse_dzt(Bytes bytes, const std::string& name, const FieldReading& reading) {
  const auto bad = [&name](const std::string& what) { return Error(ErrorKind::bad_file, name + ": " + what); };
  if (bytes.size() < dzt_header_bytes)
    throw bad(fmt::format("{} bytes; the header of a DZT file has {}", bytes.size(), dzt_header_bytes));
  const DztHeader first(bytes, 0);
  if (first.channels < 1 || first.channels > 16)
    throw bad(fmt::format("{} channels; expected 1 to 16", first.channels));
  if (first.bits != 8 && first.bits != 16 && first.bits != 32)
    throw bad(fmt::format("samples of {} bits; expected 8, 16 or 32", first.bits));
  if (first.samples <= dzt_counters) throw bad(fmt::format("{} samples in a scan; expected at least 3", first.samples));
  if (reading.channel < 1 || reading.channel > first.channels)
    throw Error(ErrorKind::bad_input, fmt::format("channel {}; {} has {}", reading.channel, name, first.channels));
  const auto channels = static_cast<std::size_t>(first.channels),
             chosen = static_cast<std::size_t>(reading.channel - 1);
  if (bytes.size() < channels * dzt_header_bytes)
    throw bad(fmt::format("cut off in the headers of its {} channels", channels));
  const DztHeader header(bytes, chosen * dzt_header_bytes);
  if (header.samples != first.samples || header.bits != first.bits)
    throw bad(fmt::format("channel {} has {} samples of {} bits, channel 1 has {} of {}; expected the same",
                          reading.channel, header.samples, header.bits, first.samples, first.bits));
  if (!(header.range_ns > 0) || !(header.range_ns < 1e6))
    throw bad(fmt::format("a range of {:g} ns; expected above 0", header.range_ns));
  if (!(std::abs(header.position_ns) < 1e6))
    throw bad(fmt::format("a first sample at {:g} ns; expected a time", header.position_ns));
  if (!(header.scans_per_metre >= 0 && header.scans_per_metre < 1e6))
    throw bad(fmt::format("{:g} scans per metre; expected 0 or more", header.scans_per_metre));

  FieldLine line{.format = "GSSI DZT", .samples = header.samples};
  const auto sample_bytes = static_cast<std::size_t>(header.bits / 8),
             samples = static_cast<std::size_t>(header.samples);
  // A small number counts headers, not bytes.
  const std::size_t data = static_cast<std::size_t>(first.data) * (first.data < 1024 ? dzt_header_bytes : 1);
  const TraceRecords records{.name = name,
                             .first = std::max(data, channels * dzt_header_bytes),
                             .record = channels * samples * sample_bytes,
                             .file = bytes.size()};
  line.traces = whole_traces(records, reading, line);
  line.values.resize(static_cast<std::size_t>(line.traces * line.samples));
  for (Index i = 0; i < line.traces; ++i) {
    const std::size_t at = records.first + (static_cast<std::size_t>(i) * channels + chosen) * samples * sample_bytes;
    for (std::size_t n = dzt_counters; n < samples; ++n)
      line.trace(i)[n] = dzt_sample(bytes, at + n * sample_bytes, header.bits);
  }
  line.dt = header.range_ns * 1e-9 / static_cast<double>(header.samples);
  line.time_zero = header.position_ns == 0 ? 0 : -header.position_ns * 1e-9;
  if (header.scans_per_metre > 0)
    line.positions = even_positions(line.traces, 0, 1 / header.scans_per_metre);
  else
    line.warnings.push_back(name + ": no scans per metre, so the traces have no positions");
  line.nominal_frequency = frequency_of_model(header.antenna);
  line.channel = reading.channel;
  line.channels = first.channels;
  return line;
}

}  // namespace sonde::maxwell
