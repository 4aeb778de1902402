// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/io/netcdf_writer.h"

namespace sonde::neoclassical {

/// Throws Error(usage) unless the path ends in .nc, .h5 (.hdf5) or .npz, and like require_place(): before any work is
/// done.
void require_result_path(const std::string& path);

/// Writes the quantities by suffix, with the same names: .nc as NetCDF-4, .h5 as data sets at the root with their
/// attributes and the names of their axes, .npz with these as a text attributes_json. Uncompressed; the file appears
/// under its name when it is complete. Throws like require_result_path(), Error(io).
void write_result(const std::string& path, const NetcdfContents& contents);

/// The same of numbers by name: single ones as such, more of them as a line; with the units that there are, and texts.
void write_numbers(const std::string& path, const std::map<std::string, std::vector<double>>& numbers,
                   const std::map<std::string, std::string>& units = {},
                   const std::map<std::string, std::string>& texts = {});

/// A result read back from any of the three.
class ResultFile {
 public:
  /// The content determines the format. Throws Error(bad_file) when it is none of them or damaged.
  explicit ResultFile(const std::string& path);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool has(const std::string& name) const { return numbers_.contains(name) || texts_.contains(name); }
  /// Every quantity by name.
  [[nodiscard]] const std::map<std::string, std::vector<double>>& numbers() const { return numbers_; }
  /// What follows throws Error(bad_file) naming file and quantity when it is not there.
  [[nodiscard]] const std::vector<double>& numbers(const std::string& name) const;
  [[nodiscard]] double number(const std::string& name) const;
  [[nodiscard]] const std::string& text(const std::string& name) const;

 private:
  std::string path_;
  std::map<std::string, std::vector<double>> numbers_;
  std::map<std::string, std::string> texts_;
};

}  // namespace sonde::neoclassical
