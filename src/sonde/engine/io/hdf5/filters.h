// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sonde/engine/io/hdf5.h"

namespace sonde::hdf5 {

/// What one worker needs between chunks. It grows to the largest chunk seen. One thread at a time.
class FilterScratch {
 public:
  FilterScratch();
  FilterScratch(FilterScratch&&) noexcept;
  FilterScratch& operator=(FilterScratch&&) noexcept;
  ~FilterScratch();

  struct State;
  [[nodiscard]] State& state() { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

/// The filters of a data set, undone here and not by a library: deflate, shuffle, fletcher32 (verified), nbit,
/// scaleoffset, LZF, bitshuffle, Blosc, LZ4, zstd. Thread-safe.
class Pipeline {
 public:
  /// File and data set are named in messages.
  Pipeline(std::string file, std::string object, std::vector<Hdf5Filter> filters, std::size_t element_bytes,
           std::size_t chunk_bytes);

  [[nodiscard]] std::size_t chunk_bytes() const { return chunk_bytes_; }
  /// Throws Error(not_supported) naming the first filter that cannot be undone, unless its bit is in the mask.
  void require_known(std::uint32_t filter_mask = 0) const;
  /// Whether so many stored bytes can be a chunk of this size at all; what cannot be is not worth memory.
  [[nodiscard]] bool could_hold(std::uint64_t stored_bytes, std::uint32_t filter_mask) const;
  /// From the stored bytes of one chunk to its elements as they were stored, `chunk_bytes()` of them. Filters whose bit
  /// is set in the mask were not applied. Throws Error(bad_file) for bytes that are not such a chunk; never writes
  /// outside of `chunk`.
  void decode(std::span<const std::byte> stored, std::uint32_t filter_mask, FilterScratch& scratch,
              std::span<std::byte> chunk) const;

 private:
  void run(std::span<const std::byte> stored, std::uint32_t filter_mask, FilterScratch& scratch,
           std::span<std::byte> chunk) const;

  std::string file_, object_;
  std::vector<Hdf5Filter> filters_;
  std::size_t element_bytes_, chunk_bytes_;
};

/// Filters that pack integers and floats into fewer bits (scale_offset.cpp, nbit.cpp); each returns how many bytes it
/// made at the beginning of `to`.
std::size_t undo_scale_offset(const std::vector<unsigned>& settings, std::span<const std::byte> from,
                              std::span<std::byte> to);
std::size_t undo_nbit(const std::vector<unsigned>& settings, std::span<const std::byte> from, std::span<std::byte> to);
/// LZF as h5py has it; returns how many bytes it made. A Fault for broken bytes.
[[nodiscard]] std::size_t undo_lzf(std::span<const std::byte> from, std::span<std::byte> to);

}  // namespace sonde::hdf5
