// SPDX-License-Identifier: Apache-2.0
// One group of a result file, read with the distrust that a file from elsewhere needs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sonde/engine/array/dtype.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/base/index.h"
#include "sonde/engine/io/hdf5.h"

namespace sonde::stem {

/// Values and data sets of one dimension in a group of an HDF5 file. What is missing, of another type or length, or
/// impossible is Error(bad_file) "FILE: damaged: FACT"; nothing is allocated for a size that the file cannot hold.
class StoredGroup {
 public:
  /// `group` is absolute ("/bragg"). Borrows the file.
  StoredGroup(const Hdf5File& file, std::string group) : file_(&file), group_(std::move(group)) {}

  [[nodiscard]] const std::string& path() const { return file_->path(); }
  /// Error(bad_file) "FILE: damaged: FACT".
  [[nodiscard]] Error wrong(const std::string& fact) const;
  [[nodiscard]] bool has(const std::string& name) const { return file_->is_dataset(object(name)); }
  [[nodiscard]] std::optional<Hdf5Value> attribute(const std::string& name) const {
    return file_->attribute(group_, name);
  }
  /// A finite attribute; nothing when it is absent.
  [[nodiscard]] std::optional<double> number(const std::string& name) const;
  /// An attribute of `count` finite numbers; nothing when it is absent or something else.
  [[nodiscard]] std::optional<std::vector<double>> numbers(const std::string& name, std::size_t count) const;
  /// An attribute of two whole numbers from 1 to `most`: rows and columns.
  [[nodiscard]] std::pair<Index, Index> extents(const std::string& name, Index most) const;

  /// A data set (count) of T, which must be its stored type.
  template <class T>
  [[nodiscard]] std::vector<T> elements(const std::string& name, Index count) const {
    const Hdf5Dataset stored = dataset(name, dtype_of<T>, count);
    std::vector<T> made(static_cast<std::size_t>(count));
    stored.read_into({0}, {count}, std::as_writable_bytes(std::span(made)));
    return made;
  }
  /// A data set (count) of this stored type, for reading parts of it.
  [[nodiscard]] Hdf5Dataset dataset(const std::string& name, DType dtype, Index count) const;
  /// The data set "offsets" u64 (lists + 1): list i has the entries [offsets[i], offsets[i + 1]) of others.
  [[nodiscard]] std::vector<std::uint64_t> offsets(Index lists) const;

 private:
  [[nodiscard]] std::string object(const std::string& name) const { return group_ + "/" + name; }

  const Hdf5File* file_;
  std::string group_;
};

}  // namespace sonde::stem
