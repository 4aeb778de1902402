// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/array/dtype.h"
#include "sonde/engine/array/shape.h"
#include "sonde/engine/base/index.h"

// Reading HDF5 by a reader of our own (engine/io/hdf5): no library, no lock, and no file of any content crashes it,
// runs for ever or takes memory for sizes that it only declares: what contradicts itself is Error(bad_file, "FILE:
// damaged: ..."). All of it is thread-safe; boxes of chunked data sets are decoded on all cores.

namespace sonde {

class ChunkIndex;
struct ChunkEntry;

namespace hdf5 {
class Dataset;
class OpenFile;
}  // namespace hdf5

/// A small value of a file: an attribute or a small data set. Integers keep their sign, enumerations (so also h5py's
/// booleans) count as their integers.
struct Hdf5Value {
  using Scalar = std::variant<std::int64_t, std::uint64_t, double, std::string>;

  Shape shape;  ///< rank 0: a scalar
  std::vector<Scalar> elements;

  /// The only element as a number; nothing when there are several, none, or a text.
  [[nodiscard]] std::optional<double> number() const;
  /// The only element as an integer; nothing for texts, fractions and values beyond 63 bits.
  [[nodiscard]] std::optional<std::int64_t> integer() const;
  /// The only element when it is a text.
  [[nodiscard]] std::optional<std::string> text() const;
  /// For people and for metadata: "300000", "bslz4", "[1, 2, 3]"; numbers read back to the same value.
  [[nodiscard]] std::string printed() const;
};

/// One name in a group, not followed.
struct Hdf5Link {
  enum class Kind { hard, soft, external };
  std::string name;
  Kind kind = Kind::hard;
  std::string file;    ///< external: the file named by the link, as written there
  std::string object;  ///< soft and external: the object named by the link
};

/// A filter of a chunked data set as the file declares it.
struct Hdf5Filter {
  int id = 0;
  std::string name;
  bool optional = false;
  std::vector<unsigned> client_data;
};

/// A part of a virtual data set and where its elements come from.
struct Hdf5VirtualPart {
  std::string file, object;          ///< "." means the file of the virtual data set itself
  Shape first, count;                ///< box in the virtual data set that the selection spans
  Shape source_first, source_count;  ///< box in the source
};

/// What a data set is, before any element is read.
struct Hdf5DatasetInfo {
  enum class Layout { compact, contiguous, chunked, virtual_parts };
  Shape shape;
  std::optional<DType> dtype;     ///< what read() makes of it; empty for texts, opaque bytes, records
  bool plain = false;             ///< stored as dtype, up to the order of bytes
  std::size_t element_bytes = 0;  ///< as stored
  bool big_endian = false;
  std::string type_text;  ///< "u16", "u32 big endian", "text", "opaque, 3 bytes", ...
  Layout layout = Layout::contiguous;
  Shape chunk;  ///< rank 0 unless chunked
  std::vector<Hdf5Filter> filters;
  std::vector<std::byte> fill;               ///< one element in native byte order; empty without dtype
  std::optional<std::uint64_t> data_offset;  ///< contiguous: byte offset in the file, once allocated
  bool whole_edges = true;  ///< false: chunks that reach beyond the shape did not go through the filters
};

/// A data set whose elements are lists of records of numbers, in C order: element i has the records [first[i],
/// first[i + 1]).
struct Hdf5RecordLists {
  Shape shape;
  std::vector<std::string> fields;
  std::vector<std::uint64_t> first;
  std::vector<double> values;  ///< (record, field)
};

/// An open data set, which keeps its file open.
class Hdf5Dataset {
 public:
  [[nodiscard]] const Hdf5DatasetInfo& info() const { return info_; }
  [[nodiscard]] const std::string& file_path() const { return file_path_; }  ///< the file that holds the elements
  [[nodiscard]] const std::string& path() const { return path_; }

  /// All elements, or the box of `count` elements from `first`, as a host array of the data set's type in native byte
  /// order. Filters are undone here: Error(not_supported) naming a filter that is not known.
  [[nodiscard]] Array read() const;
  [[nodiscard]] Array read(const Shape& first, const Shape& count) const;
  /// The same, into count.count() elements of memory.
  void read_into(const Shape& first, const Shape& count, std::span<std::byte> elements) const;

