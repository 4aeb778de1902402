// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/field/line_files.h"

#include <fmt/format.h>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/hdf5.h"
#include "sonde/engine/io/output_ending.h"
#include "sonde/instruments/maxwell/field/field_files.h"
#include "sonde/instruments/maxwell/field/line_contents.h"
#include "sonde/instruments/maxwell/read/native_model.h"

namespace sonde::maxwell {
namespace {

constexpr const char* what_is_read =
    "traces are in files of gprMax (.out), of `sonde maxwell run` and `convert` (.h5) and of field formats (.dzt, "
    ".dt1, "
    ".rd3, .rd7, .sgy); `plot` also draws frames (.h5) and models of gprMax (.in)";

/// Of an HDF5 file; empty without one.
std::string text_attribute(const std::string& path, const char* name) {
  try {
    const auto value = Hdf5File::open(path).attribute("/", name);
    return value ? value->text().value_or("") : "";
  } catch (Error& error) {
    if (error.hint().empty() && error.message().ends_with("not an HDF5 file")) error.hint(what_is_read);
    throw;
  }
}

}  // namespace

LineFile line_file(const std::string& path) {
  if (is_field_file(path)) return LineFile::field;
  const std::string schema = text_attribute(path, "schema");
  if (schema == line_schema) return LineFile::line;
  if (schema == traces_schema) return LineFile::traces;
  if (output_ending(path) == ".out") return LineFile::gprmax;
  if (text_attribute(path, "format") == native_format) return LineFile::records;
  throw Error(ErrorKind::bad_file, fmt::format("{}: {}; expected traces of gprMax or of sonde, or a field format", path,
                                               schema.empty() ? "no attribute schema" : "a file of " + schema))
      .hint(what_is_read);
}

GprmaxOutput read_model_traces(const std::string& path) {
  return line_file(path) == LineFile::gprmax ? read_gprmax_output(path) : read_traces(path);
}

FieldLine read_line(const std::string& path, const LineChoice& choice) {
  const LineFile kind = line_file(path);
  if (kind == LineFile::field) return read_field_line(path, choice.reading);
  if (kind == LineFile::line) return read_line_contents(path);
  if (kind == LineFile::records) return line_of(read_observed_data(path), choice.of_records());
  return line_of(read_model_traces(path), choice.of_runs());
}

}  // namespace sonde::maxwell
