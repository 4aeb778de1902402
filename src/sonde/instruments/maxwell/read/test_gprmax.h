// SPDX-License-Identifier: Apache-2.0
// For tests: small input files.
#pragma once

#include <string>

#include "sonde/instruments/maxwell/read/gprmax_input.h"

namespace sonde::maxwell::testing {

/// Seven lines: 40 x 40 x 40 cells of 1 mm.
inline const std::string block =
    "#title: A block\n"
    "#domain: 0.04 0.04 0.04\n"
    "#dx_dy_dz: 0.001 0.001 0.001\n"
    "#time_window: 1e-9\n"
    "#pml_cells: 2\n"
    "#material: 6 0.01 1 0 soil\n"
    "#waveform: ricker 1 1e9 w\n";

/// The same with one part replaced.
inline std::string changed(const std::string& part, const std::string& by) {
  std::string text = block;
  return text.replace(text.find(part), part.size(), by);
}

inline GprmaxInput input_of(const std::string& text) {
  return parse_gprmax_input(text, "model.in", [](const std::string& path) -> std::string {
    throw Error(ErrorKind::bad_file, path + ": no such file");
  });
}

}  // namespace sonde::maxwell::testing
