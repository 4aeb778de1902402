// SPDX-License-Identifier: Apache-2.0
// `sonde maxwell` in a folder of its own, with a small model of gprMax.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "tests/cli/instrument_program.h"

namespace sonde::testing {

/// A line source above sand: 60 x 60 cells of 5 mm, 340 steps; 10 cells per wavelength at the highest frequency.
inline std::string sand_model(const std::string& more = "") {
  return "#title: A rod in sand\n"
         "#domain: 0.300 0.300 0.005\n"
         "#dx_dy_dz: 0.005 0.005 0.005\n"
         "#time_window: 4e-9\n"
         "#material: 4 0.001 1 0 sand\n"
         "#box: 0 0 0 0.300 0.150 0.005 sand\n"
         "#cylinder: 0.15 0.1 0 0.15 0.1 0.005 0.01 pec\n"
         "#waveform: ricker 1 1e9 pulse\n"
         "#hertzian_dipole: z 0.100 0.200 0 pulse\n"
         "#rx: 0.150 0.200 0\n"
         "#src_steps: 0.010 0 0\n"
         "#rx_steps: 0.010 0 0\n" +
         more;
}

class MaxwellProgram : public InstrumentProgram {
 protected:
  MaxwellProgram() : InstrumentProgram("maxwell") {}

  /// Writes a model and returns its path.
  [[nodiscard]] std::string model(const std::string& text = sand_model(), const std::string& name = "model.in") const {
    std::ofstream(file(name)) << text;
    return file(name);
  }
};

}  // namespace sonde::testing
