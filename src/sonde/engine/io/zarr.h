// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sonde/engine/array/dtype.h"
#include "sonde/engine/array/shape.h"
#include "sonde/engine/io/chunked_frames.h"

namespace sonde {

/// How the chunks of a Zarr array are compressed (the formats of numcodecs).
enum class ZarrCodec { none, zlib, lz4, zstd, blosc };

/// What `.zarray` says: Zarr v2, C order, no filters.
struct ZarrMetadata {
  Shape shape, chunks;  ///< of equal rank, 1 to 8
  DType dtype = DType::u8;
  bool big_endian = false;
  ZarrCodec codec = ZarrCodec::none;
  std::array<std::byte, 16> fill{};  ///< one element of absent chunks, native byte order
  char separator = '.';              ///< between the numbers of a chunk's name

  [[nodiscard]] std::size_t chunk_bytes() const;  ///< decoded; below 2 GiB
};

/// Reads the JSON text of a `.zarray`; `name` stands in messages. Throws Error(bad_file) naming the key, and
/// Error(not_supported) for Fortran order, filters, other codecs, other versions and structured elements.
[[nodiscard]] ZarrMetadata parse_zarr_metadata(std::string_view json, const std::string& name);

/// The members of a `.zattrs` text that are texts, numbers or truth values, as text. Throws Error(bad_file).
[[nodiscard]] std::map<std::string, std::string> parse_zarr_attributes(std::string_view json, const std::string& name);

/// Decompresses one chunk into exactly `elements`, native byte order. Throws Error(bad_file).
void decode_zarr_chunk(const ZarrMetadata& metadata, std::span<const std::byte> stored, std::span<std::byte> elements,
                       const std::string& name);

/// A Zarr v2 array in a folder, seen as frames: the last two dimensions are a frame, those before are counted in C
/// order. A chunk that has no file holds the fill value everywhere. Thread-safe.
class ZarrArray {
 public:
  /// Reads the metadata. Throws like parse_zarr_metadata and File, and when `folder` is a group or Zarr v3; needs at
  /// least two dimensions.
  explicit ZarrArray(const std::string& folder);

  [[nodiscard]] const std::string& folder() const { return folder_; }
  [[nodiscard]] const ZarrMetadata& metadata() const { return metadata_; }
  [[nodiscard]] Index frames() const { return frames_.frames(); }

  /// As of ChunkedFrames.
  [[nodiscard]] std::size_t useful_cache_bytes() const { return frames_.useful_cache_bytes(); }
  void set_cache_bytes(std::size_t bytes) const { frames_.set_cache_bytes(bytes); }

  /// Frames [first, last), dense, native byte order; reads and decodes the chunks on all workers of parallel_for.
  /// Throws Error(bad_file) naming the chunk's file.
  void read_frames(Index first, Index last, std::span<std::byte> elements) const;

 private:
  [[nodiscard]] std::string chunk_path(Index chunk) const;

  std::string folder_;
  ZarrMetadata metadata_;
  ChunkedFrames frames_;
};

/// The arrays below a folder, as relative paths with '/', sorted; "" when the folder is an array itself. Does not
/// follow links.
[[nodiscard]] std::vector<std::string> find_zarr_arrays(const std::string& folder);

/// Scalar values of the `.zattrs` of an array or group, as text; empty when there is none.
[[nodiscard]] std::map<std::string, std::string> read_zarr_attributes(const std::string& folder);

}  // namespace sonde
