// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/field/field_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/io/file.h"
#include "sonde/engine/io/output_ending.h"
#include "sonde/instruments/maxwell/field/field_formats.h"
#include "sonde/instruments/maxwell/field/header_text.h"

namespace sonde::maxwell {
namespace {

namespace fs = std::filesystem;

/// A format of two files: either may be named.
struct Pair {
  std::string traces, header;
};

/// The same name with another ending, in capitals where its own is.
std::string with_ending(const std::string& path, const std::string& ending) {
  fs::path made(path);
  const std::string own = made.extension().string();
  const bool capitals = own.size() > 1 && own[1] >= 'A' && own[1] <= 'Z';
  return made.replace_extension(capitals ? in_capitals(ending) : ending).string();
}

/// The file beside this one with one of these endings, in either case.
std::optional<std::string> beside(const std::string& path, const std::vector<std::string>& endings) {
  for (const std::string& ending : endings)
    for (const std::string& each : {with_ending(path, ending), fs::path(path).replace_extension(ending).string(),
                                    fs::path(path).replace_extension(in_capitals(ending)).string()}) {
      std::error_code ignored;
      if (fs::exists(each, ignored)) return each;
    }
  return std::nullopt;
}

std::vector<std::byte> bytes_of(const std::string& path) {
  const File file(path);
  std::vector<std::byte> bytes(file.size());
  file.read_at(0, bytes);
  return bytes;
}

/// Of a format whose header is a text.
template <class Parse>
FieldLine read_pair(const std::string& path, const std::vector<std::string>& traces, const std::string& header,
                    Parse parse) {
  const bool header_named = output_ending(path) == header;
  const auto other = beside(path, header_named ? traces : std::vector{header});
  (void)File(path);
  if (!other)
    throw Error(ErrorKind::bad_file,
                fmt::format("{}: no {} beside it", path,
                            with_ending(fs::path(path).filename().string(), header_named ? traces.front() : header)));
  const Pair pair = header_named ? Pair{*other, path} : Pair{path, *other};
  const std::string text = read_text(pair.header);
  const std::vector<std::byte> bytes = bytes_of(pair.traces);
  return parse({.header = text, .header_name = pair.header, .traces = bytes, .traces_name = pair.traces});
}

FieldLine read_by_ending(const std::string& path, const FieldReading& reading) {
  const std::string ending = output_ending(path);
  if (ending == ".dzt") return parse_dzt(bytes_of(path), path, reading);
  if (ending == ".sgy" || ending == ".segy") return parse_segy(bytes_of(path), path, reading);
  if (ending == ".dt1" || ending == ".hd")
    return read_pair(path, {".dt1"}, ".hd", [&](const HeaderAndTraces& files) { return parse_dt1(files, reading); });
  if (ending == ".rd3" || ending == ".rd7" || ending == ".rad")
    return read_pair(path, {".rd3", ".rd7"}, ".rad", [&](const HeaderAndTraces& files) {
      return parse_mala(files, output_ending(files.traces_name) == ".rd3" ? 2 : 4, reading);
    });
  throw Error(ErrorKind::bad_file,
              fmt::format("{}: no field format; expected .dzt, .dt1, .hd, .rd3, .rd7, .rad, .sgy or .segy", path));
}

void write_bytes(AtomicFile& file, const std::string& header, const std::vector<std::byte>& bytes) {
  if (!header.empty()) file.write(header);
  if (!bytes.empty()) file.write(bytes);
  file.close();
}

}  // namespace

bool is_field_file(const std::string& path) {
  const std::vector<std::string> known{".dzt", ".dt1", ".hd", ".rd3", ".rd7", ".rad", ".sgy", ".segy"};
  return std::find(known.begin(), known.end(), output_ending(path)) != known.end();
}

FieldLine read_field_line(const std::string& path, const FieldReading& reading) {
  FieldLine line = read_by_ending(path, reading);
  if (reading.channel > line.channels)
    throw Error(ErrorKind::bad_input, fmt::format("channel {}; {} has {}", reading.channel, path, line.channels));
  line.title = fs::path(path).stem().string();
  return line;
}

const std::vector<std::string>& written_field_endings() {
  static const std::vector<std::string> endings{".dt1", ".rd3", ".rd7", ".sgy", ".segy"};
  return endings;
}

std::vector<std::string> field_files_of(const std::string& path) {
  const std::string ending = output_ending(path);
  if (ending == ".dt1") return {path, with_ending(path, ".hd")};
  if (ending == ".rd3" || ending == ".rd7") return {path, with_ending(path, ".rad")};
  return {path};
}

void write_field_line(const std::string& path, const FieldLine& line) {
  const std::string ending = require_ending(path, "field lines", written_field_endings());
  const WrittenField made = ending == ".dt1"   ? dt1_of(line)
                            : ending == ".rd3" ? mala_of(line, 2)
                            : ending == ".rd7" ? mala_of(line, 4)
                                               : segy_of(line);
  const std::vector<std::string> names = field_files_of(path);
  AtomicFile traces(names[0]);
  write_bytes(traces, "", made.traces);
  if (names.size() == 1) return traces.commit();
  AtomicFile header(names[1]);
  write_bytes(header, made.header, {});
  header.commit();
  traces.commit();
}

}  // namespace sonde::maxwell
