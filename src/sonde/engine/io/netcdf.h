// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/io/hdf5.h"

namespace sonde {

/// A NetCDF file opened for reading. Classic files (CDF-1, 64-bit offsets, CDF-5) are read here, without the lock of a
/// library, and a file that was cut off is an error (the NetCDF library gives zeros for what is missing); NetCDF-4
/// files are read through HDF5, the variables of the root group only. Thread-safe.
class NetcdfFile {
 public:
  /// Throws Error(bad_file) when the file is missing, is no NetCDF file or has a damaged header, Error(io) when it may
  /// not be read.
  static NetcdfFile open(const std::string& path);

  [[nodiscard]] const std::string& path() const;
  /// In alphabetical order.
  [[nodiscard]] std::vector<std::string> variables() const;
  [[nodiscard]] bool has(const std::string& variable) const;
  /// The length of a dimension; unlimited ones of NetCDF-4 files are not known.
  [[nodiscard]] std::optional<Index> dimension(const std::string& name) const;
  /// Of a variable, or of the file itself when `variable` is empty.
  [[nodiscard]] std::optional<Hdf5Value> attribute(const std::string& variable, const std::string& name) const;

  /// What follows throws Error(bad_file) naming file and variable: when there is no such variable (with the nearest
  /// names), when the file ends before it does, and where its shape or type is not what is asked for; Error(io) when
  /// the device fails.

  [[nodiscard]] Shape shape(const std::string& variable) const;
  /// Nothing for characters and for what are no numbers.
  [[nodiscard]] std::optional<DType> element_type(const std::string& variable) const;
  /// The names of its dimensions; empty ones, or none at all, where a NetCDF-4 file does not say them.
  [[nodiscard]] std::vector<std::string> dimensions(const std::string& variable) const;
  /// All elements as a host array of the stored type, in native byte order. Characters are u8, the last dimension
  /// their length.
  [[nodiscard]] Array read(const std::string& variable) const;
  /// All elements of a numeric variable as double, last index fastest; of this shape when one is given.
  [[nodiscard]] std::vector<double> numbers(const std::string& variable,
                                            const std::optional<Shape>& expected = std::nullopt) const;
  /// A variable of one element.
  [[nodiscard]] double number(const std::string& variable) const;
  [[nodiscard]] Index integer(const std::string& variable) const;
  /// Characters, without the blanks and zeros at their end.
  [[nodiscard]] std::string text(const std::string& variable) const;

 private:
  struct Contents;
  explicit NetcdfFile(std::shared_ptr<const Contents> contents) : contents_(std::move(contents)) {}

  std::shared_ptr<const Contents> contents_;
};

}  // namespace sonde
