// SPDX-License-Identifier: Apache-2.0
// Private to the room: the field formats as bytes. `name` begins messages. All throw Error(bad_file) for bytes that
// contradict themselves, that are cut off (unless that is allowed) and that make no line, Error(not_supported) for
// variants that are not read; nothing is allocated that the bytes do not fill.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sonde/instruments/maxwell/field/field_line.h"

namespace sonde::maxwell {

using Bytes = std::span<const std::byte>;

/// Formats of two files: a header as text, and the traces.
struct HeaderAndTraces {
  std::string_view header;
  std::string header_name;
  Bytes traces;
  std::string traces_name;
};
struct WrittenField {
  std::string header{};
  std::vector<std::byte> traces{};
};

/// GSSI DZT (RADAN): a header of 1024 bytes for each channel, little endian; then scans of all channels in turn, of 8
/// or 16 bits unsigned, whose middle is 0 here, or of 32 bits signed. The first two samples of a scan are counters: 0
/// here. Time zero is that of rhf_position, the time of the first sample.
[[nodiscard]] FieldLine parse_dzt(Bytes bytes, const std::string& name, const FieldReading& reading);

/// Sensors & Software pulseEKKO: .HD with lines `KEY = value`, .DT1 with 25 float32 values and a comment of 28 bytes
/// before the int16 samples of a trace, little endian. Positions are those of the traces.
[[nodiscard]] FieldLine parse_dt1(const HeaderAndTraces& files, const FieldReading& reading);
[[nodiscard]] WrittenField dt1_of(const FieldLine& line);

/// MALA RAMAC: .rad with lines `KEY:value`, samples of int16 (.rd3) or int32 (.rd7), little endian, and nothing
/// between.
[[nodiscard]] FieldLine parse_mala(const HeaderAndTraces& files, std::size_t sample_bytes, const FieldReading& reading);
[[nodiscard]] WrittenField mala_of(const FieldLine& line, std::size_t sample_bytes);

/// SEG-Y revision 1 of fixed trace length (Norris and Faichney 2002), big endian, samples of formats 1 (IBM), 2, 3, 5
/// (IEEE) and 8; read by this file and no library, so that damaged files end in an error. As radar files have it, times
/// are 10^6 times those of the standard: the sample interval is in ps and the delay in ns. Written as format 5, with
/// places in mm and, for what the binary headers round, the text header.
[[nodiscard]] FieldLine parse_segy(Bytes bytes, const std::string& name, const FieldReading& reading);
/// The whole file in `traces`. Throws Error(bad_input) for lines that the format cannot hold.
[[nodiscard]] WrittenField segy_of(const FieldLine& line);

}  // namespace sonde::maxwell
