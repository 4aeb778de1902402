// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "sonde/instruments/maxwell/field/field_line.h"
#include "sonde/instruments/maxwell/field/gprmax_line.h"
#include "sonde/instruments/maxwell/field/records_line.h"

namespace sonde::maxwell {

/// What a file holds.
enum class LineFile {
  field,   ///< a line in a field format
  line,    ///< a line as sonde stores it (line_contents())
  traces,  ///< the traces of a model as sonde stores them (traces_contents())
  gprmax,  ///< the traces of a model as gprMax stores them
  records  ///< of the shots of an experiment (ObservedData)
};
/// By its ending, and of HDF5 by its schema. Throws Error(bad_file) for other files.
[[nodiscard]] LineFile line_file(const std::string& path);
[[nodiscard]] inline bool has_runs(LineFile kind) { return kind == LineFile::traces || kind == LineFile::gprmax; }

/// What a user chooses of a file that has it.
struct LineChoice {
  std::optional<Component> component{};
  std::optional<Index> receiver{}, shot{};
  FieldReading reading{};

  [[nodiscard]] TracesChoice of_runs() const { return {.component = component, .receiver = receiver.value_or(0)}; }
  [[nodiscard]] RecordsChoice of_records() const {
    return {.component = component, .shot = shot.value_or(0), .receiver = receiver};
  }
};

/// Of a file with runs.
[[nodiscard]] GprmaxOutput read_model_traces(const std::string& path);
/// Of any of them.
[[nodiscard]] FieldLine read_line(const std::string& path, const LineChoice& choice);

}  // namespace sonde::maxwell
