// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/io/hdf5.h"

namespace sonde {

/// classic: 64-bit offsets (CDF-2), elements i8, i16, i32, f32 and f64; the form in which equilibria are exchanged.
/// netcdf4: on HDF5, contiguous and uncompressed; for results.
enum class NetcdfFormat { classic, netcdf4 };

/// All that a NetCDF file is to hold, in the order of adding.
class NetcdfContents {
 public:
  using Attributes = std::vector<std::pair<std::string, Hdf5Value::Scalar>>;
  struct Variable {
    std::string name;                     ///< "D11", or with a group before it: "run/seconds" (NetCDF-4)
    std::vector<std::string> dimensions;  ///< one name per dimension of the values
    Array values{};
    std::optional<std::string> text{};  ///< in place of values
    Attributes attributes{};
  };

  /// A contiguous host array, whose shape says how long the dimensions are. Throws Error(internal) when a dimension has
  /// another length already, when their number is not the array's rank, or when the name is taken. What is returned
  /// lives until the next variable is added.
  Variable& add(std::string name, std::vector<std::string> dimensions, Array values);
  Variable& add(std::string name, double value);
  Variable& add(std::string name, std::int32_t value);
  Variable& add_text(std::string name, std::string text);
  /// An attribute of the file.
  void attribute(std::string name, Hdf5Value::Scalar value) {
    attributes_.emplace_back(std::move(name), std::move(value));
  }

  [[nodiscard]] const std::vector<Variable>& variables() const { return variables_; }
  [[nodiscard]] const std::vector<std::pair<std::string, Index>>& dimensions() const { return dimensions_; }
  [[nodiscard]] const Attributes& attributes() const { return attributes_; }

 private:
  Variable& insert(Variable variable);

  std::vector<std::pair<std::string, Index>> dimensions_;
  std::vector<Variable> variables_;
  Attributes attributes_;
};

/// Writes a file that appears under its name only when whole; equal contents give equal bytes. Throws Error(io) naming
/// the file when it cannot be written, Error(not_supported) for element types, empty dimensions and integers beyond 32
/// bits that the classic format does not have.
void write_netcdf(const std::string& path, const NetcdfContents& contents, NetcdfFormat format);

}  // namespace sonde
