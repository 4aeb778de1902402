// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sonde/instruments/maxwell/read/gprmax_model.h"

namespace sonde::maxwell {

/// A result file of gprMax (user guide, "Output data"), in the axes of its input.
struct GprmaxOutput {
  struct Source {
    std::string type;  ///< "HertzianDipole", "MagneticDipole", "VoltageSource"
    Xyz position{};    ///< m
  };
  struct Receiver {
    std::string name;
    Xyz position{};                                   ///< m
    std::map<Component, std::vector<double>> fields;  ///< [iterations], or [iterations][runs]; V/m and A/m
  };
  std::string title;
  Index iterations = 0;
  Index runs = 0;  ///< 0: one run, whose fields have one dimension; else those of a merged file
  double dt = 0;   ///< s; sample n of E is at n dt, of H at (n - 1/2) dt
  XyzIndex cells{};
  Xyz spacing{};
  XyzIndex src_steps{}, rx_steps{};  ///< cells per run
  std::vector<Source> sources{};
  std::vector<Receiver> receivers{};
};

/// Of a run, with the fields all zero.
[[nodiscard]] GprmaxOutput empty_output(const GprmaxModel& model, const GprmaxAcquisition& run);

/// The runs of a B-scan side by side, with the positions of the first. Throws Error(bad_input) for runs that differ in
/// iterations, dt, receivers or components.
[[nodiscard]] GprmaxOutput merged(const std::vector<GprmaxOutput>& runs);

/// Writes HDF5 as gprMax 3.1 does, fields as float32; the file appears under its name when it is complete. Throws like
/// Hdf5Writer.
void write_gprmax_output(const std::string& path, const GprmaxOutput& output);
/// Reads files of gprMax 3.0 and later, merged ones too, and ours. Names and positions that a file lacks stay empty.
/// Throws Error(bad_file) naming what is missing or has another shape.
[[nodiscard]] GprmaxOutput read_gprmax_output(const std::string& path);

}  // namespace sonde::maxwell
