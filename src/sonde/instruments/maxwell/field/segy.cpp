// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/setting.h"
#include "sonde/engine/base/version.h"
#include "sonde/instruments/maxwell/field/field_bytes.h"
#include "sonde/instruments/maxwell/field/field_formats.h"
#include "sonde/instruments/maxwell/field/header_text.h"
#include "sonde/instruments/maxwell/field/trace_records.h"

namespace sonde::maxwell {
namespace {

constexpr std::size_t text_bytes = 3200, segy_file_bytes = 3600, segy_trace_bytes = 240;
constexpr std::size_t text_lines = 40, text_line_bytes = 80;
constexpr double millimetre = 1e-3, picosecond = 1e-12, nanosecond = 1e-9;
constexpr const char* own_mark = "WRITTEN BY SONDE";

/// Code page 37 of the letters from the space to the tilde.
constexpr std::array<unsigned char, 95> ebcdic{
    0x40, 0x5a, 0x7f, 0x7b, 0x5b, 0x6c, 0x50, 0x7d, 0x4d, 0x5d, 0x5c, 0x4e, 0x6b, 0x60, 0x4b, 0x61, 0xf0, 0xf1, 0xf2,
    0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9, 0x7a, 0x5e, 0x4c, 0x7e, 0x6e, 0x6f, 0x7c, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5,
    0xc6, 0xc7, 0xc8, 0xc9, 0xd1, 0xd2, 0xd3, 0xd4, 0xd5, 0xd6, 0xd7, 0xd8, 0xd9, 0xe2, 0xe3, 0xe4, 0xe5, 0xe6, 0xe7,
    0xe8, 0xe9, 0xba, 0xe0, 0xbb, 0xb0, 0x6d, 0x79, 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x91, 0x92,
    0x93, 0x94, 0x95, 0x96, 0x97, 0x98, 0x99, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xc0, 0x4f, 0xd0, 0xa1};

std::byte to_ebcdic(char letter) {
  const int at = letter - ' ';
  return static_cast<std::byte>(at >= 0 && at < 95 ? ebcdic[static_cast<std::size_t>(at)] : ebcdic['?' - ' ']);
}

/// The text header in lines, without the "C 1 " that each begins with; it is EBCDIC where the first letter is.
std::string text_header(Bytes bytes) {
  const bool coded = bytes[0] == to_ebcdic('C');
  std::string made;
  for (std::size_t i = 0; i < text_bytes; ++i) {
    if (i % text_line_bytes == 0) made += '\n';
    if (i % text_line_bytes < 4) continue;
    const auto code = static_cast<unsigned char>(bytes[i]);
    const auto* found = std::find(ebcdic.begin(), ebcdic.end(), code);
    made += !coded                  ? static_cast<char>(code)
            : found == ebcdic.end() ? ' '
                                    : static_cast<char>(' ' + (found - ebcdic.begin()));
  }
  return made;
}

/// Hexadecimal floating point of System/360: sign, 7 bits of an exponent of 16, 24 bits of a fraction.
double ibm_float(std::uint32_t word) {
  const double fraction = static_cast<double>(word & 0xffffffU);
  const int exponent = 4 * (static_cast<int>((word >> 24U) & 0x7fU) - 64) - 24;
  return ((word >> 31U) != 0 ? -1 : 1) * std::ldexp(fraction, exponent);
}

std::size_t bytes_of_format(int format) {
  switch (format) {
    case 1:
    case 2:
    case 5:
      return 4;
    case 3:
      return 2;
    case 8:
      return 1;
    default:
      return 0;
  }
}

double segy_sample(Bytes bytes, std::size_t at, int format) {
  switch (format) {
    case 1:
      return ibm_float(load<std::uint32_t>(bytes, at, ByteOrder::big));
    case 2:
      return load<std::int32_t>(bytes, at, ByteOrder::big);
    case 3:
      return load<std::int16_t>(bytes, at, ByteOrder::big);
    case 5:
      return load<float>(bytes, at, ByteOrder::big);
    default:
      return load<std::int8_t>(bytes, at, ByteOrder::big);
  }
}

/// Numbers of a header by the place that the standard gives them, from 1.
class SegyHeader {
 public:
  SegyHeader(Bytes bytes, std::size_t first) : bytes_(bytes), first_(first) {}
  [[nodiscard]] int two(std::size_t place) const {
    return load<std::int16_t>(bytes_, first_ + place - 1, ByteOrder::big);
  }
  /// Counts and intervals above 32767 are met as well.
  [[nodiscard]] Index two_unsigned(std::size_t place) const {
    return load<std::uint16_t>(bytes_, first_ + place - 1, ByteOrder::big);
  }
  [[nodiscard]] double four(std::size_t place) const {
    return load<std::int32_t>(bytes_, first_ + place - 1, ByteOrder::big);
  }
  /// Of a coordinate, whose scale is a factor, or below 0 a divisor.
  [[nodiscard]] double scaled(std::size_t place) const {
    const int scale = two(71);
    return scale > 0 ? four(place) * scale : scale < 0 ? four(place) / -scale : four(place);
  }

