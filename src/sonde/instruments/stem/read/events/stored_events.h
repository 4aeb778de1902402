// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/engine/io/hdf5.h"

namespace sonde::stem {

/// The schema of files whose groups "events" hold lists of electrons.
inline constexpr const char* event_schema = "sonde.stem.events/1";

/// The electrons of a scan as a file keeps them: for each position p = scan row * scan_cols + scan column a list of
/// pixels, row * cols + col, one for each electron. A file may hold anything: what opens one checks sizes and offsets,
/// the pixels are checked by whoever reads them.
class StoredEvents {
 public:
  virtual ~StoredEvents() = default;

  std::string path, format;
  std::string scan_because;  ///< where the file says the shape of the scan
  Index scan_rows = 0, scan_cols = 0;
  Index rows = 0, cols = 0;
  std::vector<std::uint64_t> offsets;           ///< (positions + 1): where the electrons of each position are
  std::vector<std::uint32_t> frames;            ///< (position): how many frames they come from; 0 where there is none
  std::string parameters = "{}";                ///< how they were found, JSON
  std::map<std::string, std::string> metadata;  ///< small values of the file by their paths

  [[nodiscard]] Index positions() const { return scan_rows * scan_cols; }
  /// The electrons of positions [first, last): offsets[last] - offsets[first] pixels. One thread at a time.
  virtual void read(Index first, Index last, std::span<std::uint32_t> pixels) const = 0;
};

/// Whether a file says that it holds events: one of ours (event_schema), or one of stempy.
[[nodiscard]] bool holds_events(const Hdf5File& file);
/// Those of such a file. Throws Error(bad_file) "FILE: damaged: FACT" where sizes, offsets and frames contradict each
/// other, Error(not_supported) for a version of stempy's files that is not known.
///
/// stempy's files, versions 1 to 3 (python/stempy/io/sparse_array.py of stempy): electron_events/frames are lists of
/// pixels, row * columns + column of frames with attributes Nx rows and Ny columns; electron_events/scan_positions has
/// attributes Nx columns and Ny rows of the scan. Where it has as many entries as there are frames they say the
/// position of each; else every position has equally many frames, one after another.
[[nodiscard]] std::unique_ptr<StoredEvents> open_stored_events(const Hdf5File& file);

}  // namespace sonde::stem
