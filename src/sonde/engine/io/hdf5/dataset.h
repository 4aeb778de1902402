// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "sonde/engine/io/chunk_index.h"
#include "sonde/engine/io/hdf5/boxes.h"
#include "sonde/engine/io/hdf5/filters.h"
#include "sonde/engine/io/hdf5/layout.h"
#include "sonde/engine/io/hdf5/object.h"
#include "sonde/engine/io/hdf5/selection.h"

namespace sonde::hdf5 {

/// A part of a virtual data set: equal numbers of positions here and in the source, in the same order.
struct VirtualPart {
  std::string file, object;  ///< "." means the file of the virtual data set itself
  Selection here, source;
};

/// An open data set. Thread-safe; its index of chunks and its list of parts are read when they are first needed.
class Dataset : public std::enable_shared_from_this<Dataset> {
 public:
  Dataset(Object object, std::string path);

  [[nodiscard]] const OpenFile& file() const { return *object_.file; }
  [[nodiscard]] const ObjectHeader& header() const { return *object_.header; }
  [[nodiscard]] const Description& description() const { return data_; }
  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  /// "FILE, /data": begins messages of what is wrong with the elements.
  [[nodiscard]] const std::string& name() const { return name_; }

  [[nodiscard]] const ChunkIndex& chunks() const;
  [[nodiscard]] const std::vector<VirtualPart>& parts() const;

  /// The elements of a box as they are stored, in C order. Chunks are decoded in parallel.
  void read_stored(const Box& box, std::span<std::byte> to) const;
  /// The same as elements of type().dtype() in native byte order.
  void read_native(const Box& box, std::span<std::byte> to) const;
  /// All of them.
  [[nodiscard]] Bytes read_all() const;
  /// The elements of a small data set; nothing for types without a value and above `most` elements.
  [[nodiscard]] std::optional<Hdf5Value> value(Index most) const;
  /// Throws Error(bad_file) when a virtual data set has a source that is absent or leads back to it.
  void require_sources() const;
  /// Bytes of a decoded chunk; 0 when it is not chunked.
  [[nodiscard]] std::uint64_t chunk_bytes() const;
  /// One stored element: the fill value.
  [[nodiscard]] Bytes fill() const;

 private:
  /// Virtual data sets on the way to this one: a source that is among them would have no end.
  struct Visit {
    const Dataset* dataset;
    const Visit* before;
    struct Work {
      std::uint64_t reads = 0, bytes = 0;  ///< of parts, so far
      std::uint64_t most_bytes = 0;
    };
    Work* work;
  };

  void read(const Box& box, std::span<std::byte> to, const Visit* before) const;
  void read_contiguous(const Box& box, std::span<std::byte> to) const;
  void read_chunks(const Box& box, std::span<std::byte> to) const;
  void read_parts(const Box& box, std::span<std::byte> to, const Visit* before) const;
  void read_part(const VirtualPart& part, const Box& box, std::span<std::byte> to, const Visit& visit) const;
  void read_source(const Dataset& source, const Box& box, std::span<std::byte> to, const Visit& visit) const;
  [[nodiscard]] std::shared_ptr<const Dataset> source_of(const VirtualPart& part) const;
  void refuse_circles(const Visit& visit) const;
  void require_sources(const Visit* before, std::set<std::pair<FileIdentity, std::uint64_t>>& sound) const;

  Object object_;
  std::string path_, name_;
  Description data_;
  Shape shape_;
  mutable std::mutex mutex_;
  mutable std::unique_ptr<const ChunkIndex> chunks_;
  mutable std::unique_ptr<const std::vector<VirtualPart>> parts_;
  mutable std::map<std::pair<std::string, std::string>, std::shared_ptr<const Dataset>> sources_;
};

/// What the public face of a data set says of it.
[[nodiscard]] Hdf5DatasetInfo describe(const Dataset& dataset);

}  // namespace sonde::hdf5