 private:
  Bytes bytes_;
  std::size_t first_;
};

struct Place {
  double x = 0, y = 0;
};

/// The middle of source and receiver, by what the headers have of it.
Place middle_of(const SegyHeader& header) {
  const Place middle{header.scaled(181), header.scaled(185)};
  if (middle.x != 0 || middle.y != 0) return middle;
  return {(header.scaled(73) + header.scaled(81)) / 2, (header.scaled(77) + header.scaled(85)) / 2};
}

/// Along a line with one y its x; else the way from the first trace. Empty where no trace has a place.
std::vector<double> along(const std::vector<Place>& places, double unit) {
  const bool known = std::any_of(places.begin(), places.end(), [](const Place& at) { return at.x != 0 || at.y != 0; });
  if (!known) return {};
  const bool straight =
      std::all_of(places.begin(), places.end(), [&](const Place& at) { return at.y == places.front().y; });
  std::vector<double> made;
  double way = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (i > 0) way += std::hypot(places[i].x - places[i - 1].x, places[i].y - places[i - 1].y);
    made.push_back(unit * (straight ? places[i].x : way));
  }
  return made;
}

/// What our own files have in their text header beyond the numbers of the binary ones.
void take_text(Bytes bytes, const std::string& name, FieldLine& line) {
  const std::string text = text_header(bytes);
  if (text.find(own_mark) == std::string::npos) return;
  const HeaderText header(text, ':', name);
  if (header.text("SAMPLE INTERVAL NS")) line.dt = header.above_zero("SAMPLE INTERVAL NS") * nanosecond;
  line.nominal_frequency = header.number("NOMINAL FREQUENCY MHZ").value_or(0) * 1e6;
  line.separation = header.number("ANTENNA SEPARATION M").value_or(line.separation);
  take_own_lines(header, line);
}

void require_holds(const FieldLine& line) {
  const auto bad = [](const std::string& what) { return Error(ErrorKind::bad_input, "SEG-Y: " + what); };
  if (line.samples > 32767) throw bad(fmt::format("{} samples of a trace; a file holds up to 32767", line.samples));
  if (line.dt < picosecond / 2 || line.dt > 32767 * picosecond)
    throw bad(fmt::format("a sample interval of {:g} s; a file holds 1 to 32767 ps", line.dt))
        .hint(setting("resample") + " makes another one");
  for (const double position : line.positions)
    if (std::abs(position) + std::abs(line.separation) > 2e6)
      throw bad(fmt::format("a position of {:g} m; a file holds up to 2000 km", position));
}

/// 40 lines of 80 letters.
std::vector<std::byte> text_of(const FieldLine& line) {
  std::string keys = fmt::format(
                         "{} {}\r\nTITLE: {}\r\nSAMPLE INTERVAL NS: {:.15g}\r\nNOMINAL FREQUENCY MHZ: {:.15g}\r\n"
                         "ANTENNA SEPARATION M: {:.15g}\r\nTIMES ARE IN PS (SAMPLE INTERVAL) AND NS (DELAY)\r\n",
                         own_mark, build_info().version, line.title, line.dt / nanosecond,
                         line.nominal_frequency * 1e-6, line.separation) +
                     own_lines(line, 1, ": ");
  std::vector<std::byte> made(text_bytes, to_ebcdic(' '));
  for (std::size_t i = 0; i < text_lines; ++i) {
    std::string words = keys.substr(0, keys.find("\r\n"));
    keys.erase(0, std::min(keys.size(), words.size() + 2));
    if (i + 2 == text_lines) words = "SEG Y REV1";
    if (i + 1 == text_lines) words = "END TEXTUAL HEADER";
    const std::string whole = fmt::format("C{:>2} {}", i + 1, words).substr(0, text_line_bytes);
    std::transform(whole.begin(), whole.end(), made.begin() + static_cast<std::ptrdiff_t>(i * text_line_bytes),
                   to_ebcdic);
  }
  return made;
}

}  // namespace

