// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/io/hdf5.h"
#include "sonde/engine/io/hdf5_handle.h"

namespace sonde {

/// A data set to be filled box by box or chunk by chunk.
struct Hdf5Declaration {
  Shape shape;
  DType dtype = DType::u16;
  Shape chunk;                      ///< rank 0: contiguous
  std::vector<Hdf5Filter> filters;  ///< chunked only; see Hdf5Writer::write_chunk
  std::vector<std::byte> fill;      ///< one element in native byte order; empty: zero
};

/// Writes a new HDF5 file that appears under its name only when finish() has succeeded (see AtomicFile). Groups on the
/// way to an object are made as needed. Files have the oldest layout that holds them (superblock 0, version-1 trees),
/// which every reader knows. Every failed call throws Error(io) naming the file, for instance on a full disk. Calls
/// take the same lock as reading; one thread at a time per writer.
class Hdf5Writer {
 public:
  explicit Hdf5Writer(std::string path, const OutputRole& role = {});
  Hdf5Writer(Hdf5Writer&&) = default;
  ~Hdf5Writer();

  [[nodiscard]] const std::string& path() const { return file_.path(); }

  void group(const std::string& path);
  /// `object` is "/" or something written before.
  void attribute(const std::string& object, const std::string& name, const Hdf5Value::Scalar& value);
  void attribute(const std::string& object, const std::string& name, const Array& values);
  void attribute(const std::string& object, const std::string& name, const std::vector<double>& values);
  /// A text of variable length: h5py hands it out as str, where it hands out those of attribute() as bytes.
  void text_attribute(const std::string& object, const std::string& name, const std::string& text);
  /// A scalar data set: i64, u64, f64 or a text.
  void value(const std::string& path, const Hdf5Value::Scalar& value);
  /// A data set of one line of texts.
  void texts(const std::string& path, const std::vector<std::string>& lines);
  /// A scalar data set of one text of variable length, as NetCDF-4 stores texts.
  void text(const std::string& path, const std::string& text);
  /// A data set whose elements are lists of records with these fields, all f64.
  void record_lists(const std::string& path, const Hdf5RecordLists& lists);
  /// A data set of one dimension whose elements are lists of u32: element i is values[first[i]] to values[first[i + 1]
  /// - 1].
  void integer_lists(const std::string& path, std::span<const std::uint64_t> first,
                     std::span<const std::uint32_t> values);
  /// A contiguous, uncompressed data set of the array's shape and type. The array must be contiguous and on the host.
  void array(const std::string& path, const Array& elements);
  /// What the axes of an array are (DIMENSION_LABELS, as the library's H5DSset_label writes them) and the unit of its
  /// values (the attribute `units`; empty: none), for those who show the file.
  void describe(const std::string& path, const std::vector<std::string>& axes, const std::string& unit = "");
  void soft_link(const std::string& path, const std::string& target);
  void external_link(const std::string& path, const std::string& file, const std::string& object);

  /// Gives every dimension of the named data sets its scale (a data set of one dimension), as NetCDF-4 names
  /// dimensions; all of them were written before. At most once per file.
  void dimension_scales(const std::map<std::string, std::vector<std::string>>& scales_of);

  void declare(const std::string& path, const Hdf5Declaration& declaration);
  /// Writes the box of values.shape() elements from `first` of a declared data set without filters.
  void write_box(const std::string& path, const Shape& first, const Array& values);
  /// The same for count.count() elements of memory, contiguous and of the declared type.
  void write_box(const std::string& path, const Shape& first, const Shape& count, DType dtype, const void* elements);
  /// Stores the bytes of one whole chunk as they are: they have already been through the filters (those whose bit is
  /// set in `filter_mask` left out). No filter of the library runs, so none has to be installed.
  void write_chunk(const std::string& path, const Shape& first, std::span<const std::byte> bytes,
                   std::uint32_t filter_mask = 0);

  /// Completes and closes the file without giving it its name yet: for files that appear together with others.
  void close(Durability durability = Durability::handed_over);
  /// Completes the file and gives it its name.
  void finish(Durability durability = Durability::handed_over);
  /// The same for a file that ends in `tail`, made of the bytes of the complete file at the path it is given. Readers
  /// of HDF5 do not see a tail.
  void finish_with(const std::function<std::string(const std::string& path)>& tail, Durability durability);

 private:
  void close_library();
  std::int64_t declared(const std::string& path) const;
  void write_lists(const std::string& path, const Hdf5Handle& base, const Shape& shape, const void* elements);
  void write_texts(const std::string& path, const Shape& shape, const char* const* texts);

  AtomicFile file_;
  Hdf5Handle handle_;
  std::map<std::string, Hdf5Handle> declared_;
};

}  // namespace sonde