  /// A small value of any readable type, texts included. Throws Error(bad_input) above 65536 elements.
  [[nodiscard]] Hdf5Value value() const;
  /// Every element as raw bytes in stored order, also for opaque types.
  [[nodiscard]] std::vector<std::byte> raw_elements() const;

  /// The lists of a data set of records of variable length; nothing for other types.
  [[nodiscard]] std::optional<Hdf5RecordLists> record_lists() const;

  /// Stored bytes of the chunk whose first element is `offset`; 0 when it was never written.
  [[nodiscard]] std::uint64_t chunk_bytes(const Shape& offset) const;
  /// Copies the stored (still compressed) bytes of that chunk, whose size is chunk_bytes(offset), and returns its
  /// filter mask.
  std::uint32_t read_chunk(const Shape& offset, std::span<std::byte> bytes) const;

  [[nodiscard]] std::optional<Hdf5Value> attribute(const std::string& name) const;
  /// The parts of a virtual data set, as boxes. Throws Error(not_supported) for parts without limits.
  [[nodiscard]] std::vector<Hdf5VirtualPart> virtual_parts() const;
  /// Throws Error(bad_file) when a virtual data set has a source that is absent or that leads back to it.
  void require_sources() const;
  /// Bytes of the files that a virtual data set names, each once.
  [[nodiscard]] std::uint64_t source_bytes() const;

  /// Lets go of the file; info() and the names stay, nothing can be read any more. A scan may have a thousand files.
  void close() noexcept { opened_.reset(); }

 private:
  friend class Hdf5File;
  friend ChunkIndex read_chunk_index(const Hdf5Dataset& dataset);
  [[nodiscard]] const hdf5::Dataset& opened() const;
  [[nodiscard]] ChunkEntry chunk_at(const Shape& offset) const;

  std::shared_ptr<const hdf5::Dataset> opened_;
  std::string file_path_, path_;
  Hdf5DatasetInfo info_;
};

/// A file opened for reading only. What leads out of it, to a file that is absent or no HDF5 file, is absent. Paths
/// inside are absolute ("/entry/data").
class Hdf5File {
 public:
  /// Throws Error(bad_file) when the file is missing, is no regular file, is not HDF5 or is cut off, Error(io) when it
  /// may not be read.
  static Hdf5File open(const std::string& path);

  [[nodiscard]] const std::string& path() const { return path_; }

  /// Whether the path leads to an object, links followed.
  [[nodiscard]] bool exists(const std::string& object) const;
  [[nodiscard]] bool is_group(const std::string& object) const;
  [[nodiscard]] bool is_dataset(const std::string& object) const;
  /// The names in a group in natural order, links not followed; empty when there is no such group.
  [[nodiscard]] std::vector<Hdf5Link> list(const std::string& group) const;
  [[nodiscard]] std::optional<Hdf5Link> link(const std::string& path) const;
  /// Absolute paths of all data sets reachable without leaving the file, each once, in natural order.
  [[nodiscard]] std::vector<std::string> datasets() const;

  /// Throws Error(bad_file) when there is no such data set.
  [[nodiscard]] Hdf5Dataset dataset(const std::string& path) const;
  /// The value of a small data set; nothing when it is absent, not readable as a value or larger than `most` elements.
  [[nodiscard]] std::optional<Hdf5Value> value(const std::string& path, Index most = 100) const;
  [[nodiscard]] std::optional<Hdf5Value> attribute(const std::string& object, const std::string& name) const;
  [[nodiscard]] std::map<std::string, Hdf5Value> attributes(const std::string& object) const;
  /// The data sets that a data set names as the scales of its dimensions (NetCDF-4 keeps the names of dimensions so),
  /// the first of each; empty for a dimension without one. No list at all when there is none in the file.
  [[nodiscard]] std::vector<std::string> dimension_scales(const std::string& dataset) const;

  /// Every small value of the file: "/entry/title" for data sets, "/entry@NX_class" for attributes. Values of more than
  /// `most` elements are left out; links are not followed, an object with several names appears once.
  [[nodiscard]] std::map<std::string, Hdf5Value> small_values(Index most = 100) const;

 private:
  std::string path_;
  std::shared_ptr<const hdf5::OpenFile> opened_;
};

}  // namespace sonde