FieldLine parse_segy(Bytes bytes, const std::string& name, const FieldReading& reading) {
  const auto bad = [&name](const std::string& what) { return Error(ErrorKind::bad_file, name + ": " + what); };
  if (bytes.size() < segy_file_bytes + segy_trace_bytes)
    throw bad(fmt::format("{} bytes; a SEG-Y file has {} before its first sample", bytes.size(),
                          segy_file_bytes + segy_trace_bytes));
  const SegyHeader file(bytes, 0);
  const int format = file.two(3225), more_text = file.two(3505);
  const std::size_t sample_bytes = bytes_of_format(format);
  if (sample_bytes == 0)
    throw Error((format >= 1 && format <= 16) ? ErrorKind::not_supported : ErrorKind::bad_file,
                fmt::format("{}: samples of format {}; 1, 2, 3, 5 and 8 are read", name, format));
  if (more_text < 0) throw Error(ErrorKind::not_supported, name + ": text headers without their number are not read");
  TraceRecords records{
      .name = name, .first = segy_file_bytes + text_bytes * static_cast<std::size_t>(more_text), .file = bytes.size()};
  if (records.first + segy_trace_bytes > bytes.size())
    throw bad(fmt::format("cut off in its {} further text headers", more_text));
  const SegyHeader first(bytes, records.first);
  FieldLine line{.format = "SEG-Y", .samples = file.two_unsigned(3221)};
  if (line.samples == 0) line.samples = first.two_unsigned(115);
  if (line.samples == 0) throw bad("0 samples of a trace; expected at least 1");
  const Index interval = file.two_unsigned(3217) != 0 ? file.two_unsigned(3217) : first.two_unsigned(117);
  if (interval == 0) throw bad("a sample interval of 0; expected at least 1");
  line.dt = static_cast<double>(interval) * picosecond;
  line.time_zero = first.two(109) == 0 ? 0 : -first.two(109) * nanosecond;
  records.record = segy_trace_bytes + sample_bytes * static_cast<std::size_t>(line.samples);
  line.traces = whole_traces(records, reading, line);
  line.values.resize(static_cast<std::size_t>(line.traces * line.samples));
  std::vector<Place> places;
  for (Index i = 0; i < line.traces; ++i) {
    const std::size_t at = records.first + records.record * static_cast<std::size_t>(i);
    const SegyHeader header(bytes, at);
    if (const Index own = header.two_unsigned(115); own != 0 && own != line.samples)
      throw bad(
          fmt::format("trace {} has {} samples, the file header says {}; expected the same", i + 1, own, line.samples));
    places.push_back(middle_of(header));
    for (Index n = 0; n < line.samples; ++n)
      line.trace(i)[n] = static_cast<float>(
          segy_sample(bytes, at + segy_trace_bytes + sample_bytes * static_cast<std::size_t>(n), format));
  }
  const double unit = file.two(3255) == 2 ? 0.3048 : 1;
  if (first.two(89) > 1)
    line.warnings.push_back(name + ": places in degrees, so the traces have no positions");
  else
    line.positions = along(places, unit);
  line.separation = unit * std::hypot(first.scaled(81) - first.scaled(73), first.scaled(85) - first.scaled(77));
  take_text(bytes, name, line);
  require_finite(line, name);
  return line;
}

WrittenField segy_of(const FieldLine& line) {
  require_holds(line);
  WrittenField made{.traces = text_of(line)};
  const std::size_t record = segy_trace_bytes + sizeof(float) * static_cast<std::size_t>(line.samples);
  made.traces.resize(segy_file_bytes + record * static_cast<std::size_t>(line.traces));
  std::size_t header = 0;
  const auto two = [&](std::size_t place, Index value) {
    store(made.traces, header + place - 1, static_cast<std::int16_t>(value), ByteOrder::big);
  };
  const auto four = [&](std::size_t place, double value) {
    store(made.traces, header + place - 1, static_cast<std::int32_t>(std::lround(value)), ByteOrder::big);
  };
  const auto interval = static_cast<Index>(std::max(1.0, std::round(line.dt / picosecond)));
  two(3213, 1);
  for (const std::size_t place : {std::size_t{3217}, std::size_t{3219}}) two(place, interval);
  for (const std::size_t place : {std::size_t{3221}, std::size_t{3223}}) two(place, line.samples);
  two(3225, 5);      // IEEE
  two(3255, 1);      // metres
  two(3501, 0x100);  // revision 1.0
  two(3503, 1);      // all traces have one length
  const double delay = std::clamp(std::round(-line.time_zero / nanosecond), -32768.0, 32767.0);
  for (Index i = 0; i < line.traces; ++i) {
    header = segy_file_bytes + record * static_cast<std::size_t>(i);
    for (const std::size_t place : {std::size_t{1}, std::size_t{5}, std::size_t{13}, std::size_t{21}})
      four(place, static_cast<double>(i + 1));
    four(9, 1);
    two(29, 1);  // live data
    four(37, line.separation);
    two(71, -1000);  // places are in mm
    if (!line.positions.empty()) {
      const double middle = line.positions[static_cast<std::size_t>(i)];
      four(73, (middle - line.separation / 2) / millimetre);
      four(81, (middle + line.separation / 2) / millimetre);
      four(181, middle / millimetre);
    }
    two(89, 1);
    two(109, static_cast<Index>(delay));
    two(115, line.samples);
    two(117, interval);
    for (Index n = 0; n < line.samples; ++n)
      store(made.traces, header + segy_trace_bytes + sizeof(float) * static_cast<std::size_t>(n), line.trace(i)[n],
            ByteOrder::big);
  }
  return made;
}

}  // namespace sonde::maxwell
