// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sonde/engine/array/shape.h"
#include "sonde/engine/io/hdf5.h"

namespace sonde {

/// A data set whose elements are lists of integers of variable length (h5py's vlen_dtype), read list by list: opening
/// finds where each is (24 bytes a list), reading takes its bytes straight from the file. Lists are counted in C order.
/// A file may hold anything: what contradicts itself is Error(bad_file, "FILE: damaged: DATA SET: ..."), and nothing is
/// allocated for a size that the file does not hold. Const access is thread-safe.
class Hdf5IntegerLists {
 public:
  /// Nothing when elements are something else. Throws Error(bad_file) when there is no such data set.
  [[nodiscard]] static std::optional<Hdf5IntegerLists> open(const Hdf5File& file, const std::string& path);

  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] Index lists() const { return static_cast<Index>(first_.size()) - 1; }
  /// (lists + 1): list i has first()[i + 1] - first()[i] integers.
  [[nodiscard]] const std::vector<std::uint64_t>& first() const { return first_; }

  /// All integers of one list. Throws Error(bad_file) for one that is negative or beyond 32 bits.
  void read(Index list, std::span<std::uint32_t> integers) const;

 private:
  struct File;  // what keeps the file open, and how it stores an integer
  Shape shape_;
  std::vector<std::uint64_t> first_, address_;  // of the first integer; any where a list is empty
  std::shared_ptr<const File> file_;
};

}  // namespace sonde
